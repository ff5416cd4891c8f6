import Crypto
import PeerCore
import PeerDiscovery
import PeerWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The host's signature on a removal, so that any member can pass the removal on (MEM-11).
struct KickSignature: ControlObject {
  /// The DER SubjectPublicKeyInfo of the signer.
  var key: [UInt8] = []
  /// The ECDSA signature on P-256 with SHA-256, in DER.
  var bytes: [UInt8] = []

  init() {}

  init(by identity: PeerIdentity, session: SessionID, peer: PeerID, reason: UntrustedText) {
    key = identity.publicKeyDER
    bytes = identity.sign(Self.signedBytes(session: session, signer: identity.peerID, peer: peer, reason: reason))
  }

  func isValid(session: SessionID, host: PeerID, peer: PeerID, reason: UntrustedText) -> Bool {
    let signed = Self.signedBytes(session: session, signer: host, peer: peer, reason: reason)
    return host.hasSigned(signed, bytes, key: key)
  }

  static func signedBytes(session: SessionID, signer: PeerID, peer: PeerID, reason: UntrustedText) -> [UInt8] {
    var bytes = Array("whiteboard-p2p kick 1\0".utf8)
    bytes += session.bytes
    bytes += signer.bytes
    bytes += peer.bytes
    bytes += Array(reason.raw.utf8)
    return bytes
  }
}

extension KickSignature {
  mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
    try fields.required("key", &key, .key)
    try fields.required("signature", &bytes, .signature)
  }
}

/// The ids of sessions that name their host (MEM-14). Such an id is computed from the host's key, so that every peer
/// can check who the host is without trusting the peer that names the host.
extension SessionID {
  /// The last bytes of an id that names its host.
  private static let mark: [UInt8] = [0x68, 0x6F]
  /// The first bytes of the ids of owned boards, whose owner is their host (AUT-9).
  private static let ownedPrefix: [UInt8] = [0x6F, 0x77]
  /// The number of random bytes at the beginning of an id that names its host.
  private static let saltBytes = 4

  /// Returns a random id for a session that `host` creates; the id names the host (MEM-14).
  public static func random(hostedBy host: PeerID) -> SessionID {
    while true {
      let id = SessionID.named(for: host, salt: Array(random().bytes.prefix(saltBytes)))
      if !id.isOfOwnedBoard { return id }
    }
  }

  /// `salt` has four bytes.
  static func named(for host: PeerID, salt: [UInt8]) -> SessionID {
    let text = Array("whiteboard-p2p host 1\0".utf8)
    let hash = Array(SHA256.hash(data: text + salt + host.bytes))
    let rest = byteCount - salt.count - mark.count
    guard let id = SessionID(bytes: salt + hash.prefix(rest) + mark) else {
      preconditionFailure("a session id has 16 bytes")
    }
    return id
  }

  /// Whether the id names a host.
  ///
  /// An id from an earlier release names no host.
  public var namesHost: Bool { bytes.suffix(Self.mark.count).elementsEqual(Self.mark) && !isOfOwnedBoard }

  /// Returns whether the id names this peer as the host.
  public func names(_ peer: PeerID) -> Bool {
    namesHost && self == .named(for: peer, salt: Array(bytes.prefix(Self.saltBytes)))
  }

  /// Returns whether the id allows this peer to be the host.
  ///
  /// An id that names no host allows every peer.
  public func mayBeHosted(by peer: PeerID) -> Bool { !namesHost || names(peer) }

  /// Whether the session is an owned board. The application knows the owner, and confirms it as the host (MEM-15).
  package var isOfOwnedBoard: Bool { bytes.starts(with: Self.ownedPrefix) }
}

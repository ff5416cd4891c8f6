import Crypto
import CryptoExtras
import PeerCore
import PeerWire

/// The key that makes and checks proofs of a code. The key is the code, stretched for one session and one listener
/// (4.2).
struct CodeKey: Sendable, Equatable {
  /// The side that makes a proof. The proof includes the side, so that neither side can return the other's proof as its
  /// own.
  enum Prover: String, Sendable {
    case joiner
    case host
  }

  let session: SessionID
  let listener: PeerID

  private let key: SymmetricKey

  /// Stretches a code. The computation is slow on purpose: it takes about 0.1 s of one core (0.5 s without
  /// optimization) and 32 MiB. Do not call this initializer on an event loop, and call it once for each code rather
  /// than for each attempt (ADM-5).
  init(code: JoinCode, session: SessionID, listener: PeerID) {
    do {
      key = try KDF.Scrypt.deriveKey(
        from: Array(code.text.utf8),
        salt: session.bytes + listener.bytes,
        outputByteCount: 32,
        rounds: 32_768,
        blockSize: 8,
        parallelism: 1
      )
    } catch {
      // scrypt fails only for invalid parameters, or if memory is exhausted.
      preconditionFailure("scrypt with N = 32768, r = 8, p = 1 needs 32 MiB")
    }
    self.session = session
    self.listener = listener
  }

  /// Creates the key of a browser link, which is used without scrypt (WEB-29).
  init(_ key: GuestKey, session: SessionID, listener: PeerID) {
    self.key = SymmetricKey(data: key.bytes.bytes)
    self.session = session
    self.listener = listener
  }

  /// Makes a proof that is valid only for one connection. `binding` is the connection's exported value for
  /// ``LinkExporter/Label/binding``.
  func proof(of prover: Prover, binding: [UInt8], dialler: PeerID) -> ProofBytes {
    let input = message(of: prover, binding: binding, dialler: dialler)
    guard let proof = ProofBytes(HMAC<SHA256>.authenticationCode(for: input, using: key)) else {
      preconditionFailure("the result of HMAC-SHA256 has 32 bytes")
    }
    return proof
  }

  func isValid(_ proof: ProofBytes, of prover: Prover, binding: [UInt8], dialler: PeerID) -> Bool {
    isEqualInConstantTime(proof.bytes, self.proof(of: prover, binding: binding, dialler: dialler).bytes)
  }

  func message(of prover: Prover, binding: [UInt8], dialler: PeerID) -> [UInt8] {
    Array("whiteboard-p2p code 1 \(prover.rawValue)\0".utf8) + binding + session.bytes + dialler.bytes + listener.bytes
  }

  var bytes: [UInt8] { key.withUnsafeBytes { Array($0) } }
}

func isEqualInConstantTime(_ left: [UInt8], _ right: [UInt8]) -> Bool {
  guard left.count == right.count else { return false }
  var difference: UInt8 = 0
  for (one, other) in zip(left, right) { difference |= one ^ other }
  return difference == 0
}

extension Control {
  /// The gateway's first frame on a web link (WEB-3).
  struct WebChallenge: ControlPayload {
    static let frameType = FrameType.webChallenge

    var peer = PeerID.none
    var nonce = ProofBytes.none

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("peer", &peer, .id)
      try fields.required("nonce", &nonce, .proof)
    }
  }

  /// The browser's answer, which proves its key (WEB-3).
  struct WebProof: ControlPayload {
    static let frameType = FrameType.webProof

    /// The browser's public key as a DER SubjectPublicKeyInfo.
    var key: [UInt8] = []
    var nonce = ProofBytes.none
    /// *r* and *s*, 32 bytes each.
    var signature: [UInt8] = []

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("key", &key, .base64(maximum: 128))
      try fields.required("nonce", &nonce, .proof)
      try fields.required("signature", &signature, .base64(maximum: 64))
    }
  }
}

/// The gateway's part of the exchange that checks the proof of a browser (WEB-3, WEB-4).
struct WebExchange {
  let gateway: PeerID
  let gatewayNonce: ProofBytes
  /// The origin of the page, such as `https://192.168.1.5:26443`.
  let origin: String

  func check(_ proof: Control.WebProof) -> (guest: PeerID, exporter: LinkExporter)? {
    guard let key = try? P256.Signing.PublicKey(derRepresentation: proof.key),
      let signature = try? P256.Signing.ECDSASignature(rawRepresentation: proof.signature)
    else { return nil }
    let guest = PeerID(publicKey: key)
    guard key.isValidSignature(signature, for: signedBytes(proof.nonce, guest)) else { return nil }
    return (guest, LinkExporter(web: exporterSecret(proof.nonce, guest)))
  }

  func signedBytes(_ nonce: ProofBytes, _ guest: PeerID) -> [UInt8] {
    Array("whiteboard-p2p web proof 1\0".utf8) + common(nonce, guest) + Array(origin.utf8)
  }

  func exporterSecret(_ nonce: ProofBytes, _ guest: PeerID) -> ProofBytes {
    let input = Array("whiteboard-p2p web exporter 1\0".utf8) + common(nonce, guest)
    guard let secret = ProofBytes(SHA256.hash(data: input)) else { preconditionFailure("a SHA-256 hash has 32 bytes") }
    return secret
  }

  private func common(_ nonce: ProofBytes, _ guest: PeerID) -> [UInt8] {
    gatewayNonce.bytes + nonce.bytes + gateway.bytes + guest.bytes
  }
}

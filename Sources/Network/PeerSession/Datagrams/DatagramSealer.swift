import Crypto
import PeerWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Seals the packets of one side of a link. Each side has only one sealer, because the sealer counts packets and
/// epochs.
struct DatagramSealer: Sendable {
  enum SealError: Error, Equatable, Sendable {
    /// The last epoch is used up: a new link is needed (DGM-1).
    case exhausted
    /// The message is longer than 65,536 bytes (DGM-6).
    case tooLong
    /// The cipher failed. The error occurs only for keys of the wrong size.
    case cipher
  }

  var epoch: UInt8 { current.number }
  private(set) var counter: UInt64 = 0

  private let keys: DatagramKeys
  private let packetsPerEpoch: UInt64
  private var current: DatagramKeys.Epoch
  private var nextMessage: UInt32 = 0

  init(secret: [UInt8], sender: DatagramSender, packetsPerEpoch: UInt64 = 1 << 32) {
    precondition(packetsPerEpoch >= 1 && packetsPerEpoch <= 1 << 32, "an epoch has 1 to 2^32 packets (DGM-1)")
    keys = DatagramKeys(secret: secret, sender: sender)
    self.packetsPerEpoch = packetsPerEpoch
    current = keys.epoch(0)
  }

  mutating func beginNextEpoch() throws(SealError) {
    guard current.number < .max else { throw .exhausted }
    current = keys.epoch(current.number + 1)
    counter = 0
  }

  /// Seals one packet into `packet`, and reuses its memory. After a ``SealError``, the content of `packet` is
  /// undefined, and the packet counter is unchanged.
  mutating func seal(_ content: DatagramContent, _ bytes: ArraySlice<UInt8>, into packet: inout [UInt8])
    throws(SealError)
  {
    if counter == packetsPerEpoch { try beginNextEpoch() }
    packet.removeAll(keepingCapacity: true)
    packet.reserveCapacity(PacketHeader.minimumPacket + DatagramContent.pieceHead + bytes.count)
    PacketHeader(epoch: current.number, keyID: keys.keyID, counter: counter).append(to: &packet)
    content.append(to: &packet)
    packet.append(contentsOf: bytes)
    guard packet.count + PacketHeader.tagLength <= Limits.packet else { throw .tooLong }
    let sealed: AES.GCM.SealedBox
    do {
      sealed = try AES.GCM.seal(
        packet[PacketHeader.length...],
        using: current.key,
        nonce: AES.GCM.Nonce(data: current.nonce(counter)),
        authenticating: packet[..<PacketHeader.length]
      )
    } catch { throw .cipher }
    // `combined` begins with the nonce, which a packet does not contain.
    guard let combined = sealed.combined else { throw .cipher }
    counter += 1
    packet.removeSubrange(PacketHeader.length...)
    combined.withUnsafeBytes { bytes in
      packet.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[current.nonceLength...]))
    }
  }

  mutating func seal(_ content: DatagramContent) throws(SealError) -> [UInt8] {
    var packet: [UInt8] = []
    try seal(content, [], into: &packet)
    return packet
  }

  /// Divides a message into packets and seals them, in the order in which they must be sent. `isRelays` states whether
  /// the message is between a member and a relay (11.5).
  mutating func seal(message: [UInt8], isRelays: Bool = false) throws(SealError) -> [[UInt8]] {
    let cut: DatagramCut
    do { cut = try DatagramCut(byteCount: message.count, id: nextMessage, isRelays: isRelays) } catch { throw .tooLong }
    if cut.count > 1 { nextMessage &+= 1 }
    var packets: [[UInt8]] = []
    packets.reserveCapacity(cut.count)
    for (content, range) in cut {
      var packet: [UInt8] = []
      try seal(content, message[range], into: &packet)
      packets.append(packet)
    }
    return packets
  }
}

enum DatagramSender: String, Sendable {
  case dialler = "d"
  case listener = "l"

  var other: DatagramSender { self == .dialler ? .listener : .dialler }
}

/// The packet keys for one direction of a control link (`Protocol/session.md`, 7.1). The keys are valid only while the
/// link is open (DGM-5). The type has no textual description, because that could reveal the keys.
struct DatagramKeys: Sendable {
  struct Epoch: Sendable {
    let number: UInt8
    let key: SymmetricKey
    private let iv: [UInt8]

    fileprivate init(number: UInt8, key: [UInt8], iv: [UInt8]) {
      precondition(key.count == 16 && iv.count == 12, "an epoch has a key of 16 bytes and an IV of 12 bytes")
      self.number = number
      self.key = SymmetricKey(data: key)
      self.iv = iv
    }

    var nonceLength: Int { iv.count }

    /// Returns the 12-byte nonce of a packet; no other packet of the epoch has the same nonce.
    func nonce(_ counter: UInt64) -> [UInt8] {
      var nonce = iv
      for index in 0..<8 { nonce[4 + index] ^= UInt8(truncatingIfNeeded: counter >> UInt64(56 - 8 * index)) }
      return nonce
    }
  }

  /// The identifier of the direction in a packet's header, most significant byte first.
  let keyID: UInt64

  private let secret: SymmetricKey
  private let sender: DatagramSender

  /// Derives the keys from the link's exported secret for datagrams, which must have 32 bytes (1.1).
  init(secret: [UInt8], sender: DatagramSender) {
    precondition(secret.count == 32, "the TLS exporter returns 32 bytes")
    self.secret = SymmetricKey(data: secret)
    self.sender = sender
    let id = HKDFLabel(label: "wb \(sender.rawValue) id", context: [0], length: 8).expand(self.secret, SHA256.self)
    keyID = id.reduce(0) { $0 << 8 | UInt64($1) }
  }

  func epoch(_ number: UInt8) -> Epoch {
    func expand(_ name: String, _ length: Int) -> [UInt8] {
      HKDFLabel(label: "wb \(sender.rawValue) \(name)", context: [number], length: length).expand(secret, SHA256.self)
    }
    return Epoch(number: number, key: expand("key", 16), iv: expand("iv", 12))
  }
}

import Crypto
import FoundationEssentials
import PeerWire

/// Seals the packets that one side of a link sends.
///
/// It counts packets and epochs, so each side of a link has exactly one sealer.
struct DatagramSealer: Sendable {
  enum SealError: Error, Equatable, Sendable {
    /// The last epoch is used up: a new link is needed (DGM-1).
    case exhausted
    /// The message is longer than 65,536 bytes (DGM-6).
    case tooLong
    /// The cipher failed. This happens only for keys of the wrong size.
    case cipher
  }

  var epoch: UInt8 { current.number }
  /// The number of the next packet within the epoch.
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

  /// Begins the next epoch before the current one is used up; throws `exhausted` after epoch 255.
  mutating func beginNextEpoch() throws(SealError) {
    guard current.number < .max else { throw .exhausted }
    current = keys.epoch(current.number + 1)
    counter = 0
  }

  /// Seals one packet into `packet`, whose memory is reused; if it throws ``SealError``, the content of `packet` is
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
    // The ciphertext and the tag, without the nonce.
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

  /// Divides a message into packets and seals them, in the order in which they must be sent.
  ///
  /// `isRelays` states whether the message is between a member and a relay (11.5).
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

import Crypto
import PeerWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct OpenedDatagram: Equatable, Sendable {
  var content: DatagramContent
  var bytes: [UInt8]
  /// Whether the packet is newer than all packets opened before. If so, its source becomes the address of the other end
  /// (DGM-4).
  var isNewest: Bool
}

/// Opens the packets that the other side of a link sends. Packets may arrive in any order, more than once, or forged. A
/// packet that cannot be opened does not change the state. The caller passes the time in milliseconds, which must never
/// decrease.
struct DatagramOpener: Sendable {
  /// How long the keys of an epoch are stored after the next epoch has begun, in milliseconds (DGM-1).
  static let timeout: UInt64 = 10_000

  enum OpenError: Error, Equatable, Sendable {
    case length
    case version
    case keyID
    case epoch
    /// The packet was changed or forged.
    case open
    /// The packet was seen before, or is older than the replay window (DGM-3).
    case replay
    case content(DatagramContent.DecodingError)
  }

  private struct Receiving: Sendable {
    var epoch: DatagramKeys.Epoch
    var window = ReplayWindow()
  }

  var keyID: UInt64 { keys.keyID }
  var epoch: UInt8 { current.epoch.number }

  private let keys: DatagramKeys
  private var current: Receiving
  private var previous: (receiving: Receiving, until: UInt64)?
  private var next: DatagramKeys.Epoch?

  init(secret: [UInt8], sender: DatagramSender) {
    keys = DatagramKeys(secret: secret, sender: sender)
    current = Receiving(epoch: keys.epoch(0))
  }

  /// Throws the first ``OpenError`` that applies, in the order of DGM-2.
  mutating func open(_ packet: [UInt8], now: UInt64) throws(OpenError) -> OpenedDatagram {
    let header: PacketHeader
    do { header = try PacketHeader.read(packet: packet.span) } catch .version { throw .version } catch { throw .length }
    guard header.keyID == keys.keyID else { throw .keyID }
    if let previous, now >= previous.until { self.previous = nil }

    let plaintext: Data
    let isNewest: Bool
    if header.epoch == current.epoch.number {
      plaintext = try Self.open(packet, header, current.epoch)
      isNewest = current.window.greatest.map { header.counter > $0 } ?? true
      guard current.window.take(header.counter) else { throw .replay }
    } else if current.epoch.number < .max, header.epoch == current.epoch.number + 1 {
      let epoch = next ?? keys.epoch(header.epoch)
      next = epoch
      plaintext = try Self.open(packet, header, epoch)
      isNewest = true
      previous = (current, now + Self.timeout)
      current = Receiving(epoch: epoch)
      _ = current.window.take(header.counter)
      next = nil
    } else if let receiving = previous?.receiving, header.epoch == receiving.epoch.number {
      plaintext = try Self.open(packet, header, receiving.epoch)
      isNewest = false
      guard previous?.receiving.window.take(header.counter) == true else { throw .replay }
    } else {
      throw .epoch
    }
    return try Self.read(plaintext, isNewest: isNewest)
  }

  private static func open(_ packet: [UInt8], _ header: PacketHeader, _ epoch: DatagramKeys.Epoch) throws(OpenError)
    -> Data
  {
    // The cipher expects the nonce, the sealed bytes and the tag in one array.
    var combined = epoch.nonce(header.counter)
    combined.reserveCapacity(packet.count)
    combined.append(contentsOf: packet[PacketHeader.length...])
    do {
      return try AES.GCM.open(
        AES.GCM.SealedBox(combined: combined),
        using: epoch.key,
        authenticating: packet[..<PacketHeader.length]
      )
    } catch { throw .open }
  }

  private static func read(_ plaintext: Data, isNewest: Bool) throws(OpenError) -> OpenedDatagram {
    var offset = 0
    do {
      let content = try DatagramContent.read(from: plaintext.span, at: &offset)
      return OpenedDatagram(content: content, bytes: Array(plaintext.dropFirst(offset)), isNewest: isNewest)
    } catch { throw .content(error) }
  }
}

import Crypto
import FoundationEssentials
import PeerWire

/// A packet that opened and was not seen before.
struct OpenedDatagram: Equatable, Sendable {
  /// The content of the packet.
  var content: DatagramContent
  /// The bytes of the message or piece.
  var bytes: [UInt8]
  /// Whether it is later than all before it: only then does its source become the address of the
  /// other end (DGM-4).
  var isNewest: Bool
}

/// Opens the packets that the other side of a link sends.
///
/// Packets come in any order, doubled, or forged; whatever does not open changes nothing. Time is
/// what the caller measures in milliseconds, never going back.
struct DatagramOpener: Sendable {
  /// How long the keys of an epoch are kept after the next one began, in milliseconds (DGM-1).
  static let patience: UInt64 = 10_000

  /// The reason why a packet is dropped silently (DGM-2).
  enum OpenError: Error, Equatable, Sendable {
    /// Too short or too long to be a packet.
    case length
    /// Another version.
    case version
    /// The keys of another link or direction.
    case keyID
    /// Neither the epoch in use, nor the next, nor the one before while that is kept.
    case epoch
    /// Changed on the way, or forged.
    case open
    /// Seen before, or too old to tell (DGM-3).
    case replay
    /// It opened, but holds nothing that is known.
    case content(DatagramContent.DecodingError)
  }

  private struct Receiving: Sendable {
    var epoch: DatagramKeys.Epoch
    var window = ReplayWindow()
  }

  /// The identifier of this direction in a packet's header.
  var keyID: UInt64 { keys.keyID }
  /// The greatest epoch under which a packet opened.
  var epoch: UInt8 { current.epoch.number }

  private let keys: DatagramKeys
  private var current: Receiving
  private var previous: (receiving: Receiving, until: UInt64)?
  /// The next epoch's keys, derived when a packet first asks for them.
  private var next: DatagramKeys.Epoch?

  /// Makes the opener of a new link.
  ///
  /// - Parameters:
  ///   - secret: The exporter's 32 bytes for datagrams.
  ///   - sender: Which side the other end is.
  init(secret: [UInt8], sender: DatagramSender) {
    keys = DatagramKeys(secret: secret, sender: sender)
    current = Receiving(epoch: keys.epoch(0))
  }

  /// Opens a whole UDP payload.
  ///
  /// - Throws: ``OpenError``, the first that applies in the order of DGM-2.
  mutating func open(_ packet: [UInt8], now: UInt64) throws(OpenError) -> OpenedDatagram {
    let header: PacketHeader
    do {
      header = try PacketHeader.read(packet: packet.span)
    } catch .version {
      throw .version
    } catch {
      throw .length
    }
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
      previous = (current, now + Self.patience)
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

  private static func open(
    _ packet: [UInt8],
    _ header: PacketHeader,
    _ epoch: DatagramKeys.Epoch
  ) throws(OpenError) -> Data {
    // The box wants nonce, sealed bytes and tag in one piece.
    var combined = epoch.nonce(header.counter)
    combined.reserveCapacity(packet.count)
    combined.append(contentsOf: packet[PacketHeader.length...])
    do {
      return try AES.GCM.open(
        AES.GCM.SealedBox(combined: combined),
        using: epoch.key,
        authenticating: packet[..<PacketHeader.length]
      )
    } catch {
      throw .open
    }
  }

  private static func read(
    _ plaintext: Data,
    isNewest: Bool
  ) throws(OpenError) -> OpenedDatagram {
    var offset = 0
    do {
      let content = try DatagramContent.read(from: plaintext.span, at: &offset)
      return OpenedDatagram(
        content: content,
        bytes: Array(plaintext.dropFirst(offset)),
        isNewest: isNewest
      )
    } catch {
      throw .content(error)
    }
  }
}

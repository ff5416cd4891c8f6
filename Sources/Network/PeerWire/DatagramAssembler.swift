/// Assembles the pieces of one peer's datagram messages, within the limits of DGM-7.
///
/// Pieces may arrive in any order. Unfinished messages use no more memory than the bytes received for them. There are
/// at most 32 unfinished messages, each with at most 65,536 bytes. The caller passes the time in milliseconds, which
/// must never decrease.
public struct DatagramAssembler: Sendable {
  /// The maximum number of unfinished messages.
  public static let capacity = 32
  /// The time after which an unfinished message is dropped, in milliseconds.
  public static let patience: UInt64 = 2_000

  /// The result of adding a piece.
  public enum Outcome: Equatable, Sendable {
    /// Other pieces of the message are missing.
    case incomplete
    /// The piece was received before.
    case duplicate
    /// The piece contradicts an earlier piece, so the message is dropped.
    case contradiction
    /// The piece completed the message; the value is the whole message.
    case complete([UInt8])
  }

  private struct Unfinished: Sendable {
    var id: UInt32
    var began: UInt64
    var missing: Int
    var byteCount: Int
    var pieces: [[UInt8]?]
  }

  /// The unfinished messages, oldest first.
  private var unfinished: [Unfinished] = []

  private let limit: Int

  /// Creates an assembler without messages.
  ///
  /// `limit` is the maximum length of a message in bytes.
  public init(limit: Int = Limits.datagramMessage) { self.limit = limit }

  /// The number of unfinished messages.
  public var count: Int { unfinished.count }

  /// The number of bytes stored for unfinished messages.
  public var heldBytes: Int { unfinished.reduce(0) { $0 + $1.byteCount } }

  /// Adds a piece of a message, as read by ``DatagramContent/read(from:at:)``.
  ///
  /// If 32 messages are unfinished, a piece of a new message replaces the oldest unfinished message.
  ///
  /// - Parameters:
  ///   - piece: The position of the piece. If it is inconsistent with the number of bytes, the result is
  ///     ``Outcome/contradiction``.
  ///   - bytes: The bytes of the piece.
  ///   - now: The time in milliseconds.
  /// - Returns: The result of adding the piece.
  public mutating func receive(_ piece: DatagramPiece, bytes: Span<UInt8>, now: UInt64) -> Outcome {
    expire(now: now)
    guard piece.admits(byteCount: bytes.count, ofMessage: limit) else {
      unfinished.removeAll { $0.id == piece.id }
      return .contradiction
    }
    let position: Int
    if let known = unfinished.firstIndex(where: { $0.id == piece.id }) {
      guard unfinished[known].pieces.count == Int(piece.count) else {
        unfinished.remove(at: known)
        return .contradiction
      }
      position = known
    } else {
      if unfinished.count == Self.capacity { unfinished.removeFirst() }
      position = unfinished.count
      unfinished.append(
        Unfinished(
          id: piece.id,
          began: now,
          missing: Int(piece.count),
          byteCount: 0,
          pieces: Array(repeating: nil, count: Int(piece.count))
        )
      )
    }
    guard unfinished[position].pieces[Int(piece.index)] == nil else { return .duplicate }
    unfinished[position].pieces[Int(piece.index)] = bytes.copied()
    unfinished[position].missing -= 1
    unfinished[position].byteCount += bytes.count
    guard unfinished[position].missing == 0 else { return .incomplete }
    let message = unfinished.remove(at: position)
    var whole: [UInt8] = []
    whole.reserveCapacity(message.byteCount)
    for case let piece? in message.pieces { whole.append(contentsOf: piece) }
    return .complete(whole)
  }

  /// Drops unfinished messages whose first piece arrived at least 2 s ago.
  public mutating func expire(now: UInt64) {
    while let oldest = unfinished.first, now >= oldest.began, now - oldest.began >= Self.patience {
      unfinished.removeFirst()
    }
  }
}

extension Span<UInt8> {
  func copied() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      for index in 0..<count { buffer.initializeElement(at: index, to: self[index]) }
      initialized = count
    }
  }
}

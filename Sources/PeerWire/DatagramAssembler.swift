/// Puts the pieces of one peer's datagram messages together, within the bounds of DGM-7.
///
/// Pieces come in any order. What is unfinished never holds more than was received: at most 32
/// messages of 65,536 bytes. Time is whatever the caller measures in milliseconds, never going back.
public struct DatagramAssembler: Sendable {
  /// How many unfinished messages are held.
  public static let capacity = 32
  /// How long one is held, in milliseconds.
  public static let patience: UInt64 = 2_000

  /// The result of adding a piece.
  public enum Outcome: Equatable, Sendable {
    /// Others are missing.
    case incomplete
    /// It was there already.
    case duplicate
    /// It contradicts an earlier one, and the message is given up.
    case contradiction
    /// It was the last one missing: the message.
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

  /// Creates an assembler that holds nothing; `limit` is the longest message.
  public init(limit: Int = Limits.datagramMessage) { self.limit = limit }

  /// How many messages are unfinished.
  public var count: Int { unfinished.count }

  /// How many bytes of unfinished messages are held.
  public var heldBytes: Int { unfinished.reduce(0) { $0 + $1.byteCount } }

  /// Takes the bytes of a piece, which ``DatagramContent/read(from:at:)`` has checked.
  ///
  /// Where 32 messages are unfinished already, the oldest gives way to a new one.
  ///
  /// - Parameters:
  ///   - piece: Its place; one that does not admit so many bytes counts as a contradiction.
  ///   - bytes: Its bytes.
  ///   - now: The time in milliseconds.
  /// - Returns: What became of it.
  public mutating func receive(
    _ piece: DatagramPiece,
    bytes: Span<UInt8>,
    now: UInt64
  ) -> Outcome {
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

  /// Gives up the messages that were begun 2 s ago or longer.
  public mutating func expire(now: UInt64) {
    while let oldest = unfinished.first, now >= oldest.began,
      now - oldest.began >= Self.patience
    {
      unfinished.removeFirst()
    }
  }
}

extension Span<UInt8> {
  /// The bytes in an array of their own.
  func copied() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      for index in 0..<count { buffer.initializeElement(at: index, to: self[index]) }
      initialized = count
    }
  }
}

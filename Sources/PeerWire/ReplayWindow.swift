/// Which of the latest 2,048 counters of one epoch were seen (rule DGM-3).
///
/// A ring of words as in RFC 6479: moving the window clears whole words and shifts nothing. A caller
/// asks only after the packet opened, since anyone can write a counter into a head.
public struct ReplayWindow: Equatable, Sendable {
  /// How many counters the window holds, the greatest one included.
  public static let size: UInt64 = 2_048

  /// One word more than the window would do; a power of two makes the index a mask.
  private static let wordCount = 64

  private var words = [UInt64](repeating: 0, count: wordCount)

  /// The greatest counter that was taken, or `nil` before the first.
  public private(set) var greatest: UInt64?

  /// Creates a window that has seen nothing.
  public init() {}

  /// Whether a counter is neither below the window nor in it and seen.
  public func isFresh(_ counter: UInt64) -> Bool {
    guard let greatest, counter <= greatest else { return true }
    guard greatest - counter < Self.size else { return false }
    return words[Self.index(counter)] & Self.bit(counter) == 0
  }

  /// Takes a counter.
  ///
  /// - Returns: `false` when the packet must be dropped; the window is then unchanged.
  public mutating func take(_ counter: UInt64) -> Bool {
    guard isFresh(counter) else { return false }
    let last = greatest ?? 0
    if counter >= last {
      let steps = min(counter / 64 - last / 64, UInt64(Self.wordCount))
      var word = last / 64
      for _ in 0..<steps {
        word &+= 1
        words[Int(word % UInt64(Self.wordCount))] = 0
      }
      greatest = counter
    }
    words[Self.index(counter)] |= Self.bit(counter)
    return true
  }

  private static func index(_ counter: UInt64) -> Int {
    Int(counter / 64 % UInt64(wordCount))
  }

  private static func bit(_ counter: UInt64) -> UInt64 { 1 << (counter % 64) }
}

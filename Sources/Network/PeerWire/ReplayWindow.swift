/// Records which of the latest 2,048 packet counters of one epoch were received (DGM-3).
///
/// The window is a ring of 64-bit words as in RFC 6479, so advancing the window clears whole words instead of shifting
/// bits. The caller must record a counter only after decrypting the packet, because headers can be forged.
public struct ReplayWindow: Equatable, Sendable {
  /// The number of counters in the window, including the greatest counter.
  public static let size: UInt64 = 2_048

  /// 33 words would be enough, because 2,048 counters span at most 33 words. A power of two lets a mask compute the
  /// index.
  private static let wordCount = 64

  private var words = [UInt64](repeating: 0, count: wordCount)

  /// The greatest counter received, or `nil` if none was received.
  public private(set) var greatest: UInt64?

  /// Creates a window without received counters.
  public init() {}

  /// Returns whether a counter is fresh: not received before, and not too old for the window.
  public func isFresh(_ counter: UInt64) -> Bool {
    guard let greatest, counter <= greatest else { return true }
    guard greatest - counter < Self.size else { return false }
    return words[Self.index(counter)] & Self.bit(counter) == 0
  }

  /// Records a counter.
  ///
  /// - Returns: `false` if the counter is not fresh. In that case, the window is unchanged and the caller must drop the
  ///   packet.
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

  private static func index(_ counter: UInt64) -> Int { Int(counter / 64 % UInt64(wordCount)) }

  private static func bit(_ counter: UInt64) -> UInt64 { 1 << (counter % 64) }
}

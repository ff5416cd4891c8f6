import PeerCore

/// The generator of tests; a test that fails must print its seed.
///
/// Its functions use numbers of 64 bits, so that a seed means the same on machines of 32 bits. The functions of the
/// standard library use `Int`.
public typealias SeededGenerator = SplitMix64

extension SplitMix64 {
  /// Returns a number from 0 up to but not including `bound`.
  public mutating func below(_ bound: Int) -> Int { Int(UInt64.random(in: 0..<UInt64(bound), using: &self)) }

  /// Returns `true` with a probability of `percent` percent.
  public mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  /// Returns one of the elements; nil if there is none.
  public mutating func element<Elements: Collection>(of elements: Elements) -> Elements.Element? {
    guard !elements.isEmpty else { return nil }
    return elements[elements.index(elements.startIndex, offsetBy: below(elements.count))]
  }

  /// Returns the elements in a random order.
  public mutating func shuffled<Element>(_ elements: [Element]) -> [Element] {
    var elements = elements
    for index in elements.indices.dropLast() { elements.swapAt(index, index + below(elements.count - index)) }
    return elements
  }
}

/// Returns the number of repetitions of a test, such as seeds.
///
/// `Tests/run` builds without optimization, and uses fewer repetitions to save time. `Tests/run --all` builds with
/// optimization.
public func repetitions<Count: FixedWidthInteger>(_ count: Count, optimized: Count) -> Count {
  isOptimized ? optimized : count
}

/// Whether the tests are built with optimization, as for `Tests/run --all`.
///
/// Without optimization, a test that fills a board to a limit takes 5 to 20 seconds, so such tests run only with
/// optimization.
public var isOptimized: Bool {
  #if DEBUG
  false
  #else
  true
  #endif
}

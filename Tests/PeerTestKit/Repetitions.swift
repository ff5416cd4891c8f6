/// Returns the number of repetitions of a test, such as seeds.
///
/// `Tests/run` builds without optimization, and repeats less, so that it is short. `Tests/run --all` builds with it.
public func repetitions<Count: FixedWidthInteger>(_ count: Count, optimized: Count) -> Count {
  isOptimized ? optimized : count
}

/// Whether the tests are built with optimization, as for `Tests/run --all`.
///
/// Without it, a test that fills a board to a limit takes 5 to 20 seconds; such tests run only with it.
public var isOptimized: Bool {
  #if DEBUG
  false
  #else
  true
  #endif
}

/// Returns the number of repetitions of a test, such as seeds.
///
/// `Tests/run` builds without optimization, and repeats less, so that it is short. `Tests/run --all` builds with it.
public func repetitions<Count: FixedWidthInteger>(_ count: Count, optimized: Count) -> Count {
  #if DEBUG
  count
  #else
  optimized
  #endif
}

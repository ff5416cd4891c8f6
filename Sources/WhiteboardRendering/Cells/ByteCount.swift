/// A namespace for formatting file sizes for users.
package enum ByteCount {
  /// Returns a size in the largest suitable decimal unit, such as `2.1 MB`, rounded down to a tenth.
  package static func text(_ size: Int) -> String {
    let units = ["kB", "MB", "GB", "TB", "PB"]
    guard size >= 1_000 else { return size == 1 ? "1 byte" : "\(size) bytes" }
    var (value, unit) = (size / 100, 0)
    while value >= 10_000, unit < units.count - 1 {
      value /= 1_000
      unit += 1
    }
    return "\(value / 10).\(value % 10) \(units[unit])"
  }
}

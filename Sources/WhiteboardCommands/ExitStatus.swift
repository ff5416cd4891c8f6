/// The meanings of the exit statuses, for the help text and the manual.
package enum ExitStatus {
  /// The exit statuses with their meanings, in order.
  package static let rows = [
    ("0", "ok"), ("1", "not found, or a command failed"), ("64", "usage error"), ("65", "malformed input"),
    ("66", "no such file"), ("69", "unreachable"), ("70", "internal error"), ("71", "a system call failed"),
    ("73", "cannot create a file"), ("74", "reading or writing failed"), ("75", "timed out, or nothing was found"),
    ("76", "version or protocol mismatch"), ("77", "not admitted"), ("78", "invalid setting"),
    ("128+N", "stopped by a second signal; N is its number"),
  ]

  /// The exit statuses as a section of the help text, with two statuses in each line.
  package static let help: String = {
    let (half, last) = (rows.count / 2, rows[rows.count - 1])
    let lines = (0..<half).map { row in
      let left = "  \(rows[row].0) \(rows[row].1)"
      let gap = String(repeating: " ", count: max(1, 40 - left.count))
      return left + gap + "\(rows[row + half].0) \(rows[row + half].1)"
    }
    return (["EXIT STATUS"] + lines + ["  \(last.0) \(last.1)"]).joined(separator: "\n")
  }()
}

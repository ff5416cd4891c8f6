/// The role and the lifetime of an additional code.
package struct InvitationTerms: Hashable, Codable, Sendable {
  /// The longest a code may hold: 30 days.
  package static let maximumSeconds = 30 * 86_400

  /// Whether who comes by it looks on only.
  package var isView = false
  /// For how many seconds it holds; nil for as long as the board is open.
  package var seconds: Int?

  /// Terms.
  package init(isView: Bool = false, seconds: Int? = nil) {
    self.isView = isView
    self.seconds = seconds
  }

  /// A time as people write it: a number and `s`, `m`, `h` or `d`; nil if it is none, or beyond 30 days.
  package static func seconds(_ text: String) -> Int? {
    guard let unit = text.last, let number = Int(text.dropLast()), number > 0 else { return nil }
    let size: Int
    switch unit {
    case "s": size = 1
    case "m": size = 60
    case "h": size = 3_600
    case "d": size = 86_400
    default: return nil
    }
    let (seconds, isOver) = number.multipliedReportingOverflow(by: size)
    return isOver || seconds > maximumSeconds ? nil : seconds
  }
}

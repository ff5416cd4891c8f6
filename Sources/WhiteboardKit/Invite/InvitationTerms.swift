/// The role and the lifetime of an additional code or a browser link.
public struct InvitationTerms: Hashable, Codable, Sendable {
  /// The maximum lifetime of a code or link, in seconds: 30 days.
  public static let maximumSeconds = 30 * 86_400

  /// Whether the code or link admits viewers only.
  public var isView = false
  /// Whether to create a browser link instead of a code.
  public var isForBrowsers = false
  /// Whether the browser link admits only one guest, so that the link is worthless in the history of the guest's browser.
  public var isOnce = false
  /// The lifetime in seconds; nil for a code or link that is valid while the board is open.
  public var seconds: Int?

  var isValid: Bool { seconds.map((1...Self.maximumSeconds).contains) ?? true }

  /// Creates terms.
  ///
  /// - Parameters:
  ///   - isView: Whether the code or link admits viewers only.
  ///   - isForBrowsers: Whether to create a browser link instead of a code.
  ///   - isOnce: Whether the browser link admits only one guest.
  ///   - seconds: The lifetime in seconds; nil for a code or link that is valid while the board is open.
  public init(isView: Bool = false, isForBrowsers: Bool = false, isOnce: Bool = false, seconds: Int? = nil) {
    self.isView = isView
    self.isForBrowsers = isForBrowsers
    self.isOnce = isOnce
    self.seconds = seconds
  }

  /// Decodes the terms that a program of this or of an earlier version sent.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    isView = try container.decode(Bool.self, forKey: .isView)
    isForBrowsers = try container.decode(Bool.self, forKey: .isForBrowsers)
    // Earlier versions do not have this key.
    isOnce = try container.decodeIfPresent(Bool.self, forKey: .isOnce) ?? false
    seconds = try container.decodeIfPresent(Int.self, forKey: .seconds)
  }

  /// Parses a lifetime: a number with the unit `s`, `m`, `h` or `d`.
  ///
  /// - Parameter text: The text, such as `90m`.
  /// - Returns: The lifetime in seconds; nil if the text is malformed, or the lifetime exceeds ``maximumSeconds``.
  public static func seconds(_ text: String) -> Int? {
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

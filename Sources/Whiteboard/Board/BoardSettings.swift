/// The settings of a board as a whole, shared by all members (BRD-28).
public struct BoardSettings: Hashable, Sendable {
  /// The board's title: unchecked text from a peer.
  public var title: String?
  /// The board's background color, `0xRRGGBBAA`.
  public var background: UInt32?
  /// The spacing of the board's grid in board units; nil if there is no grid.
  public var grid: Double?
  /// The language of the board's games, as a BCP 47 tag.
  public var language: String?

  /// Creates settings.
  ///
  /// Nil means not set.
  public init(title: String? = nil, background: UInt32? = nil, grid: Double? = nil, language: String? = nil) {
    self.title = title
    self.background = background
    self.grid = grid
    self.language = language
  }
}

extension BoardSettings {
  /// The background `0xRRGGBB` that clients show; nil if it is not set, or fully transparent.
  package var shownBackground: UInt32? { background.flatMap { $0 & 0xFF == 0 ? nil : $0 >> 8 } }
}

extension BoardState {
  /// Returns the cell that determines a setting; nil if the setting was never set.
  ///
  /// It is the cell with the greatest stamp among the cells of all settings objects that hold a value of the right
  /// type.
  func settingCell(_ property: Property) -> Cell? { objects.settings.winner(property) }

  /// Cells with a value of the wrong type are considered too.
  func isLatestSetting(_ cell: Cell?, _ property: Property) -> Bool {
    guard let latest = objects.settings.latest(property) else { return true }
    return cell.map { !latest.beats($0) } ?? false
  }

  /// The settings objects that are stored and not deleted, in ascending order of id.
  /// - Complexity: O(*n*).
  package var settingsIDs: [ObjectID] { objects.settings.objects.elements }
}

extension BoardSettings {
  /// A setting is nil if it was never set or is outside its limits.
  init(of state: BoardState) {
    func text(_ property: Property, upTo limit: Int) -> String? {
      guard case .text(let text)? = state.settingCell(property)?.value, !text.isEmpty, text.utf8.count <= limit else {
        return nil
      }
      return text
    }
    func number(_ property: Property) -> UInt64? {
      guard case .unsigned(let number)? = state.settingCell(property)?.value else { return nil }
      return number
    }
    self.init(
      title: text(.title, upTo: BoardLimits.titleBytes),
      background: number(.background).flatMap { UInt32(exactly: $0) },
      grid: number(.grid).flatMap {
        $0 > 0 && $0 <= UInt64(BoardLimits.grid * FixedPoint.unit) ? Double($0) / FixedPoint.unit : nil
      },
      language: text(.language, upTo: BoardLimits.languageBytes)
    )
  }

  /// Returns the cell value for a title; nil removes the title; throws `tooLong`.
  static func value(title: String?) throws(BoardError) -> Value {
    let title = PlainText.line(title ?? "")
    guard title.utf8.count <= BoardLimits.titleBytes else { throw .tooLong("title") }
    return .text(title)
  }

  /// Returns the cell value for the spacing of a grid; nil removes the grid; throws `outOfRange`.
  static func value(grid spacing: Double?) throws(BoardError) -> Value {
    guard let spacing else { return .unsigned(0) }
    guard spacing > 0, spacing <= BoardLimits.grid else { throw .outOfRange("grid") }
    return .unsigned(UInt64(max(1, (spacing * FixedPoint.unit).rounded())))
  }

  /// Returns the cell value for a language tag; nil removes the language; throws `tooLong`, `outOfRange` if `tag`
  /// contains characters that are not allowed in tags.
  static func value(language tag: String?) throws(BoardError) -> Value {
    let tag = tag ?? ""
    guard tag.utf8.count <= BoardLimits.languageBytes else { throw .tooLong("language") }
    let isTag = tag.unicodeScalars.allSatisfy { scalar in
      scalar == "-" || ("0"..."9").contains(scalar) || ("A"..."Z").contains(scalar) || ("a"..."z").contains(scalar)
    }
    guard isTag else { throw .outOfRange("language") }
    return .text(tag)
  }
}

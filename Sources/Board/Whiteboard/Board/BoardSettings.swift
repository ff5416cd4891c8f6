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
  /// Returns the cell that determines a setting: of the cells in all settings objects with a value of the right type,
  /// the cell with the greatest stamp. Returns nil if there is no such cell.
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
  package init(of state: BoardState) {
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

  static func value(title: String?) throws(BoardError) -> Value {
    let title = PlainText.line(title ?? "")
    guard title.utf8.count <= BoardLimits.titleBytes else { throw .tooLong("title") }
    return .text(title)
  }

  static func value(grid spacing: Double?) throws(BoardError) -> Value {
    guard let spacing else { return .unsigned(0) }
    guard spacing > 0, spacing <= BoardLimits.grid else { throw .outOfRange("grid") }
    return .unsigned(UInt64(max(1, (spacing * FixedPoint.unit).rounded())))
  }

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

/// The name and the icon under which a user appears to others.
///
/// The name and the icon are not verified.
///
/// Two profiles are equal if both parts are equal.
public struct Profile: Hashable, Sendable {
  /// The display name.
  ///
  /// From a peer, it can be any text.
  public var name: String
  /// The icon that is shown with the name.
  public var icon: ProfileIcon

  /// Creates a profile.
  public init(name: String, icon: ProfileIcon) {
    self.name = name
    self.icon = icon
  }
}

/// The icons from which a user can choose.
///
/// Each is one emoji.
public enum ProfileIcon: String, CaseIterable, Hashable, Sendable {
  case angel = "😇"
  case heart = "😍"
  case hot = "🥵"
  case sick = "🤒"
  case devil = "😈"
  case ghost = "👻"
  case cold = "🥶"
  case foggy = "😶‍🌫️"
  case poop = "💩"

  /// The emoji of the icon.
  public var emoji: String { rawValue }
}

/// An index of the visible settings objects of a board, with the cells of each setting sorted by stamp (BRD-28). Any
/// member may create settings objects. With the index, reading or writing a setting takes O(log *n*) time, where *n* is
/// the number of settings objects.
struct SettingsIndex: Sendable {
  private struct Entry: Sendable {
    let object: ObjectID
    let cell: Cell

    func isBefore(_ other: Entry) -> Bool {
      if other.cell.beats(cell) { return true }
      return object < other.object && !cell.beats(other.cell)
    }
  }

  /// The cells of one setting. `legal` contains the cells whose value has the right type, and `others` the rest.
  private struct Cells: Sendable {
    var legal = ChunkedSortedArray<Entry>()
    var others = ChunkedSortedArray<Entry>()
  }

  static let properties: [Property] = [.title, .background, .grid, .language]

  /// The ids of the settings objects, in ascending order.
  private(set) var objects = ChunkedSortedArray<ObjectID>()
  private var cells = Array(repeating: Cells(), count: SettingsIndex.properties.count)

  func winner(_ property: Property) -> Cell? {
    Self.properties.firstIndex(of: property).flatMap { cells[$0].legal.last?.cell }
  }

  /// Returns the cell of a setting with the greatest stamp; nil if no settings object has such a cell. Cells with a
  /// value of the wrong type are considered too.
  func latest(_ property: Property) -> Cell? {
    guard let index = Self.properties.firstIndex(of: property) else { return nil }
    guard let other = cells[index].others.last?.cell else { return cells[index].legal.last?.cell }
    guard let legal = cells[index].legal.last?.cell else { return other }
    return legal.beats(other) ? legal : other
  }

  mutating func insert(_ id: ObjectID, _ record: ObjectRecord) {
    guard record.isVisible, record.kind == .settings else { return }
    objects.insert(id, at: objects.position { $0 < id })
    update(id, record) { pieces, entry in pieces.insert(entry, at: pieces.position { $0.isBefore(entry) }) }
  }

  /// `record` must be the cells with which the object was added.
  mutating func remove(_ id: ObjectID, _ record: ObjectRecord) {
    guard record.isVisible, record.kind == .settings else { return }
    objects.remove(at: objects.position { $0 < id })
    update(id, record) { pieces, entry in pieces.remove(at: pieces.position { $0.isBefore(entry) }) }
  }

  private mutating func update(
    _ id: ObjectID,
    _ record: ObjectRecord,
    _ body: (inout ChunkedSortedArray<Entry>, Entry) -> Void
  ) {
    for (index, property) in Self.properties.enumerated() {
      guard let cell = record[property] else { continue }
      let entry = Entry(object: id, cell: cell)
      if cell.value.shape == property.settingShape {
        body(&cells[index].legal, entry)
      } else {
        body(&cells[index].others, entry)
      }
    }
  }
}

extension Property {
  /// The type of the setting's values; nil if the property is not a setting.
  fileprivate var settingShape: UInt8? {
    switch self {
    case .title, .language: Value.text("").shape
    case .background, .grid: Value.unsigned(0).shape
    default: nil
    }
  }

  package var isSetting: Bool { settingShape != nil }

  var concernsIndexes: Bool {
    switch number {
    case Property.selection.number, Property.deleted.number, Property.kind.number, Property.group.number,
      Property.startBinding.number, Property.endBinding.number, Property.form.number, Property.frame.number,
      Property.title.number...Property.language.number:
      true
    default: false
    }
  }
}

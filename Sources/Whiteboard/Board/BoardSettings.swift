/// What belongs to a board as a whole and is shared by all (BRD-28).
public struct BoardSettings: Hashable, Sendable {
  /// Its title; text from a peer.
  public var title: String?
  /// Its background, `0xRRGGBBAA`.
  public var background: UInt32?
  /// The spacing of its grid in board units; nil for no grid.
  public var grid: Double?
  /// The language of its games, a BCP 47 tag.
  public var language: String?

  /// Settings, each of which may have been set or not.
  public init(
    title: String? = nil,
    background: UInt32? = nil,
    grid: Double? = nil,
    language: String? = nil
  ) {
    self.title = title
    self.background = background
    self.grid = grid
    self.language = language
  }
}

extension BoardState {
  /// The cell of a setting that counts: of those of its shape on all settings objects, the greatest.
  fileprivate func settingCell(_ property: Property) -> Cell? { settings.winner(property) }

  /// Whether a cell of a settings object was written later than those of all the others, whatever
  /// their shape.
  func isLatestSetting(_ cell: Cell?, _ property: Property) -> Bool {
    guard let latest = settings.latest(property) else { return true }
    return cell.map { !latest.beats($0) } ?? false
  }

  /// The settings objects that are here and not deleted, ascending.
  /// - Complexity: O(*n*).
  package var settingsIDs: [ObjectID] { settings.objects.elements }
}

extension Board {
  /// The settings of the board; what nobody set, or what is beyond its limits, is nil.
  public var settings: BoardSettings {
    BoardSettings(
      title: text(.title, upTo: BoardLimits.titleBytes),
      background: number(.background).flatMap { UInt32(exactly: $0) },
      grid: number(.grid).flatMap {
        $0 > 0 && $0 <= UInt64(BoardLimits.grid * FixedPoint.unit)
          ? Double($0) / FixedPoint.unit : nil
      },
      language: text(.language, upTo: BoardLimits.languageBytes)
    )
  }

  /// The board's title.
  public var title: String? { settings.title }
  /// The board's background, `0xRRGGBBAA`.
  public var background: UInt32? { settings.background }
  /// The spacing of the board's grid in board units.
  public var grid: Double? { settings.grid }
  /// The language of the board's games.
  public var language: String? { settings.language }

  /// Names the board; nil takes the name away.
  /// - Throws: `tooLong`, `boardFull`.
  public func setTitle(_ title: String?) throws(BoardError) {
    let title = PlainText.line(title ?? "")
    guard title.utf8.count <= BoardLimits.titleBytes else { throw .tooLong("title") }
    try set(.title, .text(title))
  }

  /// Gives the board a background, `0xRRGGBBAA`.
  /// - Throws: `boardFull`.
  public func setBackground(_ color: UInt32) throws(BoardError) {
    try set(.background, .unsigned(UInt64(color)))
  }

  /// Gives the board a grid of so many board units; nil takes it away.
  /// - Throws: `outOfRange`, `boardFull`.
  public func setGrid(_ spacing: Double?) throws(BoardError) {
    guard let spacing else { return try set(.grid, .unsigned(0)) }
    guard spacing > 0, spacing <= BoardLimits.grid else { throw .outOfRange("grid") }
    try set(.grid, .unsigned(UInt64(max(1, (spacing * FixedPoint.unit).rounded()))))
  }

  /// Says which language the board's games are in, as a BCP 47 tag; nil takes it away.
  /// - Throws: `tooLong`, `outOfRange` for what is no tag, `boardFull`.
  public func setLanguage(_ tag: String?) throws(BoardError) {
    let tag = tag ?? ""
    guard tag.utf8.count <= BoardLimits.languageBytes else { throw .tooLong("language") }
    let isTag = tag.unicodeScalars.allSatisfy { scalar in
      scalar == "-" || ("0"..."9").contains(scalar) || ("A"..."Z").contains(scalar)
        || ("a"..."z").contains(scalar)
    }
    guard isTag else { throw .outOfRange("language") }
    try set(.language, .text(tag))
  }

  private func set(_ property: Property, _ value: Value) throws(BoardError) {
    let present = state.settingCell(property)
    try gesture { () throws(BoardError) in
      let known = state.settings.objects.least
      if known != nil, present?.value == value { return }
      // The latest cell has the greatest time: if a write can follow it, so it can the others.
      guard state.settings.latest(property)?.time.canBeFollowed ?? true else {
        return try replaceFrozenSettings(property, value)
      }
      let settings = if let known { known } else { try create(.settings) }
      // The cell that it has to beat may be another settings object's.
      try stage(settings, property, value, after: present?.time)
    }
  }

  /// Purges the settings objects with frozen cells, and writes the settings that they held to
  /// another one (BRD-36).
  private func replaceFrozenSettings(
    _ property: Property,
    _ value: Value
  ) throws(BoardError) {
    func cells() -> [Cell?] { SettingsIndex.properties.map { state.settingCell($0) } }
    let before = cells()
    let frozen = state.settingsIDs.filter(isFrozen)
    let known = state.settingsIDs.first { !frozen.contains($0) }
    let settings = if let known { known } else { try create(.settings) }
    for id in frozen { try stage(id, .purge, .none) }
    let after = cells()
    for (index, other) in SettingsIndex.properties.enumerated() {
      let wanted = other == property ? value : before[index]?.value
      guard let wanted, wanted != after[index]?.value else { continue }
      try stage(settings, other, wanted, after: after[index]?.time)
    }
  }

  private func text(_ property: Property, upTo limit: Int) -> String? {
    guard case .text(let text)? = state.settingCell(property)?.value, !text.isEmpty,
      text.utf8.count <= limit
    else { return nil }
    return text
  }

  private func number(_ property: Property) -> UInt64? {
    guard case .unsigned(let number)? = state.settingCell(property)?.value else { return nil }
    return number
  }
}

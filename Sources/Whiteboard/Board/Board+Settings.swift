/// Changing the settings of the board (BRD-28).
extension Board {
  /// Sets the board's title; nil removes it.
  /// - Throws: `tooLong`, `boardFull`.
  public func setTitle(_ title: String?) throws(BoardError) { try set(.title, try BoardSettings.value(title: title)) }

  /// Sets the board's background color, `0xRRGGBBAA`.
  /// - Throws: `boardFull`.
  public func setBackground(_ color: UInt32) throws(BoardError) { try set(.background, .unsigned(UInt64(color))) }

  /// Sets the spacing of the board's grid in board units; nil removes the grid.
  /// - Throws: `outOfRange`, `boardFull`.
  public func setGrid(_ spacing: Double?) throws(BoardError) { try set(.grid, try BoardSettings.value(grid: spacing)) }

  /// Sets the language of the board's games, as a BCP 47 tag; nil removes it.
  /// - Throws: `tooLong`, `outOfRange` if `tag` contains characters that are not allowed in tags, `boardFull`.
  public func setLanguage(_ tag: String?) throws(BoardError) {
    try set(.language, try BoardSettings.value(language: tag))
  }

  private func set(_ property: Property, _ value: Value) throws(BoardError) {
    let present = state.settingCell(property)
    try gesture { () throws(BoardError) in
      let known = state.objects.settings.objects.least
      if known != nil, present?.value == value { return }
      // Check only the latest cell. If a write can follow its time, it can follow the times of all other cells.
      guard state.objects.settings.latest(property)?.time.canBeFollowed ?? true else {
        return try replaceFrozenSettings(property, value)
      }
      let settings = if let known { known } else { try create(.settings) }
      // The new write must be later than the cell that currently determines the setting, even if that cell belongs to
      // another settings object.
      try stage(settings, property, value, after: present?.time)
    }
  }

  /// Purges the settings objects that have a cell which can no longer be written, and copies their settings to another
  /// settings object (BRD-36).
  private func replaceFrozenSettings(_ property: Property, _ value: Value) throws(BoardError) {
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
}

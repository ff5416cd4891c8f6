import PeerCore

/// A board, with methods that edit it.
///
/// Every method that edits the board is one gesture: if the method throws, the board does not change. To combine
/// several calls into one batch and one undo step, make them inside `gesture(_:_:)`.
public final class Board: BoardReplica {
  /// Returns the object with this id, as an instance of the class for its kind; nil if the object is not shown on the
  /// board.
  public func object(_ id: ObjectID) -> WhiteboardObject? {
    guard state.isShown(id), let kind = state.record(id)?.kind else { return nil }
    switch kind {
    case .text: return TextObject(id, on: self)
    case .drawing: return DrawingObject(id, on: self)
    case .photo: return PhotoObject(id, on: self)
    case .game: return GameObject(id, on: self)
    default: return WhiteboardObject(id, on: self)
    }
  }

  /// Returns the object with this id, as an instance of the class for its kind.
  /// - Throws: `unknownObject` if the object is not shown on the board.
  public subscript(id: ObjectID) -> WhiteboardObject {
    get throws(BoardError) {
      guard let object = object(id) else { throw .unknownObject(id) }
      return object
    }
  }

  /// Returns the text object, or the form that can have a label, with this id.
  /// - Throws: `unknownObject`, `wrongKind`.
  public func text(_ id: ObjectID) throws(BoardError) -> WhiteboardObject {
    let object = try self[id]
    guard object.record.hasText else { throw .wrongKind(id) }
    return object
  }

  /// Returns the game with this id.
  /// - Throws: `unknownObject`, `wrongKind`.
  public func game(_ id: ObjectID) throws(BoardError) -> GameObject {
    guard let game = try self[id] as? GameObject else { throw .wrongKind(id) }
    return game
  }

  /// The objects that are shown on the board, from back to front.
  public var objects: [WhiteboardObject] { objectIDs.compactMap { object($0) } }
}

extension Board {
  /// Restores an earlier state of the board with ordinary writes.
  ///
  /// The method deletes newer objects, undeletes deleted objects, and creates purged objects again under new ids. Newer
  /// chat lines, moves of games, and points of strokes are kept. If the writes do not fit in one batch, they are split
  /// into several. All writes together are one undo step. Do not call this method inside a gesture.
  ///
  /// - Throws: `held` or `locked` if an object that differs cannot be changed now, `tooLong`, `boardFull`,
  ///   `clockExhausted`. If the method throws, nothing is changed.
  @discardableResult public func restore(_ earlier: BoardState) throws(BoardError) -> RestoreOutcome {
    precondition(!isInGesture, "restore must not be called inside a gesture")
    leaveClaimedIncarnation()
    let plan = try RestorePlan(from: state, to: earlier, as: incarnation)
    try requireShare(forObjects: plan.createdCount)
    try plan.requireWritable(on: self)
    return try step("restore") { () throws(BoardError) in try plan.write(on: self) }
  }
}

extension Board {
  /// Copies objects and groups.
  ///
  /// The copies are placed in front of all other objects.
  ///
  /// A copy has the same kind and appearance as its original. The copy of a text object consists of one run. The copy
  /// of a drawing is a finished stroke with the committed points and the erasures. The copy of a photo refers to the
  /// same asset. The copy of a game is a new game of the same kind, without moves. A frame is copied with the objects
  /// in it. If all objects of a group are copied, the copies form a new group; otherwise the copies belong to no group.
  /// Copies are not selected.
  ///
  /// - Parameters:
  ///   - ids: The objects and groups to copy. Objects that are held or locked can be copied.
  ///   - offset: The offset of each copy from its original.
  ///   - isExact: Whether the copies get exactly this offset. Otherwise, if a copy would be exactly on an object of its
  ///     kind, all copies are moved by the offset again.
  /// - Returns: The copy of each object, and of each group that was copied as a whole.
  /// - Throws: `unknownObject`, `outOfRange`, `tooManyOperations`, `boardFull`. If the method throws, nothing is
  ///   copied.
  @discardableResult public func duplicate(
    _ ids: [ObjectID],
    by offset: Point = ObjectDefaults.copyOffset,
    isExact: Bool = false
  ) throws(BoardError) -> [ObjectID: ObjectID] {
    try gesture("duplicate") { () throws(BoardError) in
      try Duplication(ids, by: offset, isExact: isExact, on: state).stage(on: self)
    }
  }
}

extension Board {
  /// Moves objects in the stack.
  ///
  /// The moved objects keep their order relative to each other. Each moved object is written at most once. Other
  /// objects are written only if no z index is left between two neighbors (BRD-34).
  ///
  /// - Throws: `unknownObject`, `held`, `locked`, `nextToItself`, `stackFull` if no z index is left and neither
  ///   neighbor can be changed.
  public func reorder(_ ids: [ObjectID], _ move: StackMove) throws(BoardError) {
    try gesture { () throws(BoardError) in
      let moving = Set(try state.targets(ids))
      for id in moving.sorted() { try requireWritable(id) }
      var stack = Stack(objectIDs)
      try stack.move(moving, move) { (id) throws(BoardError) in Set(try state.targets([id])) }
      let jitter = UInt8(truncatingIfNeeded: incarnation.rawValue ^ nextDot().sequence)
      let hasRoom = stack.assign(
        to: moving,
        zIndex: { state.record($0)?.zIndex ?? [] },
        jitter: jitter,
        isMovable: { (try? requireWritable($0)) != nil }
      )
      guard hasRoom else { throw .stackFull }
      for (id, zIndex) in stack.written { try write(id, .zIndex, .bytes(zIndex)) }
    }
  }
}

/// The chat, whose lines are objects that are not shown on the board (BRD-21).
extension Board {
  /// Adds a chat line with the name and icon of a profile; `object` is the object that the line is about.
  /// - Throws: `empty`, `tooLong`, `boardFull`, `unknownObject`.
  @discardableResult public func say(_ text: String, as profile: Profile, about object: ObjectID? = nil)
    throws(BoardError) -> ObjectID
  { try say(text, name: profile.name, icon: profile.icon.emoji, about: object) }

  /// Adds a chat line without an icon; `object` is the object that the line is about.
  /// - Throws: `empty`, `tooLong`, `boardFull`, `unknownObject`.
  @discardableResult public func say(_ text: String, as name: String? = nil, about object: ObjectID? = nil)
    throws(BoardError) -> ObjectID
  { try say(text, name: name, icon: nil, about: object) }

  private func say(_ text: String, name: String?, icon: String?, about object: ObjectID?) throws(BoardError) -> ObjectID
  {
    let (text, name) = (PlainText.lines(text), name.map(PlainText.line))
    return try gesture { () throws(BoardError) in
      guard !text.isEmpty else { throw .empty }
      guard text.utf8.count <= BoardLimits.chatBytes else { throw .tooLong("chat") }
      guard (name ?? "").utf8.count <= BoardLimits.nameBytes else { throw .tooLong("name") }
      // The new line must sort after every line that its author has seen, even if clocks are wrong (BRD-31). If a line
      // already has the last possible time, no line can follow it.
      let id = try create(.chat, after: frontier.floorOfChat)
      try stage(id, .chatAuthor, .bytes(member.bytes))
      if let name { try stage(id, .chatName, .text(name)) }
      if let icon { try stage(id, .chatIcon, .text(icon)) }
      try stage(id, .chatText, .text(text))
      try stage(id, .chatTime, .unsigned(wallClock))
      if let object {
        guard state.isShown(object) else { throw .unknownObject(object) }
        try stage(id, .about, .dot(object.dot))
      }
      return id
    }
  }
}

/// Groups of objects (BRD-26). In lists of ids, a group's id stands for all objects in it and in the groups inside it.
extension Board {
  /// Creates a group of objects and groups.
  ///
  /// If all given objects and groups belong to the same group, the new group is created inside that group. Otherwise,
  /// each of them leaves its group.
  ///
  /// - Returns: The id of the new group.
  /// - Throws: `empty`, `unknownObject`, `held`, `locked`, `boardFull`.
  @discardableResult public func group(_ ids: [ObjectID]) throws(BoardError) -> ObjectID {
    try gesture { () throws(BoardError) in
      guard !ids.isEmpty else { throw .empty }
      for id in try state.targets(ids) { try requireWritable(id) }
      let group = try create(.group)
      let around = Set(ids.map { state.groups(of: $0).first })
      if around.count == 1, case .some(.some(let parent)) = around.first, !ids.contains(parent) {
        try stage(group, .group, .dot(parent.dot))
      }
      for id in ids { try stage(id, .group, .dot(group.dot)) }
      return group
    }
  }

  /// Dissolves a group.
  ///
  /// Its objects move to the enclosing group, if there is one.
  /// - Throws: `unknownObject` if `group` is not a group, `held`, `locked`.
  public func ungroup(_ group: ObjectID) throws(BoardError) {
    try gesture("ungroup") { () throws(BoardError) in
      guard state.isGroup(group) else { throw .unknownObject(group) }
      for id in try state.targets([group]) { try requireWritable(id) }
      let around = state.groups(of: group).first.map { Value.dot($0.dot) } ?? .none
      for id in state.objects.groups.members(of: group) where state.isShown(id) || state.isGroup(id) {
        try stage(id, .group, around)
      }
      try stage(group, .deleted, .unsigned(1))
    }
  }
}

extension Board {
  /// Adds objects in front of all other objects, in the given order, as one undo step. If the method throws, nothing is
  /// added. If the objects do not fit in one batch, they are split into several. Do not call this method inside a
  /// gesture. `groups` contains, for each new group, the index of its enclosing group. That index must be smaller than
  /// the index of the new group.
  @discardableResult package func add(
    _ drafts: [ObjectDraft],
    groups: [Int?] = [],
    settings: BoardSettings = BoardSettings()
  ) throws(BoardError) -> [ObjectID] {
    var addition = try beginImport(drafts, groups: groups, settings: settings)
    do throws(BoardError) { while !addition.isComplete { try writePart(of: &addition) } } catch {
      _ = cancelImport(addition)
      throw error
    }
    return endImport(addition)
  }
}

extension Board {
  /// Creates a Wordle game in front of all objects.
  ///
  /// `random` chooses the answer.
  /// - Throws: `gameRefused(.unknownLanguage)`, `outOfRange`, `boardFull`.
  public func createWordle(at center: Point, language: String = "en", using random: inout some RandomNumberGenerator)
    throws(BoardError) -> ObjectID
  {
    let subtag = language.utf8.prefix { $0 != UInt8(ascii: "-") }
    guard ASCII.lowercase(subtag) == Array("en".utf8) else { throw .gameRefused(.unknownLanguage(language)) }
    return try gesture { () throws(BoardError) in
      let id = try create(.game)
      try stageGame(id, Wordle.name, at: center, size: Wordle.size)
      try stage(id, .setup, .bytes(Wordle.setup(of: id, using: &random)))
      return id
    }
  }

  /// Creates a Connect Four game in front of all objects.
  ///
  /// - Parameters:
  ///   - center: The center of the game.
  ///   - opponent: The member that plays against the local member; nil if the first two members who make a move are the
  ///     players.
  /// - Returns: The id of the game.
  /// - Throws: `gameRefused(.malformedSetup)` if the opponent is the local member, `outOfRange`, `boardFull`.
  @discardableResult public func createConnectFour(at center: Point, opponent: MemberID? = nil) throws(BoardError)
    -> ObjectID
  {
    guard opponent != member else { throw .gameRefused(.malformedSetup) }
    return try gesture { () throws(BoardError) in
      let id = try create(.game)
      try stageGame(id, ConnectFour.name, at: center, size: ConnectFour.size)
      let setup = ConnectFour.setup(between: opponent.map { (member, $0) })
      try stage(id, .setup, .bytes(setup))
      return id
    }
  }

  private func stageGame(_ id: ObjectID, _ name: String, at center: Point, size: Size) throws(BoardError) {
    try stage(id, .position, try FixedPoint.position(center))
    try stage(id, .size, try FixedPoint.size(size))
    try stageZIndex(id)
    try stage(id, .game, .text(name))
  }
}

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
      // Check only the latest cell. If a write can follow the time of this cell, it can follow the times of all other
      // cells.
      guard state.objects.settings.latest(property)?.time.canBeFollowed ?? true else {
        return try replaceFrozenSettings(property, value)
      }
      let settings = if let known { known } else { try create(.settings) }
      // The new write must be later than the cell that currently determines the setting, even if that cell belongs to
      // another settings object.
      try stage(settings, property, value, after: present?.time)
    }
  }

  /// Purges the settings objects with a cell that can no longer be written, and copies their settings to another
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

/// The kind and the position of an object. A copy with the same kind and position would lie exactly on the object.
struct CopyPlace: Hashable {
  let kind: ObjectKind
  /// The position in the units of the board's cells.
  private(set) var x: Int64
  private(set) var y: Int64

  init(_ kind: ObjectKind, at place: Point) {
    self.kind = kind
    (x, y) = (Self.whole(place.x), Self.whole(place.y))
  }

  init?(_ record: ObjectRecord?) {
    guard let record, let kind = record.kind else { return nil }
    self.init(kind, at: record.origin)
  }

  func moved(by offset: Point, times count: Int) -> CopyPlace {
    var moved = self
    moved.x += Self.whole(offset.x) * Int64(count)
    moved.y += Self.whole(offset.y) * Int64(count)
    return moved
  }

  /// A value that is not a coordinate becomes the nearest limit or 0. Copies with such a value are refused later.
  private static func whole(_ value: Double) -> Int64 {
    guard !value.isNaN else { return 0 }
    return Int64((min(max(value, -BoardLimits.coordinate), BoardLimits.coordinate) * FixedPoint.unit).rounded())
  }
}

extension BoardState {
  /// Returns `offset` times the smallest number, at least `first`, for which no moved copy would lie exactly on an
  /// object.
  func freeOffset(ofCopiesAt places: [CopyPlace], by offset: Point, first: Int) -> Point {
    let kinds = Set(places.map { $0.kind })
    var taken: Set<CopyPlace> = []
    for id in storedIDs where isShown(id) {
      guard let record = shown(id), let kind = record.kind, kinds.contains(kind) else { continue }
      if let place = CopyPlace(record) { taken.insert(place) }
    }
    var count = first
    let canMove = places.first.map { $0.moved(by: offset, times: 1) != $0 } ?? false
    while canMove, places.contains(where: { taken.contains($0.moved(by: offset, times: count)) }) { count += 1 }
    return offset * Double(count)
  }
}

extension Board {
  /// Moves drafts of copies so that no copy lies exactly on an object of the board.
  package func separate(_ drafts: inout [ObjectDraft]) throws(BoardError) {
    var places: [CopyPlace] = []
    for draft in drafts { places.append(CopyPlace(draft.kind, at: try draft.place ?? draft.frame.center)) }
    let offset = state.freeOffset(ofCopiesAt: places, by: ObjectDefaults.copyOffset, first: 0)
    guard offset != Point(x: 0, y: 0) else { return }
    for index in drafts.indices { drafts[index].move(by: offset) }
  }
}

struct Duplication {
  private let originals: Set<ObjectID>
  /// The ids of the copied groups, in ascending order.
  private let groups: [ObjectID]
  private let offset: Point

  init(_ ids: [ObjectID], by offset: Point, isExact: Bool, on state: BoardState) throws(BoardError) {
    originals = Set(state.withContents(of: try state.targets(ids)))
    let whole = state.wholeGroups(of: originals)
    groups = whole.union(state.groups(among: ids)).sorted()
    let places = isExact ? [] : originals.compactMap { CopyPlace(state.shown($0)) }
    self.offset = state.freeOffset(ofCopiesAt: places, by: offset, first: 1)
  }

  func stage(on board: Board) throws(BoardError) -> [ObjectID: ObjectID] {
    var copies: [ObjectID: ObjectID] = [:]
    for group in groups { copies[group] = try board.create(.group) }
    for id in board.objectIDs where originals.contains(id) {
      guard let record = board.state.shown(id), let kind = record.kind else { continue }
      let copy = try board.create(kind)
      copies[id] = copy
      try board.stageZIndex(copy)
      try copyCells(of: record, to: copy, on: board)
    }
    for (original, copy) in copies.sorted(by: { $0.key < $1.key }) {
      // A copied line is bound only to other copies. Its other ends are free.
      guard let record = board.state.record(original) else { continue }
      for side in [LineSide.start, .end] {
        guard let binding = record.binding(side), let target = copies[binding.target] else { continue }
        let copied = Binding(to: target, at: binding.anchor, isExact: binding.isExact)
        try board.stage(copy, side.property, copied.value)
      }
    }
    for (original, copy) in copies.sorted(by: { $0.key < $1.key }) {
      guard let frame = board.state.frame(of: original).flatMap({ copies[$0] }) else { continue }
      try board.stage(copy, .frame, .dot(frame.dot))
    }
    let free = copies.values.filter { board.state.frame(of: $0) == nil && board.state.isShown($0) }
    try board.settle(free.sorted())
    for (original, copy) in copies.sorted(by: { $0.key < $1.key }) {
      // An inner group that shows only one object is not copied.
      let copied = board.state.groups(of: original).lazy.compactMap { copies[$0] }.first
      guard let copied else { continue }
      try board.stage(copy, .group, .dot(copied.dot))
    }
    return copies
  }

  private func copyCells(of record: ObjectRecord, to copy: ObjectID, on board: Board) throws(BoardError) {
    try board.stage(copy, .position, try FixedPoint.position(record.origin + offset))
    let plain: [Property] = [
      .scale, .angle, .size, .color, .lineWidth, .lock, .asset, .game, .link, .crop, .flip,
    ]
    for property in plain + Property.looks {
      if let cell = record[property] { try board.stage(copy, property, cell.value) }
    }
    if let setup = record.setup {
      let own = SupportedGame.setup(setup, of: record.gameName, ofCopy: copy, by: board.member)
      try board.stage(copy, .setup, .bytes(own))
    }
    switch record.kind {
    case _ where record.hasText:
      try board.stageText(record.text, of: copy)
      try board.stagePoints(record.linePoints, of: copy)
    case .some(.drawing):
      let ink = record.points
      try board.stageInk(ink, to: copy, first: 0)
      try board.stage(copy, .end, .unsigned(UInt64(ink.count)))
      for value in record.erased.values { try board.stage(copy, .erasure(board.nextDot()), value) }
    default: break
    }
  }
}

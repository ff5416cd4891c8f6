import PeerSession
import Whiteboard
import WhiteboardRendering
import WhiteboardSync

/// Runs the commands that change the board. Owns the aliases of objects, and the reference to the object that was
/// created last. Each function runs one command as one undo step, unless its documentation says otherwise. Confined to
/// the actor of its board.
final class BoardEditor {
  let runtime: BoardRuntime
  let replica: Replica
  /// The reference is weak because the open board owns this object.
  weak var active: ActiveBoard?
  let members: Members
  let photos: PhotoFiles

  var aliases: [ObjectAlias: ObjectID] = [:]
  private(set) var lastObject: ObjectID?
  var stroke: ObjectID?
  private var importing = ImportState.none

  private enum ImportState {
    case none
    case writing(BoardImport)
    /// The import was stopped, and some of its objects might not have been deleted.
    case stopped(remaining: Int)
  }

  var board: Board { replica.board }

  init(_ runtime: BoardRuntime, _ replica: Replica, of active: ActiveBoard, members: Members, photos: PhotoFiles) {
    self.runtime = runtime
    self.replica = replica
    self.active = active
    self.members = members
    self.photos = photos
  }

  // MARK: - Transactions

  /// Makes edits as one undo step. If the board refuses an edit, none of the edits is made.
  func edit<Result>(_ body: (Board) throws(BoardError) -> Result) throws(CommandError) -> Result {
    let active = try openBoard()
    do throws(BoardError) {
      let (result, actions) = try replica.change(now: runtime.now, body)
      active.perform(actions)
      return result
    } catch { throw refusal(error) }
  }

  /// Makes edits that manage their own undo steps, such as an undo; if the board refuses an edit, earlier edits of
  /// `body` remain.
  func editInSteps<Result>(_ body: (Board) throws(BoardError) -> Result) throws(CommandError) -> Result {
    let active = try openBoard()
    let (result, actions) = replica.step(now: runtime.now, body)
    active.perform(actions)
    do throws(BoardError) { return try result.get() } catch { throw refusal(error) }
  }

  private func openBoard() throws(CommandError) -> ActiveBoard {
    guard let active else { throw CommandError(.ending, "the board is closed") }
    return active
  }

  func editAll(_ references: [ObjectReference], _ body: (Board, [ObjectID]) throws(BoardError) -> Void)
    throws(CommandError) -> CommandOutcome
  {
    let ids = try resolve(references)
    return try editAll(ids, asOne: isOne(references)) { (board) throws(BoardError) in try body(board, ids) }
  }

  /// Makes edits that may replace objects with copies (BRD-36); aliases and the outcome then refer to the copies.
  func editAll(_ ids: [ObjectID], asOne: Bool, _ body: (Board) throws(BoardError) -> Void) throws(CommandError)
    -> CommandOutcome
  {
    let incarnation = board.incarnation
    let last = lastSequence(of: incarnation)
    try edit(body)
    var copies: [ObjectID: ObjectID] = [:]
    for sequence in (last + 1)..<(max(last, lastSequence(of: incarnation)) + 1) {
      let copy = ObjectID(Dot(incarnation, sequence))
      guard case .dot(let dot)? = board.state.record(copy)?[.replaces]?.value else { continue }
      copies[ObjectID(dot)] = copy
    }
    var outcome = CommandOutcome.about(ids.map { copies[$0] ?? $0 }, asOne: asOne)
    guard !copies.isEmpty else { return outcome }
    outcome.replaced = copies.sorted { $0.key < $1.key }.map { .init(former: $0.key, id: $0.value) }
    aliases = aliases.mapValues { copies[$0] ?? $0 }
    lastObject = lastObject.map { copies[$0] ?? $0 }
    return outcome
  }

  private func lastSequence(of incarnation: Incarnation) -> UInt64 {
    board.state.context[incarnation].ranges.last?.upperBound ?? 0
  }

  func isOne(_ references: [ObjectReference]) -> Bool { references.count == 1 && references != [.selected] }

  func refusal(_ error: BoardError) -> CommandError {
    if case .unknownObject(let id) = error { return absence(of: id, as: .present) }
    return CommandError(error) { members.label(of: $0) }
  }

  // MARK: - New objects

  func make(_ alias: ObjectAlias?, _ body: (Board) throws(BoardError) -> ObjectID) throws(CommandError)
    -> CommandOutcome
  {
    try check(alias)
    let id = try edit(body)
    name(id, alias)
    return CommandOutcome(id: id)
  }

  func check(_ alias: ObjectAlias?) throws(CommandError) {
    guard let alias, let id = aliases[alias], isNameable(id, as: .present) else { return }
    throw CommandError(.aliasTaken, "\(alias) already names \(id)")
  }

  func name(_ id: ObjectID, _ alias: ObjectAlias? = nil) {
    lastObject = id
    if let alias { aliases[alias] = id }
  }

  nonisolated(nonsending) func addPhoto(_ file: String, at center: Point, _ alias: ObjectAlias?)
    async throws(CommandError) -> CommandOutcome
  {
    try check(alias)
    let (reference, size) = try await storePhoto(file)
    return try make(alias) { (board) throws(BoardError) in try board.createPhoto(reference, at: center, size: size) }
  }

  private nonisolated(nonsending) func storePhoto(_ file: String) async throws(CommandError) -> (AssetReference, Size) {
    defer { checkIsolation(#isolation) }
    let (reference, size) = try await photos.importPhoto(file)
    active?.perform(replica.assetStored(reference.id, now: runtime.now))
    return (reference, size)
  }

  func addGame(_ game: GameName, at center: Point, opponent: String?, _ alias: ObjectAlias?) throws(CommandError)
    -> CommandOutcome
  {
    switch game {
    case .wordle:
      guard opponent == nil else {
        throw CommandError(.badArgument, "wordle is for all members; opponent= is for connect-four")
      }
      return try make(alias) { (board) throws(BoardError) in
        var random = SystemRandomNumberGenerator()
        return try board.createWordle(at: center, language: board.settings.language ?? "en", using: &random)
      }
    case .connectFour:
      let rival = try opponent.map { (word) throws(CommandError) in try members.find(word) }
      return try make(alias) { (board) throws(BoardError) in
        try board.createConnectFour(at: center, opponent: rival.map { MemberID($0) })
      }
    }
  }

  func say(_ words: String, about object: ObjectID? = nil) throws(CommandError) -> CommandOutcome {
    CommandOutcome(
      id: try edit { (board) throws(BoardError) in
        if let icon = members.ownIcon {
          try board.say(words, as: Profile(name: members.ownName, icon: icon), about: object)
        } else {
          try board.say(words, as: members.ownName, about: object)
        }
      }
    )
  }

  // MARK: - Imports

  /// Adds the contents of a file in parts, as one undo step. Between the parts, the board does other work. If the board
  /// closes or refuses a part, the objects of the earlier parts are deleted again.
  nonisolated(nonsending) func add(_ imported: ImportedBoard, isCopy: Bool) async throws(CommandError)
    -> CommandOutcome
  {
    defer { checkIsolation(#isolation) }
    var files = imported.photos
    for case .photo(let asset, _) in imported.objects.map(\.content) {
      guard let bytes = files.removeValue(forKey: asset.id) else { continue }
      try photos.store(bytes, asset)
      active?.perform(replica.assetStored(asset.id, now: runtime.now))
    }
    do throws(BoardError) {
      var objects = imported.objects
      if isCopy { try board.separate(&objects) }
      importing = .writing(try board.beginImport(objects, groups: imported.groups, settings: imported.settings))
    } catch { throw refusal(error) }
    while try writePart() {
      await runtime.room()
      await active?.outbox.room()
      await active?.persistence.room()
      await runtime.yield()
    }
    guard case .writing(let complete) = importing else {
      throw stopped(.ending, "the program ended before the import was complete")
    }
    importing = .none
    let ids = board.endImport(complete)
    if let last = ids.last { name(last) }
    return CommandOutcome(ids: ids)
  }

  /// Writes the next part of the import; returns false if there is none. An error of the board stops the import.
  private func writePart() throws(CommandError) -> Bool {
    guard case .writing(var part) = importing, !part.isComplete else { return false }
    // Clear the property, so that the import has only one reference and is not copied.
    importing = .none
    do throws(CommandError) {
      try editInSteps { (board) throws(BoardError) in try board.writePart(of: &part) }
      importing = .writing(part)
      return true
    } catch {
      importing = .writing(part)
      stopImport()
      throw stopped(error.code, error.message)
    }
  }

  /// Deletes the objects of an import in progress, because the remaining objects will not be added.
  func stopImport() {
    guard case .writing(let part) = importing else { return }
    let (remaining, actions) = replica.step(now: runtime.now) { $0.cancelImport(part) }
    importing = .stopped(remaining: remaining.get())
    active?.perform(actions)
  }

  private func stopped(_ code: CommandError.Code, _ reason: String) -> CommandError {
    guard case .stopped(let remaining) = importing, remaining > 0 else {
      return CommandError(code, "\(reason), so nothing was added")
    }
    let rest = remaining == 1 ? "1 of its objects is" : "\(remaining) of its objects are"
    return CommandError(code, "\(reason); \(rest) on the board")
  }

  nonisolated(nonsending) func importPhoto(_ file: String, at center: Point) async throws(CommandError)
    -> CommandOutcome
  {
    let (reference, size) = try await storePhoto(file)
    let id = try edit { (board) throws(BoardError) in
      try board.gesture("import") { () throws(BoardError) in try board.createPhoto(reference, at: center, size: size) }
    }
    name(id)
    return CommandOutcome(ids: [id], file: file, count: 1)
  }
}

extension BoardEditor {
  enum Nameable {
    case present, deleted
  }

  func resolve(_ references: [ObjectReference]) throws(CommandError) -> [ObjectID] {
    var ids: [ObjectID] = []
    var known: Set<ObjectID> = []
    for reference in references {
      let named = reference == .selected ? try selectedObjects() : [try resolve(reference)]
      for id in named where known.insert(id).inserted { ids.append(id) }
    }
    return ids
  }

  func resolve(_ reference: ObjectReference, among nameable: Nameable = .present) throws(CommandError) -> ObjectID {
    switch reference {
    case .last:
      guard let lastObject else {
        throw CommandError(.noSuchObject, "`last` names no object, because you have not created one yet")
      }
      return lastObject
    case .selected:
      let ids = try selectedObjects()
      guard ids.count == 1 else {
        throw CommandError(.ambiguous, "\(ids.count) objects are selected; this command takes one")
      }
      return ids[0]
    case .alias(let alias):
      guard let id = aliases[alias] else {
        throw CommandError(.noSuchObject, "no object is called \(alias); `objects` lists the ids")
      }
      return id
    case .id(let id):
      guard isNameable(id, as: nameable) else { throw absence(of: id, as: nameable) }
      return id
    case .sequence(let sequence):
      let known = (board.state.records.keys.filter { $0.dot.sequence == sequence }).filter {
        isNameable($0, as: .present) || isNameable($0, as: .deleted)
      }.sorted()
      let found = known.filter { isNameable($0, as: nameable) }
      guard let id = found.first else {
        if let other = known.first { throw absence(of: other, as: nameable) }
        throw missing(sequence, among: nameable)
      }
      guard found.count == 1 else {
        throw CommandError(
          .ambiguous,
          "\(found.count) objects start with \(sequence); give a whole id: "
            + found.prefix(4).map(\.description).joined(separator: ", ")
        )
      }
      return id
    }
  }

  private func missing(_ sequence: UInt64, among nameable: Nameable) -> CommandError {
    switch nameable {
    case .present: CommandError(.noSuchObject, "there is no object \(sequence); `objects` lists the ids")
    case .deleted: CommandError(.noSuchObject, "there is no deleted object \(sequence)")
    }
  }

  func absence(of id: ObjectID, as nameable: Nameable) -> CommandError {
    if nameable == .deleted, isNameable(id, as: .present) { return CommandError(.refused, "\(id) is not deleted") }
    let state = board.state
    if isNameable(id, as: .deleted) {
      return state.record(id)?.kind == .group
        ? CommandError(.noSuchObject, "the group \(id) was ungrouped or deleted")
        : CommandError(.noSuchObject, "\(id) is deleted; `undelete` brings it back")
    }
    guard state.record(id) == nil, state.context.contains(id.dot) else {
      return CommandError(.noSuchObject, "there is no object \(id); `objects` lists the ids")
    }
    return CommandError(.noSuchObject, "there is no object \(id); if there was one, it was purged")
  }

  private func selectedObjects() throws(CommandError) -> [ObjectID] {
    let ids = board.selectedIDs
    guard !ids.isEmpty else { throw CommandError(.noSuchObject, "no object is selected; use `select` first") }
    return ids
  }

  func isNameable(_ id: ObjectID, as nameable: Nameable) -> Bool {
    let state = board.state
    guard let record = state.record(id), let kind = record.kind else { return false }
    switch nameable {
    case .present: return state.isVisible(id) && (kind.isShown || kind == .group)
    case .deleted: return record.isDeleted && (kind.isShown || kind == .group)
    }
  }
}

/// An object to add to a board with ``SharedBoard/add(_:)``.
///
/// Positions are the centers of objects, in board units.
public enum NewObject: Hashable, Sendable {
  /// A text object with at most 8 KiB of UTF-8, and a color as `0xRRGGBBAA`.
  case text(String, at: Point, color: UInt32? = nil)
  /// A stroke through one or more points, with a color as `0xRRGGBBAA` and a width in board units.
  case stroke([Point], color: UInt32? = nil, width: Double = 5)
  /// A photo, given by the path of a JPEG, PNG, GIF or WebP file.
  case photo(file: String, at: Point)
  /// A game of Wordle for all members.
  case wordle(at: Point)
  /// A game of Connect Four against a member. If the member is nil, the first member that makes a move is the opponent.
  case connectFour(at: Point, opponent: SharedBoard.Member? = nil)

  func command() throws(CommandError) -> Command {
    switch self {
    case .text(let words, let place, let color):
      .text(at: try BoardPoint(place), words: words, color: color, alias: nil)
    case .stroke(let points, let color, let width):
      .stroke(
        points: try points.map { (point) throws(CommandError) in try BoardPoint(point) },
        pen: Pen(color: color, width: width),
        seconds: 0,
        alias: nil
      )
    case .photo(let file, let place): .photo(at: try BoardPoint(place), file: file, alias: nil)
    case .wordle(let place): .game(.wordle, at: try BoardPoint(place), opponent: nil, alias: nil)
    case .connectFour(let place, let opponent):
      .game(.connectFour, at: try BoardPoint(place), opponent: opponent?.id.text, alias: nil)
    }
  }
}

extension BoardPoint {
  fileprivate init(_ point: Point) throws(CommandError) {
    guard let valid = BoardPoint(x: point.x, y: point.y) else {
      throw CommandError(
        .badArgument,
        "the point \(point.x),\(point.y) is outside the board, whose coordinates go from -33554432 to 33554431"
      )
    }
    self = valid
  }
}

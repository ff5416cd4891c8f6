import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Reports the changes of the board, also as events. Owns the objects, games and settings that were reported last.
/// Changes by hidden authors are not reported to the sink, and their events are marked. Confined to the actor of its
/// board.
final class BoardReports {
  private let runtime: BoardRuntime
  private let replica: Replica
  private let members: Members
  private let photos: PhotoFiles
  let hiddenAuthors: HiddenAuthors

  /// A copy of the board, made when no report of a known object was missing. Unlike snapshots, the copy shares its
  /// memory with the board.
  private var source: ObjectSource
  /// The objects that were reported since the copy was made; nil for removed objects.
  private var objects: [ObjectID: ObjectSnapshot?] = [:]
  private static let mostObjects = 1024
  private var games: [ObjectID: GameView] = [:]
  private(set) var settings = BoardSettings()

  private var board: Board { replica.board }

  private var readsObjects: Bool { runtime.sink.contents.contains(.objects) }

  init(
    _ runtime: BoardRuntime,
    _ replica: Replica,
    members: Members,
    photos: PhotoFiles,
    hiddenAuthors: HiddenAuthors
  ) {
    self.runtime = runtime
    self.replica = replica
    self.members = members
    self.photos = photos
    self.hiddenAuthors = hiddenAuthors
    source = replica.board.objectSource
  }

  /// Passes the stored board to the sink, without events.
  func showStoredBoard() {
    source = board.objectSource
    if runtime.sink.contents.contains(.stored) {
      for snapshot in board.snapshots where !isHidden(snapshot.id) { show(snapshot) }
    }
    // The stored settings are not reported as a change.
    _ = board.takeSettingsChange()
    runtime.sink.boardChanged(.settings(board.settings))
    settings = board.settings
  }

  // MARK: - Objects

  private func reported(_ id: ObjectID) -> ObjectSnapshot? { objects[id] ?? source.snapshot(id) }

  /// Makes a new copy of the board if many objects were reported since the last copy, and no report of a known object
  /// is missing. Call this function only if no action of the replica is left.
  func didReport() {
    guard objects.count > Self.mostObjects, replica.hasReportedAll else { return }
    source = board.objectSource
    objects = [:]
  }

  /// `sender` is the member that sent the object; nil if it was added here.
  func objectAdded(_ snapshot: ObjectSnapshot, by sender: MemberID?) {
    let member = sender.map { restorer(of: snapshot.id) ?? author(of: snapshot.id) ?? $0 }
    objects[snapshot.id] = .some(snapshot)
    games[snapshot.id] = game(snapshot)
    report(games[snapshot.id])
    report(.added(snapshot, by: members.author(member)), about: snapshot.id, by: member) { description(snapshot) }
  }

  /// Reports a changed object, without a line if only the selection changed.
  func objectChanged(_ snapshot: ObjectSnapshot, by member: MemberID?) {
    guard let old = reported(snapshot.id) else { return objectAdded(snapshot, by: member) }
    objects[snapshot.id] = .some(snapshot)
    let game = game(snapshot)
    let hasGameChanged = games[snapshot.id] != game
    games[snapshot.id] = game
    if hasGameChanged { report(game) }
    let change = SharedBoard.Change.changed(snapshot, by: members.author(member))
    let keys = readsObjects ? ReportedObject.changedKeys(old, snapshot) + (hasGameChanged ? ["game"] : []) : []
    guard !keys.isEmpty else { return report(change, about: snapshot.id) }
    report(change, about: snapshot.id, by: member) { description(snapshot, since: old, keys) }
  }

  /// Returns the member that last deleted or restored an object. A member that answers a request passes on the changes
  /// of all members, so the sender of an object can be another member.
  private func restorer(of id: ObjectID) -> MemberID? {
    board.state.record(id)?[.deleted].flatMap { board.member(of: $0.dot.incarnation) }
  }

  func objectRemoved(_ id: ObjectID, by sender: MemberID?) {
    let member = sender.map { restorer(of: id) ?? $0 }
    objects[id] = .some(nil)
    games[id] = nil
    report(.removed(id, by: members.author(member)), about: id, by: member)
  }

  func selected(_ id: ObjectID, by member: MemberID?) {
    let change = SharedBoard.Change.selected(id, by: member.map { members.author($0) })
    guard readsObjects else { return report(change, about: id) }
    let name = member.flatMap { members.name(of: $0) }
    runtime.report(change, .init(member: member, name: name, isHidden: isHidden(id)))
  }

  func selectionLost(_ id: ObjectID, to winner: MemberID) {
    runtime.emit(.selectionLost(id, to: winner, name: members.name(of: winner)))
  }

  // MARK: - Chat and settings

  /// Reports a line of the chat; the sink receives the line only if the author is not hidden.
  func chatAdded(_ line: ChatLine, by member: MemberID?) {
    let change = SharedBoard.Change.chat(line, by: members.author(member))
    guard runtime.sink.contents.contains(.chat), !isHidden(line.id) else { return report(change, about: line.id) }
    runtime.report(change, .init(member: line.author))
  }

  var chat: [ChatLine] { board.chat.filter { !isHidden($0.id) } }

  /// Reports changed settings; returns whether the title changed.
  func reportSettings() -> Bool {
    guard board.takeSettingsChange() else { return false }
    let keys = board.settings.changedKeys(since: settings)
    settings = board.settings
    if !keys.isEmpty { runtime.report(.settings(settings), .init(keys: keys)) }
    return keys.contains("title")
  }

  // MARK: - Pointers and strokes

  func strokeContinued(_ preview: StrokePreview) { report(.preview(preview), about: preview.stroke) }

  func presenceChanged(_ presence: Presence, of member: MemberID) {
    runtime.report(.presence(presence, of: members.described(member)), isHidden: hiddenAuthors.contains(member))
  }

  // MARK: - Hidden authors

  /// Reports a change for which no line is printed. The sink receives the change only if its author is not hidden.
  private func report(_ change: SharedBoard.Change, about id: ObjectID) {
    runtime.report(change, isHidden: isHidden(id))
  }

  /// Reports a change with a line, if the sink reads objects. If `member` is nil, the local member made the change.
  private func report(
    _ change: SharedBoard.Change,
    about id: ObjectID,
    by member: MemberID?,
    _ object: () -> ReportedObject? = { nil }
  ) {
    guard readsObjects else { return report(change, about: id) }
    runtime.report(change, .init(member: member ?? board.member, isHidden: isHidden(id), object: object()))
  }

  private func report(_ game: GameView?) { if let game { report(.game(game), about: game.id) } }

  private func show(_ snapshot: ObjectSnapshot) {
    if let game = game(snapshot) { runtime.sink.boardChanged(.game(game)) }
    runtime.sink.boardChanged(.added(snapshot, by: members.author(author(of: snapshot.id))))
  }

  /// Shows or hides all objects of an author, and hides the author's pointer; returns the number of objects.
  @discardableResult func setShown(_ isShown: Bool, author: MemberID) -> Int {
    let affected = objectsOfAuthor(author)
    for snapshot in affected {
      if isShown { show(snapshot) } else { runtime.sink.boardChanged(.removed(snapshot.id, by: .me)) }
    }
    if !isShown { runtime.sink.boardChanged(.presence(Presence(), of: members.described(author))) }
    if board.chat.contains(where: { $0.author == author }) { runtime.answer(.chat(chat), to: nil) }
    return affected.count
  }

  func objectsOfAuthor(_ author: MemberID) -> [ObjectSnapshot] {
    board.snapshots.filter { self.author(of: $0.id) == author }
  }

  // MARK: - Descriptions

  func description(
    _ snapshot: ObjectSnapshot,
    since known: ObjectSnapshot? = nil,
    _ changed: [String] = []
  ) -> ReportedObject {
    ReportedObject(
      snapshot,
      game: game(snapshot).flatMap { GameDescription($0) { members.label(of: $0) } },
      path: snapshot.asset.flatMap { photos.existingPath($0.id) },
      since: known,
      changed: changed
    )
  }

  /// The current objects of the board. The reader of the list describes the objects, because this takes a long time on
  /// a large board.
  var listedObjects: ListedObjects {
    let source = board.objectSource
    let paths = photos.existingPaths
    let authors = Set(board.authors.values)
    let names = Dictionary(uniqueKeysWithValues: authors.map { ($0, members.label(of: $0)) })
    return ListedObjects(
      count: source.state.shownCount,
      ids: { source.objectIDs },
      describe: { id in
        guard let snapshot = source.snapshot(id) else { return nil }
        let game = snapshot.kind == .game ? source.gameView(id) : nil
        return ReportedObject(
          snapshot,
          game: game.flatMap { GameDescription($0) { names[$0] ?? $0.description } },
          path: snapshot.asset.flatMap { paths[$0.id] }
        )
      }
    )
  }

  func description(ofGroup id: ObjectID) -> ReportedObject? {
    guard board.state.isGroup(id) else { return nil }
    let members = board.members(ofGroup: id).compactMap { board.snapshot($0) }
    let snapshot = ObjectSnapshot(
      group: id,
      of: members,
      within: board.groups(of: id),
      bounds: board.bounds(of: [id]) ?? Rectangle(Point(x: 0, y: 0), Point(x: 0, y: 0))
    )
    return ReportedObject(snapshot, members: members.map(\.id))
  }

  private func game(_ snapshot: ObjectSnapshot) -> GameView? {
    guard snapshot.kind == .game else { return nil }
    return board.gameView(snapshot.id, for: board.member)
  }

  private func isHidden(_ id: ObjectID) -> Bool {
    guard !hiddenAuthors.isEmpty, let author = author(of: id) else { return false }
    return hiddenAuthors.contains(author)
  }

  private func author(of id: ObjectID) -> MemberID? { board.member(of: id.dot.incarnation) }
}

extension SharedBoard.News.Remark {
  init(_ report: ClockReport, of name: String?) {
    self.init(
      code: report.finding == .isRight ? "clock-right" : "clock-off",
      message: ClockText.message(report, of: name),
      peer: report.member.description,
      difference: Double(report.difference) / 1000
    )
  }

  /// Returns nil unless the document was last written at a time ahead of the local clock. In this case, the clock was
  /// wrong then, or has been set back since then.
  init?(clockBehind content: DocumentContent, of member: MemberID, now: Int64) {
    guard let last = content.entries.reversed().lazy.compactMap(\.time).first ?? content.keyframe?.time, last > now,
      last - now > Int64(BoardLimits.clockDifference)
    else { return nil }
    self.init(
      code: "clock-off",
      message: ClockText.setBack(now: now, lastSaved: last),
      peer: member.description,
      difference: Double(now - last) / 1000
    )
  }
}

extension DocumentEntry {
  fileprivate var time: Int64? {
    switch self {
    case .batch(_, let time), .answer(_, let time), .marker(_, let time), .end(let time): time
    case .gap(_, let end): end
    case .author, .head, .name, .traffic: nil
    }
  }
}

enum ClockText {
  static func message(_ report: ClockReport, of name: String?) -> String {
    let difference = duration(report.difference.magnitude)
    let side = report.difference < 0 ? "behind" : "ahead of"
    switch (report.finding, name) {
    case (.isOff, nil):
      return "The clock of this computer is \(difference) \(side) the clocks of most other members. "
        + "Set the clock; otherwise, your changes will show wrong times."
    case (.isOff, let name?):
      return "The clock of \(name) is \(difference) \(side) the clocks of most other members. "
        + "Until that clock is set, the changes by this member will show wrong times."
    case (.differs, _):
      let other = name ?? "another member"
      return "The clock of \(other) is \(difference) \(side) the clock of this computer. "
        + "Check the date and time on both computers."
    case (.isRight, nil): return "The clock of this computer agrees with the others again."
    case (.isRight, let name?): return "The clock of \(name) agrees with the others again."
    }
  }

  static func setBack(now: Int64, lastSaved: Int64) -> String {
    let (here, then) = (
      Timestamp.text(milliseconds: UInt64(clamping: now)), Timestamp.text(milliseconds: UInt64(clamping: lastSaved))
    )
    return "The clock of this computer says \(here), \(duration((lastSaved - now).magnitude)) before "
      + "this board was last saved (\(then)). The clock was ahead then, or is behind now. " + "Check the date and time."
  }

  /// Returns a duration, such as `20 years`, in the largest unit that fits at least twice.
  static func duration(_ milliseconds: UInt64) -> String {
    let units: [(milliseconds: UInt64, name: String)] = [
      (31_557_600_000, "year"), (86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"),
    ]
    let unit = units.first { milliseconds >= 2 * $0.milliseconds } ?? units[units.count - 1]
    let count = (milliseconds + unit.milliseconds / 2) / unit.milliseconds
    return EventText.count(Int(clamping: count), unit.name)
  }
}

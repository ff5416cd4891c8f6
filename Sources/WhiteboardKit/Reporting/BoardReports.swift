import PeerSession
import Whiteboard
import WhiteboardSync

/// Reports changes of the board as events, and shows them on the screen.
///
/// Owns the last reported objects, games and settings. Changes by hidden authors are not shown, and their events are
/// marked. Confined to the actor of its board.
final class BoardReports {
  private let runtime: BoardRuntime
  private let replica: Replica
  private let members: Members
  private let photos: PhotoFiles
  let hiddenAuthors: HiddenAuthors
  private let publisher: ChangePublisher

  private var objects: [ObjectID: ObjectSnapshot] = [:]
  private var games: [ObjectID: GameView] = [:]
  private(set) var settings = BoardEvent.SettingsDescription()

  private var board: Board { replica.board }

  private var readsObjects: Bool { runtime.sink.contents.contains(.objects) }

  init(
    _ runtime: BoardRuntime,
    _ replica: Replica,
    members: Members,
    photos: PhotoFiles,
    hiddenAuthors: HiddenAuthors,
    publisher: ChangePublisher
  ) {
    self.runtime = runtime
    self.replica = replica
    self.members = members
    self.photos = photos
    self.hiddenAuthors = hiddenAuthors
    self.publisher = publisher
  }

  /// Shows the board as it was stored, without events.
  func showStoredBoard() {
    for snapshot in board.snapshots {
      objects[snapshot.id] = snapshot
      showOnScreen(.shown(snapshot, game(snapshot)))
    }
    // The stored settings are not reported as a change.
    _ = board.takeSettingsChange()
    settings = BoardEvent.SettingsDescription(board.settings)
  }

  // MARK: - Objects

  func objectAdded(_ snapshot: ObjectSnapshot, by member: MemberID?) {
    objects[snapshot.id] = snapshot
    games[snapshot.id] = game(snapshot)
    showOnScreen(.shown(snapshot, games[snapshot.id]))
    emitAdded(snapshot, by: member)
  }

  /// Reports a changed object, unless only its selection changed.
  func objectChanged(_ snapshot: ObjectSnapshot, by member: MemberID?) {
    let old = objects.updateValue(snapshot, forKey: snapshot.id)
    let game = game(snapshot)
    let hasGameChanged = games[snapshot.id] != game
    games[snapshot.id] = game
    showOnScreen(.shown(snapshot, game))
    guard readsObjects else { return }
    guard let old else { return emitAdded(snapshot, by: member) }
    let keys = BoardEvent.ObjectDescription.changedKeys(old, snapshot) + (hasGameChanged ? ["game"] : [])
    guard !keys.isEmpty else { return }
    var object = description(snapshot)
    object.leaveOutKnown(from: old, changed: keys)
    runtime.emit(
      .objectChanged(
        .init(
          id: snapshot.id.description,
          changed: keys,
          object: object,
          by: author(member),
          hidden: hiddenMark(snapshot.id)
        )
      )
    )
  }

  func objectRemoved(_ id: ObjectID, by member: MemberID?) {
    objects[id] = nil
    games[id] = nil
    showOnScreen(.removed(id))
    guard readsObjects else { return }
    runtime.emit(.objectRemoved(.init(id: id.description, by: author(member), hidden: hiddenMark(id))))
  }

  private func emitAdded(_ snapshot: ObjectSnapshot, by member: MemberID?) {
    guard readsObjects else { return }
    runtime.emit(
      .objectAdded(
        .init(
          id: snapshot.id.description,
          object: description(snapshot),
          by: author(member),
          hidden: hiddenMark(snapshot.id)
        )
      )
    )
  }

  /// Reports that a member selected an object, or that the object is no longer selected.
  func selected(_ id: ObjectID, by member: MemberID?) {
    if let snapshot = board.snapshot(id) { showOnScreen(.shown(snapshot, games[id])) }
    guard readsObjects else { return }
    runtime.emit(
      .selected(.init(id: id.description, peer: member?.description, name: member.flatMap { members.name(of: $0) }))
    )
  }

  func selectionLost(_ id: ObjectID, to winner: MemberID) {
    runtime.emit(
      .selected(.init(id: id.description, peer: winner.description, name: members.name(of: winner), lostByUs: true))
    )
  }

  // MARK: - Chat and settings

  /// Reports a line of the chat, unless its author is hidden.
  func chatAdded(_ line: ChatLine) {
    guard runtime.sink.contents.contains(.chat), !isHidden(line.id) else { return }
    runtime.emit(.chat(.init(line)))
  }

  /// Emits the chat without the lines of hidden authors.
  func emitChat(request: RequestMark?) {
    let lines = board.chat.filter { !isHidden($0.id) }.map(BoardEvent.Chat.init)
    runtime.emit(.chatHistory(.init(count: lines.count, lines: lines, request: request)))
  }

  /// Reports the settings that changed since the last call; returns whether the title changed.
  func reportSettings() -> Bool {
    guard board.takeSettingsChange() else { return false }
    let new = BoardEvent.SettingsDescription(board.settings)
    let keys = BoardEvent.SettingsDescription.changedKeys(settings, new)
    settings = new
    if !keys.isEmpty {
      runtime.emit(.settingChanged(.init(changed: keys, settings: new)))
      publisher.publish(.settings(board.settings))
    }
    return keys.contains("title")
  }

  // MARK: - The screen

  /// Shows a change on the screen, unless its author is hidden.
  func showOnScreen(_ change: BoardChange) {
    if !hiddenAuthors.isEmpty, let author = author(of: change), hiddenAuthors.contains(author) { return }
    runtime.sink.boardChanged(change)
  }

  /// Shows or hides all objects of an author, and hides the author's pointer; returns the number of objects.
  func setShown(_ isShown: Bool, author: MemberID) -> Int {
    let affected = objectsOfAuthor(author)
    for snapshot in affected {
      runtime.sink.boardChanged(isShown ? .shown(snapshot, games[snapshot.id]) : .removed(snapshot.id))
    }
    if !isShown { runtime.sink.boardChanged(.presence(author, Presence())) }
    if board.chat.contains(where: { $0.author == author }) { emitChat(request: nil) }
    return affected.count
  }

  func objectsOfAuthor(_ author: MemberID) -> [ObjectSnapshot] {
    objects.values.filter { self.author(of: $0.id) == author }
  }

  // MARK: - Descriptions

  func description(_ snapshot: ObjectSnapshot) -> BoardEvent.ObjectDescription {
    BoardEvent.ObjectDescription(
      snapshot,
      game: game(snapshot).flatMap { GameDescription($0) { members.label(of: $0) } },
      path: snapshot.asset.flatMap { photos.existingPath($0.id) }
    )
  }

  func description(ofGroup id: ObjectID) -> BoardEvent.ObjectDescription? {
    guard board.state.isGroup(id) else { return nil }
    let none = Rectangle(Point(x: 0, y: 0), Point(x: 0, y: 0))
    return BoardEvent.ObjectDescription(
      group: id,
      of: board.members(ofGroup: id).compactMap { board.snapshot($0) },
      within: board.groups(of: id),
      board.bounds(of: [id]) ?? none
    )
  }

  /// Returns the local member's view of a game; nil if the object is not a game.
  private func game(_ snapshot: ObjectSnapshot) -> GameView? {
    guard snapshot.kind == .game else { return nil }
    return board.gameView(snapshot.id, for: board.member)
  }

  /// True for an object of a hidden author; otherwise nil, so that events omit the key.
  private func hiddenMark(_ id: ObjectID) -> Bool? { isHidden(id) ? true : nil }

  private func isHidden(_ id: ObjectID) -> Bool {
    guard !hiddenAuthors.isEmpty, let author = author(of: id) else { return false }
    return hiddenAuthors.contains(author)
  }

  private func author(of change: BoardChange) -> MemberID? {
    switch change {
    case .shown(let snapshot, _): author(of: snapshot.id)
    case .preview(let preview): author(of: preview.stroke)
    case .presence(let member, _): member
    case .removed, .photo, .saving: nil
    }
  }

  private func author(of id: ObjectID) -> MemberID? { board.member(of: id.dot.incarnation) }

  /// Returns the id of the member that made a change; nil means the local member.
  private func author(_ member: MemberID?) -> String { (member ?? board.member).description }
}

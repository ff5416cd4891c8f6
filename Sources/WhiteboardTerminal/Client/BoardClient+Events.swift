import CommandLines
import Whiteboard
import WhiteboardKit
import WhiteboardPictures
import WhiteboardRendering
import WhiteboardSync

/// The events of the board, and the changes of its objects.
extension BoardClient {
  // MARK: - Board

  /// Applies a change of the board to the screen.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - time: The time on the client's clock; nil uses the time of the last event.
  package mutating func applyChange(_ change: BoardChange, now time: Duration? = nil) {
    if let time { now = time }
    // These effects change the screen, and send no command.
    switch change {
    case .shown(let snapshot, let game):
      _ = apply(workspace.showObject(snapshot, game))
      if case .wordle(let view)? = game?.detail, view.answer != nil { prompt.endGame(snapshot.id) }
    case .removed(let id): _ = apply(workspace.remove(id))
    case .preview(let preview): workspace.scene.canvas.preview(preview.points, from: preview.first, of: preview.stroke)
    case .presence(let member, let presence): session.members.show(presence, of: member, now: now)
    case .photo: break
    case .saving(let state): saveStatus.state = state
    }
    workspace.settleTyping()
  }

  /// Shows a photo in the cells of the board.
  package mutating func showPhoto(_ pixels: PhotoPixels, of asset: AssetID) {
    workspace.scene.canvas.setPhoto(pixels, of: asset)
  }

  /// Leaves cells blank if they contain photos that the terminal shows as pixels.
  package mutating func leaveBlank(_ assets: Set<AssetID>) {
    guard workspace.scene.canvas.shownAsPixels != assets else { return }
    workspace.scene.canvas.shownAsPixels = assets
  }

  /// Sets the background color of the terminal; nil if it is unknown.
  package mutating func setBackground(_ background: UInt32?) { workspace.scene.canvas.paper = Paper(background) }

  // MARK: - Events

  /// Handles an event of the board.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - time: The time on the client's clock; nil uses the time of the last event.
  /// - Returns: The actions for the owner of the client.
  package mutating func receive(_ event: BoardEvent, now time: Duration? = nil) -> [Action] {
    if let time { now = time }
    if let answer = Answer(event) { show(answer) }
    var actions: [Action] = []
    switch event {
    case .ready(let ready):
      session.begin(ready)
      workspace.scene.ownID = MemberID(text: ready.peer)
      return [Command.settings, .chat].map { .command(CommandRequest($0)) }
    case .done(let done): actions = finish(done)
    case .error(let failure): fail(failure)
    case .settings(let answer): show(answer.settings)
    case .settingChanged(let change): show(change.settings)
    case .selected(let selected) where selected.lostByUs == true:
      say("\(selected.name?.displayed ?? "a member") has selected it")
    case .warning(let warning): show(warning)
    case .note(let note): show(note: note)
    default: actions = apply(session.receive(event, now: now))
    }
    workspace.scene.canvas.names = session.names(ownID: workspace.scene.ownID)
    return actions
  }

  private mutating func show(_ answer: Answer) {
    switch answer {
    case .panel(let title, let lines): open(Panel(title, .lines(lines)))
    case .message(let text): say(text)
    case .chat: openChat()
    case .invitation(let link): overlay = .invitation(link)
    }
  }

  private mutating func show(_ settings: BoardEvent.SettingsDescription) {
    workspace.scene.canvas.grid = settings.grid.flatMap { $0 > 0 ? $0 : nil }
    workspace.scene.canvas.background = settings.background.flatMap { ColorText.rgba(of: $0) }.map { $0 >> 8 }
    session.board.title = settings.title
  }

  private mutating func show(_ warning: BoardEvent.Remark) {
    // No message is needed, because the screen shows this problem for as long as it lasts.
    if warning.code == BoardEvent.Remark.notSaved { return }
    if warning.code == BoardEvent.Remark.discoveryUnavailable { session.board.isDiscoveryUnavailable = true }
    messages.showProblem(warning.message, at: now)
  }

  private mutating func show(note: BoardEvent.Remark) {
    switch note.code {
    // The panel shows the help.
    case "help": return
    case BoardEvent.Remark.invitationEnded:
      session.questions.removeInvitation(note.invitation)
      say(note.message)
      return
    case BoardEvent.Remark.webRevoked: session.board.webLink = nil
    case BoardEvent.Remark.announced:
      // The panel for invitations shows it.
      session.board.isAnnounced = true
      session.board.isDiscoveryUnavailable = false
      return
    case BoardEvent.Remark.discoveryAvailable: session.board.isDiscoveryUnavailable = false
    default: break
    }
    say(Notice.causeFirst(note.message))
  }

  private mutating func finish(_ done: BoardEvent.Done) -> [Action] {
    guard let request = done.request?.number else { return [] }
    if done.verb.changesBoard { session.members.countWaitingChange() }
    let effects = workspace.finish(request, created: done.id, all: done.ids)
    if done.verb == .game, let id = done.id { prompt.gameBegan(id, by: request) }
    messages.actionSucceeded(request)
    let typed = typedCommands.removeValue(forKey: request)
    if let message = Answer.message(done, typed: typed, keys) { say(message) }
    return apply(effects)
  }

  private mutating func fail(_ failure: BoardEvent.Failure) {
    if let request = failure.request?.number {
      workspace.fail(request)
      prompt.gameFailed(by: request)
      typedCommands[request] = nil
    }
    showFailure(explained(failure))
  }

  /// Returns the message of a failure; for a locked object, it names the key that unlocks it.
  private func explained(_ failure: BoardEvent.Failure) -> String {
    guard failure.code == CommandError.Code.locked.rawValue, let key = keys.key(for: .lock) else {
      return failure.message
    }
    let id = failure.message.split(separator: " ").first.flatMap { ObjectID(String($0)) }
    let kind = id.flatMap { workspace.scene.snapshot($0)?.kind.name } ?? "object"
    let isSelected = workspace.scene.selectedSnapshots.contains { $0.isLocked }
    return isSelected
      ? "the \(kind) is locked; press \(key) to unlock it"
      : "the \(kind) is locked; select it and press \(key) to unlock it"
  }
}

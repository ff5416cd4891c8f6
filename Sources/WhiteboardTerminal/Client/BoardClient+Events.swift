import CommandLines
import Whiteboard
import WhiteboardNode
import WhiteboardPictures
import WhiteboardRendering
import WhiteboardSync

/// Changes of the board, and events of the node.
extension BoardClient {
  // MARK: - Board

  /// Shows a change of the board.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - time: The time on the client's clock; the time of the last event if it is not known.
  package mutating func receive(_ change: BoardChange, now time: Duration? = nil) {
    if let time { now = time }
    switch change {
    case .shown(let snapshot, let game): show(snapshot, game)
    case .removed(let id):
      scene.remove(id)
      if typing?.id == id {
        typing = nil
        say("the text was deleted")
      }
    case .preview(let preview):
      scene.canvas.preview(preview.points, from: preview.first, of: preview.stroke)
    case .presence(let member, let presence):
      members.show(presence, of: member.description, now: now)
    case .photo: break
    case .saving(let state): saveStatus.state = state
    }
    settleTyping()
  }

  private mutating func show(_ snapshot: ObjectSnapshot, _ game: GameView?) {
    let (isSelected, isNewTurn) = scene.show(snapshot, game)
    if isNewTurn {
      say("Your turn in Connect Four: \(keys.key(for: .connectFour) ?? ":play") plays")
    }
    if isSelected, let cell = pendingMenu {
      pendingMenu = nil
      openMenu(at: cell)
    }
    toolbox.previewStroke(on: &scene)
  }

  /// Shows a photo in the cells of the board.
  package mutating func show(_ pixels: PhotoPixels, of asset: AssetID) {
    scene.canvas.setPhoto(pixels, of: asset)
  }

  /// Leaves the cells of photos blank that the terminal shows as pixels.
  package mutating func leaveBlank(_ assets: Set<AssetID>) {
    if scene.canvas.shownAsPixels != assets { scene.canvas.shownAsPixels = assets }
  }

  /// Sets the background color of the terminal, as far as it is known.
  package mutating func draw(on background: UInt32?) { scene.canvas.paper = Paper(background) }

  // MARK: - Events

  /// Handles an event of the node.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - time: The time on the client's clock; the time of the last event if it is not known.
  /// - Returns: What must be done.
  package mutating func receive(_ event: NodeEvent, now time: Duration? = nil) -> [Action] {
    if let time { now = time }
    if let answer = Answer(event) { show(answer) }
    switch event {
    case .ready(let ready):
      begin(ready)
      return [Command.settings, .chat].map { .command(CommandRequest($0)) }
    case .joining(let joining): connection?.show(joining)
    case .caughtUp: board.isAwaited = false
    case .done(let done): finish(done)
    case .error(let failure):
      if let request = failure.request?.number {
        requests.finish(request)
        typing?.finish(request)
        pendingMenu = nil
        settleTyping()
      }
      messages.showProblem(failure.message, at: now)
    case .settings(let answer): show(answer.settings)
    case .settingChanged(let change): show(change.settings)
    case .selected(let selected) where selected.lostByUs == true:
      say("\(Members.shown(selected.name ?? "a member")) has selected it")
    case .warning(let warning): show(warning)
    case .note(let note): show(note: note)
    default:
      receiveMembers(event)
      receiveQuestions(event)
    }
    scene.canvas.names = names
    return []
  }

  private mutating func begin(_ ready: NodeEvent.Ready) {
    scene.ownID = ready.peer
    connection = nil
    board.id = ready.board
    board.setName(ready.boardName)
    board.link = ready.link
    board.joinCode = ready.code
    board.isAnnounced = ready.announced
  }

  private mutating func show(_ answer: Answer) {
    switch answer {
    case .panel(let title, let lines): open(Panel(title, .lines(lines)))
    case .message(let text): say(text)
    case .chat: openChat()
    }
  }

  private mutating func show(_ settings: NodeEvent.SettingsDescription) {
    scene.grid = settings.grid
    board.setTitle(settings.title)
  }

  private mutating func show(_ warning: NodeEvent.Remark) {
    // The screen shows this problem for as long as it lasts.
    if warning.code == NodeEvent.Remark.notSaved { return }
    if warning.code == NodeEvent.Remark.discoveryUnavailable { board.isDiscoveryUnavailable = true }
    messages.showProblem(warning.message, at: now)
  }

  private mutating func show(note: NodeEvent.Remark) {
    switch note.code {
    // The panel shows the help.
    case "help": return
    case NodeEvent.Remark.invitationEnded:
      questions.removeInvitation(note.invitation)
      say(note.message)
      return
    case NodeEvent.Remark.discoveryAvailable: board.isDiscoveryUnavailable = false
    default: break
    }
    say(Notice.causeFirst(note.message))
  }

  private mutating func finish(_ done: NodeEvent.Done) {
    guard let request = done.request?.number else { return }
    requests.finish(request)
    if CommandName(rawValue: done.verb)?.changesBoard == true { members.countWaitingChange() }
    let id = done.id.flatMap { ObjectID($0) }
    typing?.finish(request, created: id)
    settleTyping()
    if let id { toolbox.created(id, by: request) }
    toolbox.previewStroke(on: &scene)
    if let message = Answer.message(done, keys) { say(message) }
  }

  // MARK: - Members

  private mutating func receiveMembers(_ event: NodeEvent) {
    switch event {
    case .peerFound(let board), .peerUpdated(let board): members.found(board)
    case .peerLost(let board): members.lost(board)
    case .joined(let peer):
      let isNews = members.join(peer.peer, name: peer.name, now: now)
      removal.joined(peer.peer)
      if isNews { chat.remark("\(Members.shown(peer.name)) joined") }
    case .left(let peer):
      if let remark = members.leave(peer) { chat.remark(remark) }
    case .removed(let removed): remove(removed)
    case .carried(let relay):
      let name = relay.name.isEmpty ? "a relay" : "the relay \(Members.shown(relay.name))"
      chat.remark("\(name) keeps the board open when you leave")
    case .peerState(let state): members.show(state, now: now)
    case .profile(let profile): members.show(profile)
    case .role(let role):
      if let line = EventText.line(.role(role)) { chat.remark(line) }
    case .chat(let line):
      append(line)
      announce(line)
    case .chatHistory(let history):
      // A history that the user asked for is shown in the panel.
      guard history.request == nil else { break }
      chat.removeAll()
      for line in history.lines { append(line) }
    default: break
    }
  }

  /// Shows that the host removed the local member, or that the user continues alone.
  private mutating func remove(_ removed: NodeEvent.Removed) {
    removal.show(removed, now: now)
    members.removeAll()
    questions.removeAll()
    chat.remark(removed.message)
    guard removed.readOnly else { return }
    typing = nil
    prompt.close()
    toolbox.discardGesture()
    overlay = nil
  }

  private mutating func append(_ line: NodeEvent.Chat) {
    chat.append(ChatLog.Line(name: line.name, key: line.peer, text: line.text))
  }

  /// Shows a chat line as a message if no chat is visible.
  private mutating func announce(_ line: NodeEvent.Chat) {
    guard !layout.hasSidePanel, !isChatOpen else {
      chat.unreadCount = 0
      return
    }
    chat.unreadCount += 1
    let text = TerminalText.cleaned(line.text, limit: 500)
    messages.show("\(Members.shown(line.name)): \(text)", .chat, at: now)
  }

  /// The names of members in game panels.
  private var names: [MemberID: String] {
    var names: [MemberID: String] = [:]
    for (key, member) in members.all {
      if let id = MemberID(key) { names[id] = member.name }
    }
    if let id = MemberID(scene.ownID) { names[id] = "you" }
    return names
  }

  // MARK: - Questions

  private mutating func receiveQuestions(_ event: NodeEvent) {
    switch event {
    case .invitation(let invitation) where invitation.mustAnswer:
      questions.add(invitation)
      closeInformation()
    case .resourceOffered(let offer):
      questions.add(offer)
      closeInformation()
    case .resourceFinished(let end) where end.direction == .incoming:
      guard questions.finish(end.transfer) else { break }
      if let line = EventText.line(.resourceFinished(end)) { say(line) }
    default: break
    }
  }

  /// Closes a panel, so that it does not cover a question.
  private mutating func closeInformation() {
    switch overlay {
    case .invitation, .panel: overlay = nil
    case .menu, .unsavedQuestion, nil: break
    }
  }
}

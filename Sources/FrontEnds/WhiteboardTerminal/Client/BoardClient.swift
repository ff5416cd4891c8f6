import CommandLines
import PeerCore
import Whiteboard
import WhiteboardKit
import WhiteboardPictures
import WhiteboardRendering
import WhiteboardSync

/// A client that turns user input and board events into commands and a screen. It uses no terminal, no clock and no
/// ``SharedBoard``. Each part of the state has an owner, such as ``Workspace`` or ``SessionState``. The client passes
/// input and events to the owners, and performs the effects that they return.
package struct BoardClient: Sendable {
  package enum Action: Equatable, Sendable {
    case command(CommandRequest)
    case quit, redraw, suspend
    case clipboard(String)
    /// Store a drawing from the system clipboard, for the next `paste`.
    case storeCopies(String)
    /// Open an address in the user's browser.
    case open(String)
    /// Find the files whose paths begin with this text, for ``BoardClient/complete(files:for:)``.
    case findFiles(String)
  }

  /// The time of the last event on the client's clock.
  var now = Duration.zero
  let keys: KeyMap
  /// Whether a laser pointer leaves a trail.
  package var allowsMotion = true
  package var showsLinks = false

  var layout: ScreenLayout
  var workspace: Workspace
  var session = SessionState()
  var saveStatus = SaveStatus()
  var prompt = Prompt()
  var messages = Messages()
  var overlay: Overlay? {
    didSet {
      // A message box would cover the overlay that the user has just opened.
      if oldValue == nil, overlay != nil, messages.isBoxed(in: layout) { messages.notice = nil }
    }
  }
  private var parts = DrawnParts()
  /// Whether the view may move to the objects of the board, because the user has done nothing since it was opened.
  var isViewFree = true
  /// The time of the first Ctrl+C.
  private var interruptedAt: Duration?
  /// The commands that the user typed in the prompt and that the board has not answered, by their request ids.
  var typedCommands: [Int64: Command] = [:]

  /// The time within which a second Ctrl+C leaves the board.
  private static let interruptTime = Duration.seconds(2)

  package init(columns: Int, rows: Int, dotStyle: DotStyle, keys: KeyMap = .standard, hasColors: Bool = true) {
    self.keys = keys
    layout = ScreenLayout(columns: columns, rows: rows, isASCII: dotStyle == .ascii)
    let viewport = Viewport(center: Point(x: 0, y: 0), columns: 1, rows: 1)
    var canvas = BoardCanvas(viewport, dotStyle: dotStyle)
    canvas.isMonochrome = !hasColors
    workspace = Workspace(BoardScene(canvas))
    fitBoard()
  }

  /// Sets the user's home directory, for which `~` stands in paths.
  package mutating func setHome(_ home: String?) { prompt.home = home }

  package mutating func connect(to target: String, now: Duration) {
    self.now = now
    session.connect(to: target, now: now)
  }

  package mutating func resize(columns: Int, rows: Int) {
    layout.resize(columns: columns, rows: rows)
    fitBoard()
  }

  mutating func fitBoard() {
    workspace.scene.canvas.show(layout.fitted(workspace.scene.viewport))
    workspace.refreshPresentation()
  }

  // MARK: - Screen

  private var screen: BoardScreen {
    BoardScreen(
      layout: layout,
      keys: keys,
      workspace: workspace,
      session: session,
      saveStatus: saveStatus,
      prompt: prompt,
      messages: messages,
      allowsMotion: allowsMotion,
      showsLinks: showsLinks,
      now: now
    )
  }

  var titleBar: TitleBar { screen.titleBar }

  /// A nil cursor hides the terminal's cursor.
  package mutating func frame() -> (screen: Screen, cursor: (x: Int, y: Int)?) {
    if let connection = session.connection {
      var screen = Screen(width: layout.columns, height: layout.rows)
      connection.draw(on: &screen, layout, isUnderQuestion: !session.questions.isEmpty, now: now)
      session.questions.draw(on: &screen, layout, now: now)
      return (screen, nil)
    }
    workspace.scene.canvas.paint(BoardCanvas.frameWork)
    var drawn = parts
    defer { parts = drawn }
    return screen.compose(&overlay, &drawn)
  }

  func photosInView() -> PhotosInView { screen.photosInView(under: overlay) }

  /// Whether the last frame is complete; otherwise the next frames show the rest.
  package var isPainted: Bool { session.connection != nil || workspace.scene.canvas.isPainted }

  /// Whether the next frame sends points of the stroke that is being drawn.
  package var hasUnsentPoints: Bool { workspace.hasUnsentPoints }

  /// Whether a part of the screen changes without input, as time passes.
  package var isTicking: Bool {
    messages.notice != nil || session.connection != nil || session.questions.isTicking
      || session.members.isTicking(at: now)
  }

  var isChatOpen: Bool { overlay?.isChat ?? false }

  // MARK: - Time

  package mutating func advance(to now: Duration) { self.now = now }

  /// Does the periodic work, and sends the points drawn since the last call.
  package mutating func beginFrame(now: Duration) -> [Action] {
    self.now = now
    // While the program is connecting, messages are not visible, so they must not expire.
    if session.connection == nil { messages.expire(at: now, in: layout) } else { messages.postpone(to: now) }
    if let since = interruptedAt, now - since > Self.interruptTime { interruptedAt = nil }
    showFollowedView()
    showFirstObjects()
    if overlay == .unsavedQuestion, saveStatus.isQuestionObsolete {
      overlay = nil
      return [.quit]
    }
    return apply(workspace.collectUpdates(hasReaders: !session.members.isEmpty, now: now))
  }

  /// Moves the view to the objects of a board that was opened, if none of them is in view.
  private mutating func showFirstObjects() {
    let canvas = workspace.scene.canvas
    guard isViewFree, session.connection == nil, canvas.count > 0 else { return }
    isViewFree = false
    let view = canvas.viewport.rectangle
    guard !canvas.itemsInOrder.contains(where: { view.touches($0.bounds) }) else { return }
    _ = apply(workspace.showEverything())
  }

  // MARK: - Messages

  package mutating func say(_ text: String, isBad: Bool = false) {
    messages.show(text, isBad ? .problem : .remark, at: now)
  }

  /// Shows that an action of the user failed, until a later action succeeds.
  mutating func showFailure(_ text: String) { messages.showProblem(text, before: workspace.requests.nextID, at: now) }

  // MARK: - Following

  mutating func follow(_ member: MemberID) {
    session.members.follow(member)
    say("following \(session.members.name(of: member) ?? "a member"); move the board to stop")
    showFollowedView()
  }

  /// Follows the next member, and stops following after the last member.
  mutating func followNext() {
    if session.members.isEmpty {
      say("there is no other member to follow")
    } else if let next = session.members.nextToFollow {
      follow(next)
    } else {
      stopFollowing()
    }
  }

  mutating func stopFollowing() {
    guard let member = session.members.followed else { return }
    session.members.stopFollowing()
    say("no longer following \(session.members.name(of: member) ?? "the member")")
  }

  private mutating func showFollowedView() {
    guard let viewport = session.members.followedView(workspace.scene.viewport) else { return }
    workspace.scene.canvas.show(viewport)
  }

  // MARK: - Leaving

  package mutating func leave() -> [Action] {
    guard saveStatus.mustAskBeforeLeaving else { return [.quit] }
    prompt.close()
    overlay = .unsavedQuestion
    return []
  }

  /// Leaves the board after a request to end the program. If the user is already being asked about unsaved work, leaves
  /// immediately.
  package mutating func leaveAtRequest() -> [Action] { overlay == .unsavedQuestion ? [.quit] : leave() }

  mutating func interrupt() -> [Action] {
    if let since = interruptedAt, now - since <= Self.interruptTime { return leave() }
    interruptedAt = now
    say("Press Ctrl+C again to leave the board" + (saveStatus.isSaved ? "; all changes are saved" : ""))
    return apply(workspace.endGesture())
  }
}

extension BoardClient {
  /// Applies the effects of a part of the client. Returns the actions that the owner of the client must perform.
  mutating func apply(_ effects: [BoardEffect]) -> [Action] { effects.flatMap { apply($0) } }

  private mutating func apply(_ effect: BoardEffect) -> [Action] {
    switch effect {
    case .command(let request): return [.command(request)]
    case .message(let text): say(text)
    case .problem(let text): showFailure(text)
    case .selectionRequired:
      let key = keys.key(for: .tool(.select)) ?? "select"
      say("select an object first: press \(key) and click it, or press Tab")
    case .turnBegan: say("Your turn in Connect Four: \(keys.key(for: .connectFour) ?? ":play") plays")
    case .chatReceived(let author, let text): announce(text, by: author)
    case .viewMoved: stopFollowing()
    case .stopFollowing: session.members.stopFollowing()
    case .typeIn(let snapshot): return apply(workspace.beginTyping(in: snapshot))
    case .typeText(let place): workspace.beginTyping(at: place)
    case .openPrompt(let purpose): prompt.open(purpose)
    case .openMenu(let cell): overlay = .menu(workspace.menu(at: cell))
    case .linkFollowed(let link): overlay = .linkQuestion(link)
    case .drawingPasted(let drawing): return [.storeCopies(drawing)]
    case .questionReceived: if overlay?.isInformation == true { overlay = nil }
    case .membershipEnded:
      workspace.discardEditing()
      prompt.close()
      overlay = nil
    }
    return []
  }

  mutating func send(_ command: Command) -> [Action] { apply(workspace.requests.issue(command)) }

  private mutating func announce(_ text: UntrustedText, by author: UntrustedText) {
    guard !layout.hasSidePanel, !isChatOpen else {
      session.chat.unreadCount = 0
      return
    }
    session.chat.unreadCount += 1
    messages.show("\(author): \(text.escaped(limit: 500))", .chat, at: now)
  }

  // MARK: - Panels

  mutating func open(_ panel: Panel) {
    messages.notice = nil
    overlay = .panel(panel)
  }

  mutating func openChat() {
    session.chat.unreadCount = 0
    open(Panel("Chat", .chat))
  }
}

extension BoardClient {
  // MARK: - Board

  package mutating func applyChange(_ change: SharedBoard.Change, now time: Duration? = nil) {
    if let time { now = time }
    // These effects change the screen, and send no command.
    switch change {
    case .added(let snapshot, _), .changed(let snapshot, _): _ = apply(workspace.showObject(snapshot))
    case .selected(let id, let author):
      _ = apply(workspace.showSelection(of: id, by: author.flatMap { self.id(of: $0) }))
    case .removed(let id, _): _ = apply(workspace.remove(id))
    case .game(let game):
      if workspace.scene.setGame(game) { _ = apply(.turnBegan) }
      if case .wordle(let view) = game.detail, view.answer != nil { prompt.endGame(game.id) }
    case .preview(let preview): workspace.scene.canvas.preview(preview.points, from: preview.first, of: preview.stroke)
    case .presence(let presence, let member): session.members.show(presence, of: MemberID(member.id), now: now)
    case .saving(let state): saveStatus.state = state
    case .settings(let settings): show(settings)
    // Events report these changes, except photos, which the terminal loads.
    case .photo, .personalSetting, .chat, .joined, .left, .message, .resource, .caughtUp, .missed: break
    }
    workspace.settleTyping()
  }

  private func id(of author: SharedBoard.Change.Author) -> MemberID? {
    switch author {
    case .me: workspace.scene.ownID
    case .other(let member): MemberID(member.id)
    }
  }

  package mutating func showPhoto(_ pixels: PhotoPixels, of asset: AssetID) {
    workspace.scene.canvas.setPhoto(pixels, of: asset)
  }

  /// Leaves cells blank if they contain photos that the terminal shows as pixels.
  package mutating func leaveBlank(_ assets: Set<AssetID>) {
    guard workspace.scene.canvas.shownAsPixels != assets else { return }
    workspace.scene.canvas.shownAsPixels = assets
  }

  package mutating func setBackground(_ background: UInt32?) { workspace.scene.canvas.paper = Paper(background) }

  // MARK: - Events

  /// Handles an event of the board. Returns the actions for the owner of the client.
  package mutating func receive(_ event: SharedBoard.Output, now time: Duration? = nil) -> [Action] {
    if let time { now = time }
    if case .answer(let answer, let request) = event, let answer = Answer(answer, to: request) { show(answer) }
    var actions: [Action] = []
    switch event {
    case .news(.ready(let ready)):
      session.begin(ready)
      workspace.scene.ownID = MemberID(text: ready.peer)
      return [.command(CommandRequest(.chat))]
    case .answer(.done(let verb, let outcome), let request): finish(verb, outcome, request)
    case .answer(.error(let failure), _): fail(failure)
    case .news(.selectionLost(_, _, let name)): say("\(name?.displayed ?? "a member") has selected it")
    case .news(.warning(let warning)): show(warning)
    case .news(.note(let note)): show(note: note)
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

  private mutating func show(_ settings: BoardSettings) {
    workspace.scene.canvas.grid = settings.grid.flatMap { $0 > 0 ? $0 : nil }
    workspace.scene.canvas.background = settings.shownBackground
    session.board.title = settings.title.map { UntrustedText($0) }
  }

  private mutating func show(_ warning: SharedBoard.News.Remark) {
    // No message is needed, because the screen shows this problem for as long as it lasts.
    if warning.code == SharedBoard.News.Remark.notSaved { return }
    if warning.code == SharedBoard.News.Remark.discoveryUnavailable {
      // The panel for invitations shows the whole message, because the board can be used without discovery.
      session.board.discoveryProblem = warning.message
      return messages.showHint(warning.message, at: now)
    }
    messages.showProblem(warning.message, at: now)
  }

  private mutating func show(note: SharedBoard.News.Remark) {
    switch note.code {
    case SharedBoard.News.Remark.invitationEnded:
      session.questions.removeInvitation(note.invitation)
      say(note.message)
      return
    case SharedBoard.News.Remark.comparing: session.questions.compares(note.invitation)
    case SharedBoard.News.Remark.webRevoked: session.board.webLink = nil
    case SharedBoard.News.Remark.announced:
      // No message is needed, because the box for invitations shows that the board is announced.
      session.board.isAnnounced = true
      session.board.discoveryProblem = nil
      return
    case SharedBoard.News.Remark.discoveryAvailable: session.board.discoveryProblem = nil
    // The box shows the link as text that can be copied, and as a QR code.
    case SharedBoard.News.Remark.broadcast: if let link = BrowserInvitation(note) { overlay = .invitation(link) }
    default: break
    }
    say(Notice.causeFirst(note.message))
  }

  /// Handles the result of a command. The result arrives before the answer to the command. Returns the actions for the owner of the client.
  package mutating func receive(_ outcome: CommandOutcome, of request: RequestMark) -> [Action] {
    guard let request = request.number else { return [] }
    if let id = outcome.id { prompt.gameBegan(id, by: request) }
    return (outcome.clipboard.map { [.clipboard($0)] } ?? []) + apply(workspace.receive(outcome, of: request))
  }

  private mutating func finish(_ verb: CommandName, _ outcome: CommandOutcome, _ mark: RequestMark?) {
    guard let request = mark?.number else { return }
    if verb.changesBoard { session.members.countWaitingChange() }
    workspace.finish(request)
    messages.actionSucceeded(request)
    let typed = typedCommands.removeValue(forKey: request)
    if let message = Answer.message(verb, outcome, typed: typed, keys) { say(message) }
  }

  private mutating func fail(_ failure: CommandError) {
    if let request = failure.request?.number {
      workspace.fail(request)
      prompt.gameFailed(by: request)
      typedCommands[request] = nil
    }
    showFailure(explained(failure))
  }

  /// Returns the message of a failure. The message about a locked object names the key that unlocks the object.
  private func explained(_ failure: CommandError) -> String {
    guard failure.code == .locked, let key = keys.key(for: .object(.lock)) else { return failure.message }
    let id = failure.message.split(separator: " ").first.flatMap { ObjectID(String($0)) }
    let kind = id.flatMap { workspace.scene.snapshot($0)?.kind.name } ?? "object"
    let isSelected = workspace.scene.selectedSnapshots.contains { $0.isLocked }
    return isSelected
      ? "the \(kind) is locked; press \(key) to unlock it"
      : "the \(kind) is locked; select it and press \(key) to unlock it"
  }
}

import Whiteboard
import WhiteboardNode
import WhiteboardRendering

/// The board on a terminal: input and events go in, commands and a screen come out.
///
/// It uses no terminal, no clock and no node. Each part of the state has an owner, such as
/// ``Toolbox`` or ``Members``; the client passes input and events to the owners and performs the
/// effects that they return.
package struct BoardClient: Sendable {
  /// What the owner of the client must do.
  package enum Action: Equatable, Sendable {
    /// Send a command to the node.
    case command(CommandRequest)
    /// Leave the board.
    case quit
    /// Clear the terminal and draw the whole screen.
    case redraw
    /// Suspend the program (SIGTSTP).
    case suspend
    /// Copy a text to the clipboard.
    case clipboard(String)
    /// Find the files whose paths begin like this, for ``BoardClient/complete(files:for:)``.
    case findFiles(String)
  }

  /// The time of the last event on the client's clock.
  var now = Duration.zero
  let keys: KeyMap
  /// Whether a laser pointer leaves a trail.
  package var allowsMotion = true

  var layout: ScreenLayout
  var scene: BoardScene
  var toolbox = Toolbox()
  var requests = PendingRequests()
  var board = BoardInfo()
  var saveStatus = SaveStatus()
  /// The attempt to join; nil once the session is connected.
  var connection: ConnectionAttempt?
  var members = Members()
  var presence = PresencePublisher()
  var questions = Questions()
  var removal = RemovalState()
  var chat = ChatLog()
  var prompt = Prompt()
  /// The text on the board in which the user types.
  var typing: TextTyping?
  var messages = Messages()
  var overlay: Overlay? {
    didSet {
      // A message box would cover what the user has just opened.
      if oldValue == nil, overlay != nil, messages.isBoxed(in: layout) { messages.notice = nil }
    }
  }
  /// The cell at which a menu opens as soon as the clicked object is selected.
  var pendingMenu: Menu.Cell?
  /// The time of the first Ctrl+C, if the second one would leave the board.
  private var interruptedAt: Duration?

  /// How long the second Ctrl+C leaves the board.
  private static let interruptTime = Duration.seconds(2)

  package init(
    columns: Int,
    rows: Int,
    dotStyle: DotStyle,
    keys: KeyMap = .standard,
    hasColors: Bool = true
  ) {
    self.keys = keys
    layout = ScreenLayout(columns: columns, rows: rows, isASCII: dotStyle == .ascii)
    let viewport = Viewport(center: Point(x: 0, y: 0), columns: 1, rows: 1)
    scene = BoardScene(BoardCanvas(viewport, dotStyle: dotStyle))
    scene.canvas.isMonochrome = !hasColors
    fitBoard()
  }

  /// Sets the user's home directory, for which `~` stands in paths.
  package mutating func setHome(_ home: String?) { prompt.home = home }

  /// Shows an attempt to join until the session is connected.
  ///
  /// - Parameters:
  ///   - target: The target that the user asked for; empty for any board nearby.
  ///   - now: The time on the client's clock.
  package mutating func connect(to target: String, now: Duration) {
    self.now = now
    connection = ConnectionAttempt(to: target, since: now)
    board.isAwaited = true
  }

  /// Sets the size of the terminal.
  package mutating func resize(columns: Int, rows: Int) {
    layout.resize(columns: columns, rows: rows)
    fitBoard()
  }

  mutating func fitBoard() { scene.canvas.show(layout.fitted(scene.viewport)) }

  // MARK: - Time

  /// Sets the time of the events that follow.
  package mutating func advance(to now: Duration) { self.now = now }

  /// Handles the passing of time, and sends what the user drew since the last call.
  package mutating func tick(now: Duration) -> [Action] {
    self.now = now
    // While the program connects, no message is visible.
    if connection == nil {
      messages.expire(at: now, in: layout)
    } else {
      messages.postpone(to: now)
    }
    if let since = interruptedAt, now - since > Self.interruptTime { interruptedAt = nil }
    if let viewport = members.followedView(scene.viewport) { scene.canvas.show(viewport) }
    if overlay == .unsavedQuestion, saveStatus.isQuestionObsolete {
      overlay = nil
      return [.quit]
    }
    var effects = toolbox.continueStroke()
    let isLaser = toolbox.tool == .laser
    effects += presence.move(to: toolbox.pointer, isLaser: isLaser, now: now).map { [$0] } ?? []
    effects +=
      presence.show(scene.viewport, hasReaders: !members.isEmpty, now: now).map { [$0] } ?? []
    return perform(effects)
  }

  // MARK: - Messages

  /// Shows a message for a while.
  package mutating func say(_ text: String, isBad: Bool = false) {
    messages.show(text, isBad ? .problem : .remark, at: now)
  }

  // MARK: - Effects

  /// Performs the effects of a part of the client.
  ///
  /// - Returns: The actions that remain for the owner of the client.
  mutating func perform(_ effects: [BoardEffect]) -> [Action] {
    var actions: [Action] = []
    for effect in effects {
      switch effect {
      case .command(let request): actions.append(.command(request))
      case .message(let text): say(text)
      case .problem(let text): messages.showProblem(text, at: now)
      case .selectionRequired:
        let key = keys.key(for: .tool(.select)) ?? "select"
        say("select something first: \(key) and click, or Tab")
      case .stopFollowing: members.stopFollowing()
      case .show(let viewport): show(viewport)
      case .typeIn(let snapshot):
        typing = TextTyping(snapshot)
        // Other members can type in the text too, if it is not selected.
        if !scene.selection.isEmpty { actions += send(.deselect) }
      case .typeText(let place): typing = TextTyping(at: place)
      }
    }
    return actions
  }

  /// Sends a command and awaits its answer.
  mutating func send(_ command: Command) -> [Action] { perform(requests.send(command)) }

  /// Sends a command that is made from places on the board, and awaits its answer.
  mutating func send(_ command: () throws(CommandError) -> Command) -> [Action] {
    perform(requests.send(command))
  }

  mutating func select(_ ids: [ObjectID]) -> [Action] {
    perform(toolbox.select(ids, on: scene, &requests))
  }

  mutating func endGesture() -> [Action] { perform(toolbox.endGesture(on: scene, &requests)) }

  // MARK: - View

  /// Shows another part of the board, and stops following a member.
  mutating func show(_ viewport: Viewport) {
    if let key = members.followed {
      members.stopFollowing()
      say("no longer following \(members.name(of: key) ?? "the member")")
    }
    scene.canvas.show(viewport)
  }

  mutating func pan(byDots x: Double, _ y: Double) {
    var viewport = scene.viewport
    viewport.pan(byDots: x, y)
    show(viewport)
  }

  mutating func zoom(by factor: Double, around place: Point) {
    var viewport = scene.viewport
    viewport.zoom(by: factor, around: place)
    show(viewport)
  }

  mutating func center(on place: Point) {
    var viewport = scene.viewport
    viewport.center = place
    show(viewport)
  }

  /// Shows all objects.
  mutating func showEverything() {
    guard let bounds = scene.canvas.bounds else { return }
    var viewport = scene.viewport
    viewport.fit(bounds)
    show(viewport)
  }

  /// Selects an object, and shows it if it is out of view.
  mutating func go(to id: ObjectID) -> [Action] {
    if let bounds = scene.snapshot(id)?.bounds, !scene.viewport.rectangle.contains(bounds) {
      center(on: bounds.center)
    }
    return select([id])
  }

  mutating func follow(_ key: String) {
    members.follow(key)
    say("following \(members.name(of: key) ?? "a member"); move the board to stop")
    if let viewport = members.followedView(scene.viewport) { scene.canvas.show(viewport) }
  }

  // MARK: - Leaving

  /// Leaves the board; asks first if that would lose work.
  package mutating func leave() -> [Action] {
    guard saveStatus.mustAskBeforeLeaving else { return [.quit] }
    prompt.close()
    overlay = .unsavedQuestion
    return []
  }

  /// Leaves the board after a request to end the program; a second request does not ask.
  package mutating func leaveAtRequest() -> [Action] {
    overlay == .unsavedQuestion ? [.quit] : leave()
  }

  /// Leaves the board at the second Ctrl+C.
  mutating func interrupt() -> [Action] {
    if let since = interruptedAt, now - since <= Self.interruptTime { return leave() }
    interruptedAt = now
    say("Ctrl+C again leaves the board" + (saveStatus.isSaved ? "; it is saved" : ""))
    return endGesture()
  }
}

import Whiteboard
import WhiteboardKit
import WhiteboardRendering

/// A client that turns user input and board events into commands and a screen.
///
/// It uses no terminal, no clock and no ``SharedBoard``. Each part of the state has an owner, such as ``Workspace`` or
/// ``SessionState``. The client passes input and events to the owners, and performs the effects that they return.
package struct BoardClient: Sendable {
  /// An action for the owner of the client.
  package enum Action: Equatable, Sendable {
    /// Send a command to the board.
    case command(CommandRequest)
    /// Leave the board.
    case quit
    /// Clear the terminal and draw the whole screen.
    case redraw
    /// Suspend the program (SIGTSTP).
    case suspend
    /// Copy text to the clipboard.
    case clipboard(String)
    /// Find the files whose paths begin with this text, for ``BoardClient/complete(files:for:)``.
    case findFiles(String)
  }

  /// The time of the last event on the client's clock.
  var now = Duration.zero
  let keys: KeyMap
  /// Whether a laser pointer leaves a trail.
  package var allowsMotion = true

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
  /// The time of the first Ctrl+C.
  ///
  /// A second Ctrl+C soon after it leaves the board.
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

  /// Shows an attempt to join until the session is connected.
  ///
  /// - Parameters:
  ///   - target: The target that the user asked for; empty for any board nearby.
  ///   - now: The time on the client's clock.
  package mutating func connect(to target: String, now: Duration) {
    self.now = now
    session.connect(to: target, now: now)
  }

  /// Sets the size of the terminal.
  package mutating func resize(columns: Int, rows: Int) {
    layout.resize(columns: columns, rows: rows)
    fitBoard()
  }

  mutating func fitBoard() { workspace.scene.canvas.show(layout.fitted(workspace.scene.viewport)) }

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
      now: now
    )
  }

  /// The first row, with the buttons of tools and colors.
  var titleBar: TitleBar { screen.titleBar }

  /// Draws the current screen.
  ///
  /// - Returns: The screen, and the cell of the terminal's cursor; nil hides it.
  package mutating func frame() -> (screen: Screen, cursor: (x: Int, y: Int)?) {
    if let connection = session.connection {
      var screen = Screen(width: layout.columns, height: layout.rows)
      connection.draw(on: &screen, layout, now: now)
      session.questions.draw(on: &screen, layout, now: now)
      return (screen, nil)
    }
    workspace.scene.canvas.paint(BoardCanvas.frameWork)
    return screen.compose(&overlay)
  }

  /// Returns the photos in view.
  func photosInView() -> PhotosInView { screen.photosInView(under: overlay) }

  /// Whether the last frame shows the current state of what it contains; otherwise the next frames show more.
  package var isPainted: Bool { session.connection != nil || workspace.scene.canvas.isPainted }

  /// Whether a part of the screen changes without input, as time passes.
  package var isTicking: Bool {
    messages.notice != nil || session.connection != nil || session.questions.isTicking
      || session.members.isTicking(at: now)
  }

  /// Whether the chat is open in a panel.
  var isChatOpen: Bool { overlay?.isChat ?? false }

  // MARK: - Time

  /// Sets the time for the events that are handled next.
  package mutating func advance(to now: Duration) { self.now = now }

  /// Does the periodic work, and sends the points drawn since the last call.
  package mutating func beginFrame(now: Duration) -> [Action] {
    self.now = now
    // While the program is connecting, messages are not visible, so they must not expire.
    if session.connection == nil { messages.expire(at: now, in: layout) } else { messages.postpone(to: now) }
    if let since = interruptedAt, now - since > Self.interruptTime { interruptedAt = nil }
    showFollowedView()
    if overlay == .unsavedQuestion, saveStatus.isQuestionObsolete {
      overlay = nil
      return [.quit]
    }
    return apply(workspace.collectUpdates(hasReaders: !session.members.isEmpty, now: now))
  }

  // MARK: - Messages

  /// Shows a message for a while.
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

  /// Follows the next member, and stops following after the last one.
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

  /// Leaves the board, but asks the user first if work would be lost.
  package mutating func leave() -> [Action] {
    guard saveStatus.mustAskBeforeLeaving else { return [.quit] }
    prompt.close()
    overlay = .unsavedQuestion
    return []
  }

  /// Leaves the board after a request to end the program.
  ///
  /// If the user is already being asked about unsaved work, leaves immediately.
  package mutating func leaveAtRequest() -> [Action] { overlay == .unsavedQuestion ? [.quit] : leave() }

  /// Leaves the board at the second Ctrl+C.
  mutating func interrupt() -> [Action] {
    if let since = interruptedAt, now - since <= Self.interruptTime { return leave() }
    interruptedAt = now
    say("Press Ctrl+C again to leave the board" + (saveStatus.isSaved ? "; all changes are saved" : ""))
    return apply(workspace.endGesture())
  }
}

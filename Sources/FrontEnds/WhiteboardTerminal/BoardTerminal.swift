import PeerCore
import PeerDiscovery
import Whiteboard
import WhiteboardKit
import WhiteboardRendering

/// The user interface on a terminal: it passes the user's input to a shared board, and draws the board's events. It
/// owns a ``BoardClient`` and a ``LobbyClient``. After a change it draws a frame, at most 60 times a second.
package actor BoardTerminal: EventSink {
  private let terminal: Terminal
  private let settings: TerminalSettings
  private let keys: KeyMap
  private let home: String?
  private var features: TerminalFeatures
  private let reports = ChangeQueue()
  private let clock = ContinuousClock()
  private let began: ContinuousClock.Instant
  private let wake: AsyncStream<Void>
  private let wakeUp: AsyncStream<Void>.Continuation
  private var board: BoardClient?
  private var lobby: LobbyClient?
  private var choice: CheckedContinuation<LobbyClient.Choice, Never>?
  private var isEnding = false
  private var feed = CommandFeed()
  private var sharedBoard: SharedBoard?
  private var parser = InputParser()
  private var pastes = PasteRecognizer()
  private var inputCount = 0
  private var photos = PhotoDisplay()
  private var frames: FrameWriter
  private var isTickDue = false
  private var lastFrame: ContinuousClock.Instant
  /// Whether a frame that shows the user's input must be drawn before the next regular frame.
  private var isInputFrameDue = false

  private static let frameInterval = Duration.milliseconds(16)
  /// The shortest time between a frame and the next frame that shows the user's input.
  private static let inputInterval = Duration.milliseconds(5)
  /// The maximum time for showing changes of the board before the next input is handled.
  private static let drainTime = Duration.milliseconds(10)
  /// The maximum number of boards that the lobby checks, and the maximum number of addresses that it tries for each.
  private static let maximumProbes = 32
  /// The longest time between an Escape and the other bytes of the same key.
  private static let escapeTimeout = Duration.milliseconds(30)

  package init(
    _ terminal: Terminal,
    _ features: TerminalFeatures,
    _ settings: TerminalSettings,
    _ keys: KeyMap,
    home: String?
  ) {
    self.terminal = terminal
    self.settings = settings
    self.keys = keys
    self.home = home
    self.features = features.applying(settings)
    self.features.cellSize = terminal.cellSize
    frames = FrameWriter(depth: self.features.depth, encoding: self.features.encoding)
    began = clock.now
    lastFrame = began
    (wake, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Runs one shared board until it is closed, and shows it. Throws the error that closed the board.
  package func run(_ configuration: BoardConfiguration) async throws(WhiteboardError) {
    let tasks = start()
    defer { stop(tasks) }
    try await openBoard(configuration)
  }

  /// Shows the lobby, and the boards that the user chooses there, until the user leaves.
  package func run(_ lobby: Lobby) async {
    let tasks = start()
    defer { stop(tasks) }
    let size = terminal.size
    self.lobby = LobbyClient(
      columns: size.columns,
      rows: size.rows,
      suggestion: lobby.suggestion,
      hasCode: lobby.hasCode
    )
    while !isEnding {
      // Search again, because nothing was received about nearby boards while a board was open.
      self.lobby?.searchBegan()
      self.lobby?.setBoards(await lobby.boards())
      frames.invalidate()
      wakeUp.yield()
      // The code below waits for this task after the user has chosen a board.
      let browsing = Task { await self.browse(lobby) }
      let choice = await nextChoice()
      browsing.cancel()
      _ = await browsing.value
      do throws(WhiteboardError) {
        self.lobby?.problem = nil
        guard try await open(choice, lobby) else { return }
        self.lobby?.clearError()
      } catch {
        self.lobby?.problem = error.problem
        self.lobby?.fail(error.message, wantsCodeFor: choice.targetThatNeedsCode(after: error))
      }
    }
  }

  /// Opens the chosen board. Returns false if the user quits. Throws the error that closed the board.
  private func open(_ choice: LobbyClient.Choice, _ lobby: Lobby) async throws(WhiteboardError) -> Bool {
    guard let configuration = try await lobby.configuration(choice) else { return false }
    guard case .rejoin(_, let path) = choice else {
      try await openBoard(configuration)
      return true
    }
    do throws(WhiteboardError) { try await openBoard(configuration) } catch {
      // The announcement may be outdated. The local copy is always available.
      guard error.code == .unreachable || error.code == .timedOut || error.isRemoval,
        let own = try await lobby.configuration(.host(path))
      else { throw error }
      // Omit the notice after a removal, because the opened board shows the removal itself.
      let notice = "No member answered. This is your own copy. \(error.message)"
      try await openBoard(own, notice: error.isRemoval ? nil : notice)
    }
    return true
  }

  /// Starts the tasks that read the terminal and draw; ``stop(_:)`` ends them.
  private func start() -> [Task<Void, Never>] {
    terminal.write(Array(TerminalFeatures.questions.utf8))
    return [Task { await self.listen() }, Task { await self.drawFrames() }]
  }

  private func stop(_ tasks: [Task<Void, Never>]) {
    for task in tasks { task.cancel() }
    terminal.leave()
  }

  private func openBoard(_ configuration: BoardConfiguration, notice: String? = nil) async throws(WhiteboardError) {
    var configuration = configuration
    configuration.keepsPhotoFiles = false
    let size = terminal.size
    feed = CommandFeed()
    let sharedBoard = SharedBoard(configuration, input: feed, sink: self)
    self.sharedBoard = sharedBoard
    reports.removeAll()
    photos = PhotoDisplay()
    board = BoardClient(
      columns: size.columns,
      rows: size.rows,
      dotStyle: features.dotStyle,
      keys: keys,
      hasColors: features.depth != .none
    )
    board?.setHome(home)
    board?.allowsMotion = settings.allowsMotion
    board?.showsLinks = features.hasLinks
    board?.setBackground(features.background)
    if case .join(let target, _) = configuration.part { board?.connect(to: target.words, now: time) }
    if let notice { board?.say(notice, isBad: true) }
    frames.invalidate()
    wakeUp.yield()
    defer {
      (self.sharedBoard, board) = (nil, nil)
      frames.invalidate()
    }
    try await sharedBoard.run()
  }

  private func browse(_ functions: Lobby) async {
    await withDiscardingTaskGroup { group in
      group.addTask { await self.probeBoards(functions) }
      await functions.discovery.browse(BrowserQuery(excluding: nil)) { events in
        for await event in events { self.showNearby(event) }
      }
      group.cancelAll()
    }
  }

  /// Dials the nearby boards again and again, because discovery reports a peer that disappeared only after minutes.
  private func probeBoards(_ functions: Lobby) async {
    while !Task.isCancelled {
      let boards = lobby?.addresses ?? [:]
      await withTaskGroup(of: (String, Bool).self) { group in
        for (board, addresses) in boards.prefix(Self.maximumProbes) {
          let addresses = Array(addresses.prefix(Self.maximumProbes))
          group.addTask { (board, await functions.isReachable(addresses)) }
        }
        for await (board, isReachable) in group {
          lobby?.answered(isReachable, board: board)
          wakeUp.yield()
        }
      }
      try? await Task.sleep(for: .milliseconds(2_500))
    }
  }

  private func showNearby(_ event: BrowserEvent) {
    switch event {
    case .found(let peer), .updated(let peer): lobby?.found(SharedBoard.News.FoundBoard(peer))
    case .lost(let peer): lobby?.lost(SharedBoard.News.FoundBoard(peer))
    case .unavailable(let problem): lobby?.discoveryFailed(problem.description)
    case .available: break
    }
    wakeUp.yield()
  }

  private func nextChoice() async -> LobbyClient.Choice {
    if isEnding { return .quit }
    return await withCheckedContinuation { choice = $0 }
  }

  private func choose(_ chosen: LobbyClient.Choice) {
    choice?.resume(returning: chosen)
    choice = nil
  }

  /// Closes the current screen, and then exits the program.
  package func requestEnd() async {
    isEnding = true
    choose(.quit)
    await sharedBoard?.requestEnd()
  }

  /// Closes the current screen, and then exits the program. Returns whether the screen is closed without a question. If
  /// work would be lost, asks the user first, but only once.
  package func requestEndUnlessUnsaved() async -> Bool {
    isEnding = true
    choose(.quit)
    let actions = board?.leaveAtRequest() ?? [.quit]
    await execute(actions)
    wakeUp.yield()
    return !actions.isEmpty
  }

  private var time: Duration { clock.now - began }

  // MARK: - Input

  private func listen() async {
    for await event in terminal.events {
      switch event {
      case .bytes(let bytes): await parseInput(bytes)
      case .resized, .continued:
        if event == .continued, features.hasPixelMouse { terminal.write(Array("\u{1B}[?1016h".utf8)) }
        let size = terminal.size
        features.cellSize = terminal.cellSize ?? features.cellSize
        board?.resize(columns: size.columns, rows: size.rows)
        lobby?.resize(columns: size.columns, rows: size.rows)
        frames.invalidate()
        wakeUp.yield()
      case .hungUp: await requestEnd()
      }
    }
  }

  private func parseInput(_ bytes: [UInt8]) async {
    inputCount += 1
    let isText = board?.receivesText ?? lobby?.receivesText ?? false
    let events = pastes.feed(parser.feed(features.encoding.decode(bytes)), in: isText ? .text : .commands) {
      [board, lobby] in board?.opensText($0) ?? lobby?.opensText($0) ?? false
    }
    await dispatchInput(events)
    guard parser.isWaiting || pastes.isWaiting else { return }
    let count = inputCount
    let timeout = pastes.isWaiting ? PasteRecognizer.pause : Self.escapeTimeout
    // This task ends after the timeout, and does nothing if more bytes came.
    Task {
      try? await clock.sleep(for: timeout)
      await self.finishInput(count)
    }
  }

  private func finishInput(_ count: Int) async {
    guard count == inputCount else { return }
    await dispatchInput(pastes.finish() + parser.finish())
  }

  private func dispatchInput(_ events: [InputEvent]) async {
    // The input refers to what the screen shows, so later changes of the board can wait.
    board?.advance(to: time)
    for var event in events {
      if case .reply(let reply) = event {
        terminal.write(Array(features.handle(reply, settings).utf8))
        board?.setBackground(features.background)
        continue
      }
      if case .mouse(let mouse) = event, features.hasPixelMouse, let cell = features.cellSize {
        event = .mouse(mouse.inCells(width: cell.width, height: cell.height))
      }
      if board != nil {
        await execute(board?.handleInput(event, now: time) ?? [])
      } else if event == .key(.character("z"), .control) {
        await execute([.suspend])
      } else if let chosen = lobby?.handleInput(event, now: time) {
        choose(chosen)
      }
    }
    await showInput()
  }

  /// Draws a frame soon, because the user waits for the effect of a key.
  private func showInput() async {
    let due = lastFrame + Self.inputInterval
    guard clock.now < due else { return await drawFrame() }
    guard !isInputFrameDue else { return }
    isInputFrameDue = true
    // This task ends when it has drawn the frame.
    Task {
      try? await clock.sleep(until: due, tolerance: .zero)
      isInputFrameDue = false
      await drawFrame()
    }
  }

  private func execute(_ actions: [BoardClient.Action]) async {
    for action in actions {
      switch action {
      case .command(let request): feed.push(request)
      case .quit: await sharedBoard?.requestEnd()
      case .redraw: frames.invalidate()
      case .suspend:
        guard terminal.suspend() else {
          if board != nil {
            board?.say(Terminal.cannotSuspend, isBad: true)
          } else {
            lobby?.fail(Terminal.cannotSuspend, wantsCodeFor: nil)
          }
          continue
        }
        if features.hasPixelMouse { terminal.write(Array("\u{1B}[?1016h".utf8)) }
        frames.invalidate()
      case .clipboard(let text):
        // OSC 52 sets the clipboard. A terminal that does not allow this ignores the sequence.
        terminal.write(Array("\u{1B}]52;c;\(Base64.encode(Array(text.utf8)))\u{1B}\\".utf8))
      case .storeCopies(let drawing):
        if let problem = await sharedBoard?.storeCopies(drawing) { board?.say(problem, isBad: true) }
      case .open(let link):
        guard !Browser.open(link) else { continue }
        await execute(board?.linkCopied(link, isWanted: false) ?? [])
      case .findFiles(let beginning): board?.complete(files: FileCompletion.paths(beginning: beginning), for: beginning)
      }
    }
  }

  // MARK: - Events of the board

  /// The contents that events must include. Objects are not included, because ``boardChanged(_:)`` receives their
  /// changes.
  package nonisolated var contents: EventContents { [.chat, .previews, .stored] }

  package func write(_ events: [SharedBoard.Output]) async throws(OutputError) {
    // An event can refer to an object, so show all changes before it. Meanwhile, the user's input is handled.
    while await !drainChanges() { await Task.yield() }
    for event in events { await execute(board?.receive(event, now: time) ?? []) }
    wakeUp.yield()
  }

  package nonisolated func boardChanged(_ change: SharedBoard.Change) {
    reports.append(.change(change))
    wakeUp.yield()
  }

  package nonisolated func commandReturned(_ outcome: CommandOutcome, to request: RequestMark) {
    reports.append(.result(outcome, of: request))
    wakeUp.yield()
  }

  /// Shows the changes of the board, for a limited time. Returns whether all changes are shown.
  @discardableResult private func drainChanges() async -> Bool {
    // Update the client's time, which is outdated if the last frame was long ago.
    board?.advance(to: time)
    let end = clock.now + Self.drainTime
    while let report = reports.popFirst() {
      switch report {
      case .change(.photo(let asset)):
        // Without colors, cells cannot show a photo.
        let byCells = settings.graphics != .none && features.depth != .none
        if let request = photos.found(asset, byCells: byCells) { loadPhoto(request) }
      case .change(let change): board?.applyChange(change, now: time)
      case .result(let outcome, let request): await execute(board?.receive(outcome, of: request) ?? [])
      }
      guard clock.now < end else {
        wakeUp.yield()
        return false
      }
    }
    return true
  }

  // MARK: - Drawing

  private func drawFrames() async {
    for await _ in wake {
      // During the wait, a frame that shows input can be drawn, and changes `lastFrame`.
      while case let next = lastFrame + Self.frameInterval, clock.now < next, !Task.isCancelled {
        try? await clock.sleep(until: next, tolerance: .zero)
      }
      guard !Task.isCancelled else { return }
      await drawFrame()
    }
  }

  private func drawFrame() async {
    lastFrame = clock.now
    await drainChanges()
    lobby?.beginFrame(now: time)
    await execute(board?.beginFrame(now: time) ?? [])
    scheduleNext()
    photos.configure(features.graphics, features.cellSize)
    let inView = board?.photosInView() ?? PhotosInView()
    for request in photos.requests(for: inView.upright) { loadPhoto(request) }
    let asPixels = photos.assetsShownAsPixels(inView)
    board?.leaveBlank(asPixels)
    guard let (screen, cursor) = board?.frame() ?? lobby?.frame() else { return }
    let placements = inView.upright.filter { asPixels.contains($0.asset) }
    if let bytes = frames.encode(screen, cursor: cursor, &photos, at: placements) { terminal.write(bytes) }
    if board?.isPainted == false || board?.hasUnsentPoints == true { wakeUp.yield() }
  }

  private func loadPhoto(_ request: PhotoDisplay.Request) {
    guard let sharedBoard else { return }
    let background = features.background ?? 0xFFFFFF
    // This task ends when the photo is read.
    Task.detached(priority: .utility) {
      let path = await sharedBoard.openPhoto(request.asset)
      let reading = path.map { request.decode($0, on: background) }
      await sharedBoard.closePhoto(request.asset)
      if let reading {
        await self.finishReading(reading, of: request.asset)
      } else {
        await self.photoFailed(request.asset)
      }
    }
  }

  private func photoFailed(_ asset: AssetID) { photos.fail(asset) }

  private func finishReading(_ reading: PhotoDisplay.Reading, of asset: AssetID) {
    switch reading {
    case .cells(let pixels?): board?.showPhoto(pixels, of: asset)
    case .pixels(let photo?): photos.receive(photo, of: asset)
    case .cells(nil), .pixels(nil): return
    }
    wakeUp.yield()
  }

  /// Draws again after half a second if a part of the screen changes without input.
  private func scheduleNext() {
    guard board?.isTicking ?? lobby?.isTicking ?? false, !isTickDue else { return }
    isTickDue = true
    // This task ends after its sleep. A late task draws nothing new.
    Task {
      try? await clock.sleep(for: .milliseconds(500))
      isTickDue = false
      wakeUp.yield()
    }
  }
}

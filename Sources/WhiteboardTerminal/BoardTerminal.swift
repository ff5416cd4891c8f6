import PeerDiscovery
import Synchronization
import Whiteboard
import WhiteboardNode
import WhiteboardRendering

/// Where a person begins: what the lobby needs from the program.
package struct Lobby: Sendable {
  /// How boards are found.
  package let discovery: any Discovery
  /// What a new board is called unless the person says otherwise.
  package let suggestion: String
  /// The boards that are kept here.
  package let boards: @Sendable () async -> [LobbyClient.OwnBoard]
  /// What a choice means.
  package let configuration:
    @Sendable (LobbyClient.Choice) async throws(NodeError) -> NodeConfiguration?

  package init(
    discovery: any Discovery,
    suggestion: String,
    boards: @escaping @Sendable () async -> [LobbyClient.OwnBoard],
    configuration:
      @escaping @Sendable (LobbyClient.Choice) async throws(NodeError)
      -> NodeConfiguration?
  ) {
    self.discovery = discovery
    self.suggestion = suggestion
    self.boards = boards
    self.configuration = configuration
  }
}

/// Nodes on a terminal: what a person does goes to the node, and what it tells is drawn.
///
/// The one owner of a ``BoardClient`` and a ``LobbyClient``. A frame is drawn when something changed, at most
/// sixty times a second; nothing is done while nothing happens.
package actor BoardTerminal: EventSink {
  private let terminal: Terminal
  private let settings: TerminalSettings
  private let keys: KeyMap
  private let home: String?
  private var features: TerminalFeatures
  private let writer: ScreenWriter
  private let changes = ChangeQueue()
  private let clock = ContinuousClock()
  private let began: ContinuousClock.Instant
  private let wake: AsyncStream<Void>
  private let wakeUp: AsyncStream<Void>.Continuation
  /// The board that is shown, else the lobby.
  private var board: BoardClient?
  private var lobby: LobbyClient?
  private var choice: CheckedContinuation<LobbyClient.Choice, Never>?
  private var isEnding = false
  private var feed = CommandFeed()
  private var node: Node?
  private var parser = InputParser()
  private var inputCount = 0
  private var photos = PhotoDisplay()
  private var shown: Screen?
  private var shownCursor: (x: Int, y: Int)?
  private var isTickDue = false

  /// The time between two frames.
  private static let frameInterval = Duration.milliseconds(16)
  /// How long an Escape may be the beginning of more.
  private static let escapePatience = Duration.milliseconds(30)

  /// Draws on a terminal that was taken over, and asks it what it can do.
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
    writer = ScreenWriter(depth: self.features.depth)
    began = clock.now
    (wake, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Runs one node until it is over, and shows its board.
  ///
  /// - Throws: What ended the node.
  package func run(_ configuration: NodeConfiguration) async throws(NodeError) {
    let tasks = start()
    defer { stop(tasks) }
    try await show(configuration)
  }

  /// Shows the lobby, and the boards that are chosen there, until the person leaves.
  package func run(_ lobby: Lobby) async {
    let tasks = start()
    defer { stop(tasks) }
    let size = terminal.size
    self.lobby = LobbyClient(
      columns: size.columns,
      rows: size.rows,
      isASCII: features.dotStyle == .ascii,
      suggestion: lobby.suggestion
    )
    while !isEnding {
      self.lobby?.keep(await lobby.boards())
      shown = nil
      wakeUp.yield()
      // Ends with the choice, below.
      let browsing = Task { await self.browse(lobby.discovery) }
      let choice = await nextChoice()
      browsing.cancel()
      _ = await browsing.value
      do throws(NodeError) {
        self.lobby?.problem = nil
        guard try await open(choice, lobby) else { return }
        self.lobby?.opened()
      } catch {
        self.lobby?.problem = error.problem
        var target: String?
        switch choice {
        case _ where error.isRemoval: break
        case .join(let wanted, let code)
        where error.code == .notAllowed || (code != nil && error.code == .usage):
          target = wanted
        case .rejoin(let board, _) where error.code == .notAllowed: target = board
        default: break
        }
        self.lobby?.failed(error.message, wantsCodeFor: target)
      }
    }
  }

  /// Opens the chosen entry.
  ///
  /// - Returns: Whether it was a board.
  /// - Throws: The error that ended its node.
  private func open(_ choice: LobbyClient.Choice, _ lobby: Lobby) async throws(NodeError) -> Bool {
    guard let configuration = try await lobby.configuration(choice) else { return false }
    guard case .rejoin(_, let path) = choice else {
      try await show(configuration)
      return true
    }
    do throws(NodeError) {
      try await show(configuration)
    } catch {
      // The announcement may be outdated. The local copy is available in any case.
      guard error.code == .unreachable || error.code == .timedOut || error.isRemoval,
        let own = try await lobby.configuration(.host(path))
      else { throw error }
      // A copy shows a removal itself.
      let notice = "No member answered. This is your own copy. \(error.message)"
      try await show(own, notice: error.isRemoval ? nil : notice)
    }
    return true
  }

  /// Both end with the program that the person runs.
  private func start() -> [Task<Void, Never>] {
    terminal.write(Array(TerminalFeatures.questions.utf8))
    return [Task { await self.listen() }, Task { await self.draw() }]
  }

  private func stop(_ tasks: [Task<Void, Never>]) {
    for task in tasks { task.cancel() }
    terminal.leave()
  }

  private func show(
    _ configuration: NodeConfiguration,
    notice: String? = nil
  ) async throws(NodeError) {
    var configuration = configuration
    configuration.keepsPhotoFiles = false
    let size = terminal.size
    feed = CommandFeed()
    let node = Node(configuration, input: feed, sink: self)
    self.node = node
    _ = changes.takeAll()
    photos = PhotoDisplay()
    board = BoardClient(
      columns: size.columns,
      rows: size.rows,
      dotStyle: features.dotStyle,
      keys: keys,
      hasColors: features.depth != .none
    )
    board?.home = home
    board?.allowsMotion = settings.allowsMotion
    board?.draw(on: features.background)
    if case .join(let target, _) = configuration.part {
      board?.connect(to: target.words, now: time)
    }
    if let notice { board?.say(notice, isBad: true) }
    shown = nil
    wakeUp.yield()
    defer { (self.node, board, shown) = (nil, nil, nil) }
    try await node.run()
  }

  private func browse(_ discovery: any Discovery) async {
    await discovery.browse(BrowserQuery(excluding: nil)) { events in
      for await event in events { self.saw(event) }
    }
  }

  private func saw(_ event: BrowserEvent) {
    switch event {
    case .found(let peer), .updated(let peer): lobby?.found(NodeEvent.FoundBoard(peer))
    case .lost(let peer): lobby?.lost(NodeEvent.LostBoard(peer))
    case .unavailable(let problem): lobby?.isBlind(problem.description)
    case .available: break
    }
    wakeUp.yield()
  }

  private func nextChoice() async -> LobbyClient.Choice {
    if isEnding { return .quit }
    return await withCheckedContinuation { choice = $0 }
  }

  private func choose(_ wanted: LobbyClient.Choice) {
    choice?.resume(returning: wanted)
    choice = nil
  }

  /// Asks whatever is shown to end, and the program after it.
  package func requestEnd() async {
    isEnding = true
    choose(.quit)
    await node?.requestEnd()
  }

  /// Ends the current screen and then the program; if work would be lost, it asks the user once.
  ///
  /// - Returns: Whether it ends without asking.
  package func requestEndUnlessUnsaved() async -> Bool {
    isEnding = true
    choose(.quit)
    let actions = board?.leaveAtRequest() ?? [.quit]
    await carryOut(actions)
    wakeUp.yield()
    return !actions.isEmpty
  }

  private var time: Duration { clock.now - began }

  // MARK: - What happens

  private func listen() async {
    for await news in terminal.news {
      switch news {
      case .bytes(let bytes): await take(bytes)
      case .resized:
        let size = terminal.size
        features.cellSize = terminal.cellSize ?? features.cellSize
        board?.resize(columns: size.columns, rows: size.rows)
        lobby?.resize(columns: size.columns, rows: size.rows)
        shown = nil
        wakeUp.yield()
      case .hungUp: await requestEnd()
      }
    }
  }

  private func take(_ bytes: [UInt8]) async {
    inputCount += 1
    await take(parser.feed(bytes))
    guard parser.isWaiting else { return }
    let count = inputCount
    // Ends within a moment, and does nothing where more has come.
    Task {
      try? await clock.sleep(for: Self.escapePatience)
      await self.finishInput(count)
    }
  }

  private func finishInput(_ count: Int) async {
    guard count == inputCount else { return }
    await take(parser.finish())
  }

  private func take(_ events: [InputEvent]) async {
    drainChanges()
    for var event in events {
      if case .reply(let reply) = event {
        terminal.write(Array(features.take(reply, settings).utf8))
        board?.draw(on: features.background)
        continue
      }
      if case .mouse(let mouse) = event, features.hasPixelMouse, let cell = features.cellSize {
        event = .mouse(mouse.inCells(width: cell.width, height: cell.height))
      }
      if board != nil {
        await carryOut(board?.take(event, now: time) ?? [])
      } else if event == .key(.character("z"), .control) {
        await carryOut([.suspend])
      } else if let wanted = lobby?.take(event, now: time) {
        choose(wanted)
      }
    }
    wakeUp.yield()
  }

  private func carryOut(_ actions: [BoardClient.Action]) async {
    for action in actions {
      switch action {
      case .command(let request): feed.push(request)
      case .quit: await node?.requestEnd()
      case .redraw: shown = nil
      case .suspend:
        guard terminal.suspend() else {
          if board != nil {
            board?.say(Terminal.cannotSuspend, isBad: true)
          } else {
            lobby?.failed(Terminal.cannotSuspend, wantsCodeFor: nil)
          }
          continue
        }
        if features.hasPixelMouse { terminal.write(Array("\u{1B}[?1016h".utf8)) }
        shown = nil
      case .clipboard(let text):
        // The terminal puts it where other programs paste from; many allow that, and none answers.
        terminal.write(Array("\u{1B}]52;c;\(Base64.encode(Array(text.utf8)))\u{1B}\\".utf8))
      case .findFiles(let beginning):
        board?.complete(files: FileCompletion.paths(beginning: beginning), for: beginning)
      }
    }
  }

  // MARK: - What the node tells

  package func write(_ events: [NodeEvent]) async throws(OutputError) {
    drainChanges()
    for event in events { await carryOut(board?.take(event, now: time) ?? []) }
    wakeUp.yield()
  }

  package nonisolated func show(_ change: BoardChange) {
    changes.append(change)
    wakeUp.yield()
  }

  private func drainChanges() {
    // After a quiet while, the time of the last frame is long past.
    board?.advance(to: time)
    for change in changes.takeAll() {
      if case .photo(let asset) = change {
        // Without colors, cells would show nothing of it.
        let byCells = settings.graphics != .none && features.depth != .none
        if let wish = photos.found(asset, byCells: byCells) { read(wish) }
      } else {
        board?.take(change, now: time)
      }
    }
  }

  // MARK: - Drawing

  private func draw() async {
    var next = clock.now
    for await _ in wake {
      if clock.now < next { try? await clock.sleep(until: next, tolerance: .zero) }
      guard !Task.isCancelled else { return }
      next = clock.now + Self.frameInterval
      await drawFrame()
    }
  }

  private func drawFrame() async {
    drainChanges()
    lobby?.tick(now: time)
    await carryOut(board?.tick(now: time) ?? [])
    scheduleNext()
    photos.use(features.graphics, features.cellSize)
    let inView = board?.photosInView() ?? PhotosInView()
    for wish in photos.wishes(for: inView.upright) { read(wish) }
    let asPixels = photos.assetsShownAsPixels(inView)
    board?.leaveBlank(asPixels)
    guard let (screen, cursor) = board?.frame() ?? lobby?.frame() else { return }
    let placements = inView.upright.filter { asPixels.contains($0.asset) }
    let pictures = photos.update(
      to: placements,
      repainted: placements.compactMap { placement in
        guard let shown else { return placement.visible }
        return shown.change(to: screen, in: placement.visible)
      },
      isCleared: shown == nil
    )
    // Pictures come after the clearing of the screen, and what is written over them after both.
    var before = shown ?? Screen(width: screen.width, height: screen.height)
    for area in pictures?.overwritten ?? [] { before.fill(area) }
    var bytes = shown == nil ? Array(ScreenWriter.clearing.utf8) : []
    bytes += (pictures?.bytes ?? []) + writer.bytes(from: before, to: screen)
    let isCursorElsewhere = cursor?.x != shownCursor?.x || cursor?.y != shownCursor?.y
    guard !bytes.isEmpty || isCursorElsewhere else { return }
    // Shown at once by terminals that know it, and passed over by the others.
    let hiding = shownCursor == nil && shown != nil ? "" : "\u{1B}[?25l"
    bytes = Array("\u{1B}[?2026h\(hiding)".utf8) + bytes
    if let cursor { bytes += Array("\u{1B}[\(cursor.y + 1);\(cursor.x + 1)H\u{1B}[?25h".utf8) }
    bytes += Array("\u{1B}[?2026l".utf8)
    terminal.write(bytes)
    (shown, shownCursor) = (screen, cursor)
  }

  /// Reads a photo beside everything else.
  private func read(_ wish: PhotoDisplay.Wish) {
    guard let node else { return }
    let paper = features.background ?? 0xFFFFFF
    // Ends by itself when the photo is read.
    Task.detached(priority: .utility) {
      let path = await node.openPhoto(wish.asset)
      let reading = path.map { wish.read($0, on: paper) }
      await node.closePhoto(wish.asset)
      if let reading {
        await self.took(reading, of: wish.asset)
      } else {
        await self.photoFailed(wish.asset)
      }
    }
  }

  private func photoFailed(_ asset: AssetID) { photos.failed(asset) }

  private func took(_ reading: PhotoDisplay.Reading, of asset: AssetID) {
    switch reading {
    case .cells(let pixels?): board?.show(pixels, of: asset)
    case .pixels(let photo?): photos.took(photo, of: asset)
    case .cells(nil), .pixels(nil): return
    }
    wakeUp.yield()
  }

  /// What is said for a while, or counts seconds, is drawn again without anything happening.
  private func scheduleNext() {
    guard board?.isTicking ?? lobby?.isTicking ?? false, !isTickDue else { return }
    isTickDue = true
    // Ends after its sleep; a late one draws nothing new.
    Task {
      try? await clock.sleep(for: .milliseconds(500))
      isTickDue = false
      wakeUp.yield()
    }
  }
}

/// What the node has said of the board and nobody has drawn yet.
private final class ChangeQueue: Sendable {
  private let changes = Mutex<[BoardChange]>([])

  /// Beyond that, only the latest of each object, member and photo is kept.
  private static let limit = 4096

  func append(_ change: BoardChange) {
    changes.withLock { changes in
      changes.append(change)
      if changes.count >= Self.limit, changes.count % Self.limit == 0 { Self.thin(&changes) }
    }
  }

  func takeAll() -> [BoardChange] {
    changes.withLock { changes in
      defer { changes = [] }
      return changes
    }
  }

  private static func thin(_ changes: inout [BoardChange]) {
    var seen: Set<ObjectID> = []
    var members: Set<MemberID> = []
    var photos: Set<AssetID> = []
    var isSavingSeen = false
    var kept: [BoardChange] = []
    for change in changes.reversed() {
      let isLatest: Bool =
        switch change {
        case .shown(let snapshot, _): seen.insert(snapshot.id).inserted
        case .removed(let id): seen.insert(id).inserted
        case .preview(let preview): !seen.contains(preview.stroke)
        case .presence(let member, _): members.insert(member).inserted
        case .photo(let id): photos.insert(id).inserted
        case .saving:
          !isSavingSeen
        }
      if case .saving = change { isSavingSeen = true }
      if isLatest { kept.append(change) }
    }
    changes = kept.reversed()
  }
}

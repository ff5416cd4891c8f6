import Synchronization
import Whiteboard
import WhiteboardNode
import WhiteboardRendering

/// A node on a terminal: what a person does goes to the node, and what it tells is drawn.
///
/// The one owner of a ``BoardClient``. A frame is drawn when something changed, at most sixty times a
/// second; nothing is done while nothing happens.
package actor BoardTerminal: EventSink {
  private let terminal: Terminal
  private let writer: ScreenWriter
  private let feed = LineFeed()
  private let changes = ChangeQueue()
  private let clock = ContinuousClock()
  private let began: ContinuousClock.Instant
  private let wake: AsyncStream<Void>
  private let wakeUp: AsyncStream<Void>.Continuation
  private var client: BoardClient
  private var parser = InputParser()
  private var inputCount = 0
  private var shown: Screen?
  private var shownCursor: (x: Int, y: Int)?
  private var node: Node?
  private var isTickDue = false

  /// The time between two frames.
  private static let frameInterval = Duration.milliseconds(16)
  /// How long an Escape may be the beginning of more.
  private static let escapePatience = Duration.milliseconds(30)

  /// Takes over for a board.
  package init(_ terminal: Terminal, _ features: TerminalFeatures) {
    self.terminal = terminal
    writer = ScreenWriter(depth: features.depth)
    began = clock.now
    (wake, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    let size = terminal.size
    client = BoardClient(columns: size.columns, rows: size.rows, dotStyle: features.dotStyle)
  }

  /// Runs a node until it is over, and shows its board.
  ///
  /// - Throws: What ended the node.
  package func run(_ configuration: NodeConfiguration) async throws(NodeError) {
    let node = Node(configuration, input: feed, sink: self)
    self.node = node
    // Both end with the node, below.
    let listening = Task { await self.listen() }
    let drawing = Task { await self.draw() }
    wakeUp.yield()
    defer {
      listening.cancel()
      drawing.cancel()
      terminal.leave()
    }
    try await node.run()
  }

  /// Asks the node to end.
  package func requestEnd() async { await node?.requestEnd() }

  // MARK: - What happens

  private func listen() async {
    for await news in terminal.news {
      switch news {
      case .bytes(let bytes): await take(bytes)
      case .resized:
        let size = terminal.size
        client.resize(columns: size.columns, rows: size.rows)
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
    for event in events { await carryOut(client.take(event, now: clock.now - began)) }
    wakeUp.yield()
  }

  private func carryOut(_ actions: [BoardClient.Action]) async {
    for action in actions {
      switch action {
      case .verb(let line): await feed.push(line)
      case .quit: await requestEnd()
      case .redraw: shown = nil
      case .suspend:
        terminal.suspend()
        shown = nil
      }
    }
  }

  // MARK: - What the node tells

  package func write(_ events: [NodeEvent]) async throws(OutputError) {
    drainChanges()
    for event in events { await carryOut(client.take(event)) }
    wakeUp.yield()
  }

  package nonisolated func show(_ change: BoardChange) {
    changes.append(change)
    wakeUp.yield()
  }

  private func drainChanges() {
    for change in changes.takeAll() { client.take(change) }
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
    await carryOut(client.tick(now: clock.now - began))
    scheduleNext()
    let (screen, cursor) = client.frame()
    var bytes = writer.bytes(from: shown, to: screen)
    let isCursorElsewhere = cursor?.x != shownCursor?.x || cursor?.y != shownCursor?.y
    guard !bytes.isEmpty || isCursorElsewhere else { return }
    // Shown at once by terminals that know it, and passed over by the others.
    bytes = Array("\u{1B}[?2026h\u{1B}[?25l".utf8) + bytes
    if let cursor { bytes += Array("\u{1B}[\(cursor.y + 1);\(cursor.x + 1)H\u{1B}[?25h".utf8) }
    bytes += Array("\u{1B}[?2026l".utf8)
    terminal.write(bytes)
    (shown, shownCursor) = (screen, cursor)
  }

  /// What is said for a while, or counts seconds, is drawn again without anything happening.
  private func scheduleNext() {
    guard client.isTicking, !isTickDue else { return }
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

  /// Beyond that, only the latest of each object is kept.
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
    var cursors: Set<MemberID> = []
    var kept: [BoardChange] = []
    for change in changes.reversed() {
      let isLatest: Bool =
        switch change {
        case .shown(let snapshot, _): seen.insert(snapshot.id).inserted
        case .removed(let id): seen.insert(id).inserted
        case .preview(let preview): !seen.contains(preview.stroke)
        case .cursor(let member, _): cursors.insert(member).inserted
        }
      if isLatest { kept.append(change) }
    }
    changes = kept.reversed()
  }
}

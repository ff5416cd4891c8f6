import PeerCore

@testable import Whiteboard
@testable import WhiteboardKit
@testable import WhiteboardTerminal

/// A user with a board of their own, who uses the terminal or writes lines.
actor Hand: EventSink {
  private let feed = CommandFeed()
  private var sharedBoard: SharedBoard?
  private var client = BoardClient(columns: 100, rows: 24, dotStyle: .braille)
  private let reports = ChangeQueue()
  private var now = Duration.zero
  private var asked = 0
  private var answered = 0
  private var isReady = false
  private var waiters: [CheckedContinuation<Void, Never>] = []
  private(set) var errors: [String] = []
  private(set) var listed: [ReportedObject] = []
  private(set) var chat: [String] = []

  func run(_ configuration: BoardConfiguration) async throws {
    let sharedBoard = SharedBoard(configuration, input: feed, sink: self)
    self.sharedBoard = sharedBoard
    defer { wake() }
    try await sharedBoard.run()
  }

  func end() async { await sharedBoard?.requestEnd() }

  // MARK: - Actions of the user

  /// Sends keys and mouse events as a terminal does, with ^ for Escape, and waits for the effect of each.
  func type(_ text: String) async {
    await untilReady()
    var parser = InputParser()
    let events = parser.feed(text.replacing("^", with: "\u{1B}").utf8) + parser.finish()
    for event in events {
      // Advance the time, so that no two clicks count as a double click.
      now += .seconds(1)
      await perform(client.handleInput(event, now: now) + client.beginFrame(now: now))
    }
  }

  private func perform(_ actions: [BoardClient.Action]) async {
    var isAnswered = false
    for case .command(let request) in actions {
      feed.push(request)
      isAnswered = isAnswered || request.request != nil
    }
    if isAnswered { await settle() }
  }

  /// Sends a line of a script or of a program.
  func write(_ line: String) async {
    await untilReady()
    feed.push(line)
    await settle()
  }

  func look() async -> [ReportedObject] {
    await write("objects")
    return listed
  }

  // MARK: - Events of the board

  /// Waits until all commands are done.
  private func settle() async {
    asked += 1
    feed.push("peers request=settled-\(asked)")
    while answered < asked { await withCheckedContinuation { waiters.append($0) } }
  }

  private func untilReady() async { while !isReady { await withCheckedContinuation { waiters.append($0) } } }

  private func wake() {
    // The board refers to this object as its sink.
    sharedBoard = nil
    (isReady, answered) = (true, .max)
    for waiter in waiters { waiter.resume() }
    waiters = []
  }

  func write(_ events: [SharedBoard.Output]) async throws(OutputError) {
    while let report = reports.popFirst() {
      switch report {
      case .change(let change): client.applyChange(change)
      case .result(let outcome, let request): _ = client.receive(outcome, of: request)
      }
    }
    for event in events {
      // The client's user did not request this list, which would cover the board.
      if case .answer(.peers, _) = event { continue }
      // The first requests of the client change nothing.
      _ = client.receive(event)
      switch event {
      case .news(.ready): isReady = true
      case .answer(.done, .word(let word)?) where word.hasPrefix("settled-"): answered += 1
      case .answer(.error(let failure), _): errors.append("\(failure.verb ?? ""): \(failure.message)")
      case .answer(.objects(let objects), _): listed = Array(objects)
      case .change(.chat(let line, _), _): chat.append(line.text)
      default: break
      }
    }
    for waiter in waiters { waiter.resume() }
    waiters = []
  }

  nonisolated func boardChanged(_ change: SharedBoard.Change) { reports.append(.change(change)) }

  nonisolated func commandReturned(_ outcome: CommandOutcome, to request: RequestMark) {
    reports.append(.result(outcome, of: request))
  }
}

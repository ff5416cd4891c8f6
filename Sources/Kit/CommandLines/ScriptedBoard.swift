import PeerSession
import WhiteboardKit

/// A shared board that code controls with lines or commands. The code can read each answer and all events.
package actor ScriptedBoard: EventSink {
  private let feed = CommandFeed()
  /// The board while ``run(_:)`` runs. The board refers to this object as its sink, so a reference that remains after
  /// that would keep both objects, with their open files.
  package private(set) var sharedBoard: SharedBoard?
  package private(set) var requestCount: Int64 = 0
  private var answers: [Int64: CheckedContinuation<Result<CommandOutcome, CommandError>, Never>] = [:]
  private var watchers:
    [(matches: @Sendable (SharedBoard.Output) -> Bool, continuation: CheckedContinuation<Bool, Never>)] = []
  private var isOver = false
  package private(set) var isEnding = false
  private let narrate: @Sendable (SharedBoard.Output) async -> Void
  package private(set) var events: [SharedBoard.Output] = []

  package init(narrate: @escaping @Sendable (SharedBoard.Output) async -> Void = { _ in }) { self.narrate = narrate }

  /// Call this method only once. Throws the error that closed the board.
  package func run(_ configuration: BoardConfiguration) async throws(WhiteboardError) {
    let sharedBoard = SharedBoard(configuration, input: feed, sink: self)
    self.sharedBoard = sharedBoard
    defer { over() }
    guard !isEnding else { return }
    try await sharedBoard.run()
  }

  private func over() {
    isOver = true
    sharedBoard = nil
    for answer in answers.values { answer.resume(returning: .failure(CommandError(.ending, "the board is closed"))) }
    answers = [:]
    for watcher in watchers { watcher.continuation.resume(returning: false) }
    watchers = []
  }

  /// Runs the command of a line, and waits for the answer; throws the error in the answer, or `ending` if the board is
  /// closed before the answer. Canceling the task does not end the wait, but ``end()`` does.
  @discardableResult package func perform(_ line: String) async throws(CommandError) -> CommandOutcome {
    guard let request = try CommandParser.parse(line) else { throw CommandError(.syntax, "the line has no command") }
    return try await perform(request.command)
  }

  @discardableResult package func perform(_ command: Command) async throws(CommandError) -> CommandOutcome {
    guard !isOver else { throw CommandError(.ending, "the board is closed") }
    requestCount += 1
    let mark = requestCount
    let result = await withCheckedContinuation { continuation in
      answers[mark] = continuation
      feed.push(CommandRequest(command, request: .number(mark)))
    }
    return try result.get()
  }

  /// Waits for a matching event, unless there already was one; returns false if the board is closed first.
  package func sees(_ matches: @escaping @Sendable (SharedBoard.Output) -> Bool) async -> Bool {
    if events.contains(where: matches) { return true }
    guard !isOver else { return false }
    return await withCheckedContinuation { watchers.append((matches, $0)) }
  }

  package func end() async {
    isEnding = true
    await sharedBoard?.requestEnd()
  }

  package func ready() async -> SharedBoard.News.Ready? {
    guard await sees({ if case .news(.ready) = $0 { true } else { false } }) else { return nil }
    for case .news(.ready(let ready)) in events { return ready }
    return nil
  }

  package nonisolated var contents: EventContents { .lines }

  package func write(_ events: [SharedBoard.Output]) async throws(OutputError) {
    for event in events {
      await narrate(event)
      self.events.append(event)
      switch event {
      case .answer(.done(_, let outcome), let request): answer(request, .success(outcome))
      case .answer(.error(let error), let request): answer(request, .failure(error))
      default: break
      }
      for index in watchers.indices.reversed() where watchers[index].matches(event) {
        watchers.remove(at: index).continuation.resume(returning: true)
      }
    }
  }

  private func answer(_ mark: RequestMark?, _ result: Result<CommandOutcome, CommandError>) {
    guard case .number(let number)? = mark else { return }
    answers.removeValue(forKey: number)?.resume(returning: result)
  }
}

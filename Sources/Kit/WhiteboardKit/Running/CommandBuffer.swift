import PeerCore

/// The buffer between the input, which adds commands, and the runner, which removes them. One task adds commands, and
/// one task waits for them. Confined to the actor of its board.
final class CommandBuffer {
  private var queue = CommandQueue()
  private(set) var isAtEnd: Bool
  private var isClosed = false
  private var consumer: CheckedContinuation<Void, Never>?
  private var producer: CheckedContinuation<Void, Never>?

  init(hasInput: Bool) { isAtEnd = !hasInput }

  /// Whether the first command may be due before its turn.
  var firstAnswers: Bool { queue.firstAnswers }
  var isAtEndOrFull: Bool { isAtEnd || queue.isFull }
  var canHoldAnswer: Bool { !isAtEndOrFull || contains(where: \.answersInvitation) }

  func contains(where holds: (Command) -> Bool) -> Bool { queue.contains(where: holds) }

  // MARK: - The input

  func append(_ input: CommandInput) {
    queue.append(input)
    resumeConsumer()
  }

  nonisolated(nonsending) func room() async {
    while queue.isFull, !isClosed { await withCheckedContinuation { producer = $0 } }
  }

  func endInput() {
    isAtEnd = true
    resumeConsumer()
  }

  // MARK: - The runner

  /// Waits for the next command; nil after the last command, or if the buffer is closed.
  nonisolated(nonsending) func nextCommand() async -> CommandInput? {
    while !isClosed {
      if let input = queue.popFirst() {
        resumeProducer()
        return input
      }
      guard !isAtEnd else { return nil }
      await withCheckedContinuation { consumer = $0 }
    }
    return nil
  }

  func popFirst() -> CommandInput? {
    defer { resumeProducer() }
    return queue.popFirst()
  }

  func popFirst(where isDue: (Command) -> Bool) -> CommandRequest? {
    defer { resumeProducer() }
    return queue.popFirst(where: isDue)
  }

  func popAny(where isDue: (_ command: Command, _ isFirst: Bool) -> Bool) -> CommandRequest? {
    defer { resumeProducer() }
    return queue.popAny(where: isDue)
  }

  // MARK: - The end

  func close() {
    isClosed = true
    resumeConsumer()
    resumeProducer()
  }

  private func resumeConsumer() {
    consumer?.resume()
    consumer = nil
  }

  private func resumeProducer() {
    producer?.resume()
    producer = nil
  }
}

/// The commands that were read and have not run yet, in order. `accept`, `decline` and `cancel` refer to a request, an
/// offer or a transfer. If the request, offer or transfer is pending, the command runs immediately, even while another
/// command waits. Otherwise, the command runs in order. The meaning of a script therefore does not depend on how fast
/// the script is read.
struct CommandQueue: Sendable {
  private var entries: [CommandInput] = []
  private var head = 0

  static let capacity = 64

  var firstAnswers: Bool {
    guard head < entries.count, case .request(let request) = entries[head] else { return false }
    return request.command.answersOrCancels
  }

  var isFull: Bool { entries.count - head >= CommandQueue.capacity }

  mutating func append(_ entry: CommandInput) { entries.append(entry) }

  mutating func popFirst() -> CommandInput? {
    guard head < entries.count else { return nil }
    defer {
      head += 1
      if head == entries.count {
        entries.removeAll(keepingCapacity: true)
        head = 0
      }
    }
    return entries[head]
  }

  mutating func popFirst(where isDue: (Command) -> Bool) -> CommandRequest? {
    guard head < entries.count, case .request(let request) = entries[head], isDue(request.command) else { return nil }
    _ = popFirst()
    return request
  }

  mutating func popAny(where isDue: (_ command: Command, _ isFirst: Bool) -> Bool) -> CommandRequest? {
    for index in head..<entries.count {
      guard case .request(let request) = entries[index], isDue(request.command, index == head) else { continue }
      entries.remove(at: index)
      return request
    }
    return nil
  }

  func contains(where holds: (Command) -> Bool) -> Bool {
    entries[head...].contains { entry in
      guard case .request(let request) = entry else { return false }
      return holds(request.command)
    }
  }
}

package final class CommandFeed: CommandSource {
  private struct State {
    var inputs: [CommandInput] = []
    var isFinished = false
    var waiter: CheckedContinuation<[CommandInput]?, Never>?
  }

  private let state = Locked(State())

  package init() {}

  /// Adds a command; never waits, even if many commands are queued.
  package func push(_ request: CommandRequest) { push(.request(request)) }

  package func push(_ input: CommandInput) {
    let waiter = state.withLock { state in
      guard let waiter = state.waiter.take() else {
        state.inputs.append(input)
        return nil as CheckedContinuation<[CommandInput]?, Never>?
      }
      return waiter
    }
    waiter?.resume(returning: [input])
  }

  package func finish() {
    let waiter = state.withLock { state in
      state.isFinished = true
      return state.waiter.take()
    }
    waiter?.resume(returning: nil)
  }

  /// Waits for commands; returns nil after the last command. Canceling the task also ends the feed and returns nil.
  package func nextInputs() async -> [CommandInput]? {
    await withCancellation {
      await withCheckedContinuation { continuation in
        let next: [CommandInput]?? = state.withLock { state in
          guard state.inputs.isEmpty else {
            defer { state.inputs.removeFirst(min(CommandQueue.capacity, state.inputs.count)) }
            return Array(state.inputs.prefix(CommandQueue.capacity))
          }
          guard !state.isFinished else { return .some(nil) }
          state.waiter = continuation
          return nil
        }
        if let next { continuation.resume(returning: next) }
      }
    } onCancel: {
      finish()
    }
  }
}

/// The buffer between the input, which adds commands, and the runner, which removes them.
///
/// Confined to the actor of its board. One task adds commands, and one task waits for them.
final class CommandBuffer {
  private var queue = CommandQueue()
  private(set) var isAtEnd: Bool
  private var isClosed = false
  /// The task that waits for a command.
  private var consumer: CheckedContinuation<Void, Never>?
  /// The task that waits for room.
  private var producer: CheckedContinuation<Void, Never>?

  /// Creates an empty buffer.
  ///
  /// - Parameter hasInput: Whether the input can add commands.
  init(hasInput: Bool) { isAtEnd = !hasInput }

  /// Whether no command can be added now.
  var isAtEndOrFull: Bool { isAtEnd || queue.isFull }

  /// Whether the buffer contains a command that answers a question, or can still receive one.
  var canHoldAnswer: Bool { !isAtEndOrFull || contains(where: \.answersInvitation) }

  /// Whether a condition holds for at least one of the commands.
  func contains(where holds: (Command) -> Bool) -> Bool { queue.contains(where: holds) }

  // MARK: - The input

  /// Adds a command.
  func append(_ input: CommandInput) {
    queue.append(input)
    resumeConsumer()
  }

  /// Waits until there is room for another command, or the buffer is closed.
  nonisolated(nonsending) func room() async {
    while queue.isFull, !isClosed { await withCheckedContinuation { producer = $0 } }
  }

  /// Handles the end of the input.
  func endInput() {
    isAtEnd = true
    resumeConsumer()
  }

  // MARK: - The runner

  /// Removes the first command; waits until there is one.
  ///
  /// - Returns: The command; nil after the last one, or if the buffer is closed.
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

  /// Removes the first command if a condition holds for it.
  func popFirst(where isDue: (Command) -> Bool) -> CommandRequest? {
    defer { resumeProducer() }
    return queue.popFirst(where: isDue)
  }

  /// Removes the first of all commands for which a condition holds.
  ///
  /// - Parameter isDue: The condition; also receives whether the command is the first in the buffer.
  /// - Returns: The command; nil if the condition holds for none.
  func popAny(where isDue: (_ command: Command, _ isFirst: Bool) -> Bool) -> CommandRequest? {
    defer { resumeProducer() }
    return queue.popAny(where: isDue)
  }

  // MARK: - The end

  /// Closes the buffer and resumes both waiting tasks.
  ///
  /// It can be called more than once.
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

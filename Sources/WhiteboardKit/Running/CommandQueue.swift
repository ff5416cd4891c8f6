/// The commands that were read and have not run yet, in order.
///
/// `accept`, `decline` and `cancel` refer to a request, an offer or a transfer. Such a command runs immediately if its
/// request, offer or transfer is pending, even while another command waits. Otherwise, it runs in order. The meaning of
/// a script therefore does not depend on how fast it is read.
struct CommandQueue: Sendable {
  private var entries: [CommandInput] = []
  private var head = 0

  /// The maximum number of commands that are read ahead.
  static let capacity = 64

  /// Whether the queue has no room for more commands.
  var isFull: Bool { entries.count - head >= CommandQueue.capacity }

  /// Adds a command at the end.
  mutating func append(_ entry: CommandInput) { entries.append(entry) }

  /// Removes the first command.
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

  /// Removes the first command, if `isDue` returns true for it.
  mutating func popFirst(where isDue: (Command) -> Bool) -> CommandRequest? {
    guard head < entries.count, case .request(let request) = entries[head], isDue(request.command) else { return nil }
    _ = popFirst()
    return request
  }

  /// Removes the first of the commands for which `isDue` returns true.
  ///
  /// - Parameter isDue: Whether a command can run now; also receives whether the command is the first in the queue.
  /// - Returns: The command; nil if none can run.
  /// - Complexity: O(*n*), where *n* is the number of queued commands.
  mutating func popAny(where isDue: (_ command: Command, _ isFirst: Bool) -> Bool) -> CommandRequest? {
    for index in head..<entries.count {
      guard case .request(let request) = entries[index], isDue(request.command, index == head) else { continue }
      entries.remove(at: index)
      return request
    }
    return nil
  }

  /// Whether a condition holds for at least one of the commands.
  func contains(where holds: (Command) -> Bool) -> Bool {
    entries[head...].contains { entry in
      guard case .request(let request) = entry else { return false }
      return holds(request.command)
    }
  }
}

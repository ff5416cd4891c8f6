/// The verbs that were read and not yet carried out, in order.
///
/// `accept`, `decline` and `cancel` answer something that others began. Where they name something
/// that is pending they act at once, even while another verb waits; otherwise they take their turn
/// like all the rest, so that a script means the same however fast it is read.
struct CommandQueue: Sendable {
  private var entries: [CommandInput] = []
  private var head = 0

  /// How many lines are read ahead.
  static let capacity = 64

  /// Whether no more lines should be read for now.
  var isFull: Bool { entries.count - head >= CommandQueue.capacity }

  /// Whether nothing is left to do.
  var isEmpty: Bool { head == entries.count }

  /// Adds a line at the end.
  mutating func append(_ entry: CommandInput) {
    entries.append(entry)
  }

  /// Takes the first line.
  mutating func takeFirst() -> CommandInput? {
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

  /// Removes the first line if it is a command that may run out of order, according to `isDue`.
  mutating func takeFirst(where isDue: (Command) -> Bool) -> CommandRequest? {
    guard head < entries.count, case .request(let request) = entries[head], isDue(request.command)
    else { return nil }
    _ = takeFirst()
    return request
  }

  /// Takes the first of all verbs for which `isDue`, told whether nothing stands before it, says
  /// that it can be carried out now.
  ///
  /// - Complexity: O(*n*) in the lines that wait.
  mutating func takeAny(
    where isDue: (_ verb: Command, _ isFirst: Bool) -> Bool
  ) -> CommandRequest? {
    for index in head..<entries.count {
      guard case .request(let request) = entries[index], isDue(request.command, index == head)
      else { continue }
      entries.remove(at: index)
      return request
    }
    return nil
  }

  /// Whether one of the verbs that wait is such a one.
  func contains(where holds: (Command) -> Bool) -> Bool {
    entries[head...].contains { entry in
      guard case .request(let request) = entry else { return false }
      return holds(request.command)
    }
  }
}

import WhiteboardKit

struct PendingRequests: Hashable, Sendable {
  private(set) var nextID: Int64 = 1
  private var pending: Set<Int64> = []

  /// Returns a command with a new request id; throws if a value of the command is outside its limits.
  ///
  /// The request is pending until the board answers it.
  mutating func request(_ command: Command) throws(CommandError) -> CommandRequest {
    let command = try command.checked()
    defer { nextID += 1 }
    pending.insert(nextID)
    return CommandRequest(command, request: .number(nextID))
  }

  mutating func finish(_ id: Int64) { pending.remove(id) }

  /// Returns whether the board has not answered a request yet.
  func isPending(_ id: Int64) -> Bool { pending.contains(id) }

  /// The number of requests that the board has not answered.
  var count: Int { pending.count }
}

extension RequestMark {
  /// The id as a number; nil if it is a word.
  ///
  /// The client's own request ids are always numbers.
  var number: Int64? { if case .number(let number) = self { number } else { nil } }
}

import WhiteboardSync

/// The actions that the inputs of a replica returned, until a test takes them.
final class ActionLog {
  private var actions: [ReplicaAction] = []

  /// Adds the actions of an input.
  static func += (log: ActionLog, actions: [ReplicaAction]) { log.actions += actions }

  /// Adds the actions of an input that also has a value, and returns the value.
  func value<Value>(of outcome: (value: Value, actions: [ReplicaAction])) -> Value {
    actions += outcome.actions
    return outcome.value
  }

  /// Removes and returns all actions.
  func take() -> [ReplicaAction] {
    defer { actions = [] }
    return actions
  }
}

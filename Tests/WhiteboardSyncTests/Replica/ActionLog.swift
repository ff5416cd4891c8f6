import WhiteboardSync

/// The actions that the inputs of a replica returned, until a test takes them.
final class ActionLog {
  private var actions: [ReplicaAction] = []

  static func += (log: ActionLog, actions: [ReplicaAction]) { log.actions += actions }

  func value<Value>(of outcome: (value: Value, actions: [ReplicaAction])) -> Value {
    actions += outcome.actions
    return outcome.value
  }

  func take() -> [ReplicaAction] {
    defer { actions = [] }
    return actions
  }
}

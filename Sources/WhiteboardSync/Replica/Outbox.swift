import Whiteboard

/// The actions that a replica has not handed to its owner yet, in order.
final class Outbox {
  private var actions: [ReplicaAction] = []

  /// Removes and returns all pending actions.
  func removeAll() -> [ReplicaAction] {
    defer { actions = [] }
    return actions
  }

  /// Adds an action behind the others.
  func append(_ action: ReplicaAction) { actions.append(action) }

  /// Adds a message to one member.
  func send(_ message: SyncMessage, to member: MemberID) { send(message, to: [member]) }

  /// Adds a message with the same bytes for some members; does nothing if there are none.
  func send(_ message: SyncMessage, to members: [MemberID]) {
    guard !members.isEmpty else { return }
    append(.send(message.encode(), to: members))
  }

  /// Adds a datagram with the same bytes for some members; does nothing if there are none.
  func send(_ datagram: SyncDatagram, to members: [MemberID]) {
    guard !members.isEmpty else { return }
    append(.sendDatagram(datagram.encode(), to: members))
  }

  /// Adds a change that a document must store.
  func record(_ change: StoredChange) { append(.record(change)) }
}

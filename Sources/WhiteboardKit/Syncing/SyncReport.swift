/// The members that a wait for equal boards includes.
enum SyncScope {
  /// All connected members, at least one; each must have the same board as the local peer.
  case connected
  /// All members, including those that are reconnecting. Each must have received the local changes.
  case everybody
}

/// The result of a wait for equal boards.
struct SyncReport: Equatable, Sendable {
  /// The synced members: their boards equal the local one, or contain the local changes.
  var synced: [BoardEvent.SyncedMember] = []
  /// The members that are not synced, including lost members.
  var notSynced: [BoardEvent.SyncedMember] = []
  /// Whether the condition held in time.
  var isComplete = false

  /// The reason why the condition does not hold.
  var problem: String {
    let line = EventText.syncLine(synced, notSynced)
    return line.isEmpty ? "no other member is connected" : line
  }
}

import PeerSession
import Whiteboard
import WhiteboardSync

/// Timed work of the node, and its deadlines.
extension Node {
  /// Performs timed work when it is due, for as long as the node runs.
  func keepTime() async {
    while ending == nil {
      reportBacklogs()
      replica?.tick(now: now)
      performActions()
      if let session { outbox.dropSlowPeers(of: session) { members.isReached($0) } }
      maintainDocument()
      changed()
      await runtime.room()
      await runtime.sleep(until: nextDue)
    }
  }

  /// Wakes ``keepTime()`` by the replica's next deadline.
  func planTime() {
    if let deadline = replica?.nextDeadline { runtime.wake(by: runtime.instant(deadline)) }
  }

  /// The earliest deadline of the node.
  private var nextDue: ContinuousClock.Instant {
    var due = nextPurge
    if let deadline = persistence.nextDeadline { due = min(due, deadline) }
    if let deadline = replica?.nextDeadline { due = min(due, runtime.instant(deadline)) }
    if let deadline = outbox.nextDeadline(after: clock.now) { due = min(due, deadline) }
    return due
  }

  /// Reports to the replica which members have a backlog, so that they get no further answers.
  ///
  /// Otherwise a member that requests answers and accepts none would fill the memory.
  private func reportBacklogs() {
    for peer in members.unorderedIDs {
      guard let member = MemberID(peer.bytes) else { continue }
      replica?.memberIsBacklogged(member, outbox.load(to: peer) > .light)
    }
  }
}

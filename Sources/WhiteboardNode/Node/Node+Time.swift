import PeerSession
import Whiteboard
import WhiteboardSync

/// Timed work of the node, and its deadlines.
extension Node {
  /// Performs timed work when it is due, for as long as the node runs.
  func keepTime() async {
    while ending == nil {
      tellBacklogs()
      replica?.tick(now: now)
      performActions()
      dropSlow()
      lookAfterDocument()
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
    var due = document == nil ? nextPurge : min(nextPurge, nextPresenceCheck)
    if let nextKeyframe { due = min(due, nextKeyframe) }
    if let deadline = replica?.nextDeadline { due = min(due, runtime.instant(deadline)) }
    for queue in queues.values {
      if let deadline = queue.nextDeadline(after: clock.now) { due = min(due, deadline) }
    }
    return due
  }

  /// Tells the replica who takes what it is sent: who asks for answers and takes none would fill our
  /// memory with them.
  private func tellBacklogs() {
    for peer in members.keys {
      guard let member = MemberID(peer.bytes), let queue = queues[way(to: peer)] else { continue }
      replica?.memberIsBacklogged(member, queue.load > .light)
    }
  }

  /// Disconnects peers that are there and take nothing; they may come back and catch up.
  private func dropSlow() {
    guard let session else { return }
    for (way, queue) in queues where members[way]?.isReached == true && queue.isTooSlow {
      queues[way]?.close()
      // It may be gone by itself meanwhile.
      spawn { _ in try? await session.disconnect(way, because: .tooSlow) }
    }
  }
}

import PeerSession
import Whiteboard
import WhiteboardSync

/// Timed work of the node, and its deadlines.
extension Node {
  /// Does what is due, for as long as the node runs; sleeps until then.
  func keepTime() async {
    while ending == nil {
      isWorkDue = false
      tellBacklogs()
      replica?.tick(now: now)
      carryOutActions()
      dropSlow()
      lookAfterDocument()
      changed()
      await room()
      await sleep()
    }
  }

  private func sleep() async {
    guard ending == nil, !isWorkDue else { return }
    // The clock of replicas is in milliseconds.
    let due = max(nextDue, clock.now + .milliseconds(1))
    let sleeper = wakeTimer.begin(until: due)
    await withTaskCancellationHandler {
      await sleeper.value
    } onCancel: {
      sleeper.cancel()
    }
    wakeTimer.end()
  }

  /// Sees that ``keepTime()`` wakes for what the replica has to do next.
  func planTime() {
    if let deadline = replica?.nextDeadline { wakeTimer.wake(by: instant(deadline)) }
  }

  /// Makes ``keepTime()`` check all deadlines now.
  func wakeNow() {
    isWorkDue = true
    wakeTimer.wake(by: clock.now)
  }

  /// When something is due next.
  private var nextDue: ContinuousClock.Instant {
    var due = document == nil ? nextPurge : min(nextPurge, nextPresenceCheck)
    if let nextKeyframe { due = min(due, nextKeyframe) }
    if let deadline = replica?.nextDeadline { due = min(due, instant(deadline)) }
    for queue in queues.values {
      if let deadline = queue.nextDeadline(after: clock.now) { due = min(due, deadline) }
    }
    return due
  }

  /// The first moment at which `now` says that `uptime`.
  private func instant(_ uptime: UInt64) -> ContinuousClock.Instant {
    start + .milliseconds(Int64(clamping: uptime) - 1)
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

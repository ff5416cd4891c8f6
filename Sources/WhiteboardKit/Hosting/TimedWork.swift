import PeerSession
import Whiteboard
import WhiteboardSync

/// The timed work on an open board: deadlines of the replica, slow peers, the board's file, browser links, and purges.
///
/// Confined to the actor of its board.
final class TimedWork {
  /// The interval between two purges of objects that were deleted long ago.
  private static let purgeInterval = Duration.seconds(60)
  /// The maximum number of objects in one purge; further objects are removed by the next purge.
  private static let purgeLimit = 1000

  private let runtime: BoardRuntime
  private let configuration: BoardConfiguration
  private let board: ActiveBoard
  private var nextPurge: ContinuousClock.Instant
  /// For each deleted object, the time at which the deletion was first seen.
  private var deletionAges = DeletionAges()

  init(_ runtime: BoardRuntime, _ configuration: BoardConfiguration, _ board: ActiveBoard) {
    self.runtime = runtime
    self.configuration = configuration
    self.board = board
    nextPurge = runtime.start + Self.purgeInterval
  }

  /// Performs timed work when it is due, until the board closes.
  nonisolated(nonsending) func performWhenDue() async {
    while runtime.ending == nil {
      reportBacklogs()
      board.perform(board.replica.tick(now: runtime.now))
      board.outbox.dropSlowPeers(of: board.session) { board.members.isReached($0) }
      board.persistence.runTimedWork()
      purgeIfDue()
      board.browsers.performTimedWork()
      runtime.changed()
      await runtime.room()
      await runtime.sleep(until: nextDue)
    }
  }

  private var nextDue: ContinuousClock.Instant {
    var due = nextPurge
    if let deadline = board.persistence.nextDeadline { due = min(due, deadline) }
    if let deadline = board.replica.nextDeadline { due = min(due, runtime.instant(deadline)) }
    if let deadline = board.browsers.nextDeadline { due = min(due, deadline) }
    if let deadline = board.outbox.nextDeadline(after: runtime.clock.now) { due = min(due, deadline) }
    return due
  }

  /// Reports to the replica which members have a backlog, so that it sends them no more answers.
  ///
  /// Otherwise, a member that requests answers without reading them could exhaust the memory.
  private func reportBacklogs() {
    for peer in board.members.unorderedIDs {
      let member = MemberID(peer)
      board.replica.memberIsBacklogged(member, board.outbox.load(to: peer) > .light)
    }
  }

  /// Permanently removes objects that were deleted long ago (SYN-8).
  ///
  /// Only one of the connected members does this.
  private func purgeIfDue() {
    guard runtime.clock.now >= nextPurge else { return }
    nextPurge = runtime.clock.now + Self.purgeInterval
    guard configuration.recordingFile == nil else { return }
    let replica = board.replica
    let ids = deletionAges.purgeable(on: replica.board, at: runtime.now.uptime, excluding: replica.board.objectsInUndo)
    // The member with the lowest id purges for all members. If it is a viewer, its edit fails.
    guard replica.members.allSatisfy({ $0 > replica.board.member }), !ids.isEmpty else { return }
    _ = try? board.editor.edit { (board) throws(BoardError) in
      for id in ids.prefix(Self.purgeLimit) { try board.purge(id) }
    }
  }
}

import PeerSession
import Whiteboard
import WhiteboardSync

/// Waits until all members have the same board, or all local changes (SYN-44). Confined to the actor of its board.
final class Convergence {
  private let runtime: BoardRuntime
  private let configuration: BoardConfiguration
  private let session: Session
  private let replica: Replica
  /// The reference is weak because the open board owns this object.
  private weak var active: ActiveBoard?
  private let members: Members
  private let outbox: BoardOutbox
  private let messages: ApplicationMessages
  private var waits = 0
  /// The local changes that at least one member had at the end of the last successful wait.
  private var sharedDots = DotSet()

  init(
    _ runtime: BoardRuntime,
    _ configuration: BoardConfiguration,
    _ session: Session,
    _ replica: Replica,
    of active: ActiveBoard,
    members: Members,
    outbox: BoardOutbox,
    messages: ApplicationMessages
  ) {
    self.runtime = runtime
    self.configuration = configuration
    self.session = session
    self.replica = replica
    self.active = active
    self.members = members
    self.outbox = outbox
    self.messages = messages
  }

  /// Whether the local peer made changes that no other member is known to have.
  var hasUnsharedChanges: Bool { replica.board.written != sharedDots }

  /// Waits until each member in `scope` has what the scope requires. A nil timeout means no limit, except that the wait
  /// ends if no other member is connected or reconnecting. If the board moves to a relay, the wait for this member ends
  /// after the time in which a board must arrive.
  nonisolated(nonsending) func wait(_ scope: SyncScope, timeout: Duration?) async -> SyncReport {
    let clock = runtime.clock
    let begin = clock.now
    let deadline = begin + (timeout ?? .seconds(Int64(CommandLimits.maximumSeconds)))
    beginProving()
    defer { endProving() }
    repeat {
      // The wait is repeated, because only a longer silence shows that a member has no board.
      let moment = min(deadline - clock.now, .milliseconds(500))
      // The condition may have become false before this task continued, for example because a link broke.
      guard await runtime.wait(timeout: moment, until: { self.isSettled(scope) }), isSettled(scope) else { continue }
      let asked = compared(scope)
      let written = replica.board.written
      if asked.isEmpty { return report(scope, isComplete: true) }
      if await isConfirmed(by: asked, within: deadline - clock.now) {
        guard isSettled(scope) else { continue }
        let report = report(scope, isComplete: true)
        if !report.synced.isEmpty { sharedDots = written }
        return report
      }
      // A member is leaving, or the session ended. The wait continues until the event about this change arrives.
      let rest = deadline - clock.now
      _ = await runtime.wait(timeout: rest) { !self.isSettled(scope) || self.compared(scope) != asked }
    } while runtime.ending == nil && clock.now < deadline && (timeout != nil || expectsMembers(since: begin))
    return report(scope, isComplete: false)
  }

  /// Waits for the acknowledgement of an empty message. Acknowledgements come in order, so this acknowledgement covers
  /// all earlier messages.
  nonisolated(nonsending) func isConfirmed(by peers: [PeerID], within limit: Duration) async -> Bool {
    defer { checkIsolation(#isolation) }
    return await firstOf(within: limit) { [session] in
      (try? await session.sendConfirmed(Self.emptyMessage, to: peers)) != nil
    } ?? false
  }

  /// A message of a kind that replicas ignore (SYN-10).
  private static let emptyMessage: [UInt8] = [0x80]

  private func beginProving() {
    waits += 1
    active?.perform(replica.proveEquality(true, now: runtime.now))
  }

  private func endProving() {
    waits -= 1
    if waits == 0 { active?.perform(replica.proveEquality(false, now: runtime.now)) }
  }

  private func expectsMembers(since begin: ContinuousClock.Instant) -> Bool {
    guard members.isEmpty else { return true }
    let expectsRelay = runtime.call { $0.phase.board?.move.expectsRelay == true }
    return expectsRelay && runtime.clock.now < begin + configuration.catchUpTimeout
  }

  // MARK: - The condition

  /// Returns the members to compare, ordered by id.
  private func compared(_ scope: SyncScope) -> [PeerID] {
    members.filter { (scope == .everybody || $0.value.isReached) && !isWithoutBoard($0.key) }.map(\.key)
  }

  private func isSettled(_ scope: SyncScope) -> Bool {
    // Ignore application messages, because their recipients may be offline for a long time.
    guard !runtime.call({ $0.commandRunner.hasConcurrentCommands }), scope == .connected || messages.isEmpty else {
      return false
    }
    let peers = compared(scope)
    guard scope == .everybody || !peers.isEmpty else { return false }
    let ids = peers.map { MemberID($0) }
    return peers.allSatisfy { isSynced(with: $0, scope) && outbox.isEmpty(to: $0) }
      && !replica.isExchangingAssets(with: ids)
  }

  private func isSynced(with peer: PeerID, _ scope: SyncScope) -> Bool {
    guard members.isReached(peer) else { return false }
    let id = MemberID(peer)
    return switch scope {
    case .connected: replica.isEqual(to: id)
    // If members keep drawing, boards are rarely equal, but the local changes do arrive.
    case .everybody: replica.isSynced(with: id, now: runtime.now)
    }
  }

  /// Whether a member has been connected for some time and never introduced itself as an author.
  private func isWithoutBoard(_ peer: PeerID) -> Bool {
    guard let member = members[peer] else { return false }
    return !replica.hasIntroducedItself(MemberID(peer))
      && runtime.clock.now >= member.since + configuration.introductionTime
  }

  private func report(_ scope: SyncScope, isComplete: Bool) -> SyncReport {
    var report = SyncReport(isComplete: isComplete)
    for (peer, member) in members {
      let hasBoard = !isWithoutBoard(peer)
      let isSynced = hasBoard && isSynced(with: peer, scope)
      let entry = SharedBoard.SyncedMember(
        peer: peer.text,
        name: member.name,
        state: isSynced ? nil : member.state,
        hasBoard: hasBoard ? nil : false
      )
      if isSynced { report.synced.append(entry) } else { report.notSynced.append(entry) }
    }
    for (peer, name) in members.lost.sorted(by: { $0.key < $1.key }) where members[peer] == nil {
      report.notSynced.append(.init(peer: peer.text, name: name, state: .lost))
    }
    return report
  }
}

enum SyncScope {
  /// All connected members, at least one. Each must have the same board as the local peer.
  case connected
  /// All members, including reconnecting members. Each must have received the local changes.
  case everybody
}

package struct SyncReport: Equatable, Sendable {
  /// The members whose boards equal the local board, or contain the local changes.
  package var synced: [SharedBoard.SyncedMember] = []
  /// The members that are not synced, including lost members.
  package var notSynced: [SharedBoard.SyncedMember] = []
  var isComplete = false

  var problem: String {
    let line = EventText.syncLine(synced, notSynced)
    return line.isEmpty ? "no other member is connected" : line
  }
}

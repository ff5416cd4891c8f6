import PeerSession
import Whiteboard
import WhiteboardSync

/// Waiting until boards are equal; implements SYN-44.
extension Node {
  /// The members that a wait includes.
  enum SyncScope {
    /// All connected members, at least one. Each must have the board of this replica.
    case connected
    /// All members, including those that reconnect. Each must have received the local changes.
    case everybody
  }

  /// The result of a wait.
  struct SyncReport: Equatable, Sendable {
    /// The members whose boards equal the local one, or that have the local changes.
    var synced: [NodeEvent.SyncedMember] = []
    /// The other members, including lost ones.
    var notSynced: [NodeEvent.SyncedMember] = []
    /// Whether the condition held in time.
    var isComplete = false

    /// The reason for not being synced.
    var problem: String {
      let line = EventText.syncLine(synced, notSynced)
      return line.isEmpty ? "no other member is connected" : line
    }
  }

  /// Waits until boards are equal, or until all local changes have arrived.
  ///
  /// - Parameters:
  ///   - scope: The members to wait for.
  ///   - timeout: The maximum wait; nil for no limit.
  /// - Returns: The members that are synced and those that are not, and whether the condition held
  ///   in time.
  func waitUntilSynced(_ scope: SyncScope, timeout: Duration?) async -> SyncReport {
    let deadline = clock.now + (timeout ?? .seconds(Int64(CommandLimits.maximumSeconds)))
    beginProving()
    defer { endProving() }
    repeat {
      // Check again after a moment, since a member without a board is recognized only by its
      // silence.
      let moment = min(deadline - clock.now, .milliseconds(500))
      // The condition may have ended again before this task continued, as when a link broke.
      guard await wait(timeout: moment, until: { self.isSettled(scope) }), isSettled(scope) else {
        continue
      }
      let asked = compared(scope)
      let written = replica?.board.written
      if asked.isEmpty { return report(scope, isComplete: true) }
      if await isConfirmed(by: asked, within: deadline - clock.now) {
        guard isSettled(scope) else { continue }
        let report = report(scope, isComplete: true)
        if !report.synced.isEmpty, let written { sharedDots = written }
        return report
      }
      // A member is leaving, or the session ended. Wait until that is reported.
      let left = deadline - clock.now
      _ = await wait(timeout: left) { !self.isSettled(scope) || self.compared(scope) != asked }
    } while ending == nil && clock.now < deadline
    return report(scope, isComplete: false)
  }

  private func beginProving() {
    syncWaits += 1
    replica?.proveEquality(true, now: now)
    performActions()
  }

  private func endProving() {
    syncWaits -= 1
    if syncWaits == 0 { replica?.proveEquality(false, now: now) }
  }

  /// Returns the members that a wait compares, ordered by id.
  private func compared(_ scope: SyncScope) -> [PeerID] {
    members.filter { (scope == .everybody || $0.value.isReached) && !isWithoutBoard($0.key) }
      .map(\.key)
  }

  /// Whether no local work is pending, and each compared member has the same state.
  private func isSettled(_ scope: SyncScope) -> Bool {
    // Do not wait for application messages, since their recipients may be away for a long time.
    guard let replica, concurrentCommands == 0, scope == .connected || deliveries.isEmpty else {
      return false
    }
    let peers = compared(scope)
    guard scope == .everybody || !peers.isEmpty else { return false }
    let ids = peers.compactMap { MemberID($0.bytes) }
    return peers.allSatisfy { isSynced(with: $0, scope) && outbox.isEmpty(to: $0) }
      && !replica.isExchangingAssets(with: ids)
  }

  private func isSynced(with peer: PeerID, _ scope: SyncScope) -> Bool {
    guard let replica, let id = MemberID(peer.bytes), members.isReached(peer) else {
      return false
    }
    return switch scope {
    case .connected: replica.isEqual(to: id)
    // While members keep drawing, boards are rarely equal, but the local changes do arrive.
    case .everybody: replica.isSynced(with: id, now: now)
    }
  }

  /// Whether a member has been connected for a while and never introduced itself as an author.
  private func isWithoutBoard(_ peer: PeerID) -> Bool {
    guard let member = members[peer], let id = MemberID(peer.bytes), let replica else {
      return false
    }
    return !replica.hasIntroducedItself(id)
      && clock.now >= member.since + configuration.introductionTime
  }

  private func report(_ scope: SyncScope, isComplete: Bool) -> SyncReport {
    var report = SyncReport(isComplete: isComplete)
    for (peer, member) in members {
      let hasBoard = !isWithoutBoard(peer)
      let isSame = hasBoard && isSynced(with: peer, scope)
      let told = NodeEvent.SyncedMember(
        peer: peer.text,
        name: member.name,
        state: isSame ? nil : member.state,
        hasBoard: hasBoard ? nil : false
      )
      if isSame { report.synced.append(told) } else { report.notSynced.append(told) }
    }
    for (peer, name) in members.lost.sorted(by: { $0.key < $1.key }) where members[peer] == nil {
      report.notSynced.append(.init(peer: peer.text, name: name, state: .lost))
    }
    return report
  }

  // MARK: - The end of a script

  /// Waits until every member has all changes of a script, and returns how the script ends.
  func endOfScript() async -> NodeRuntime.Ending {
    // Wait longer than for a lost peer, so that this ends in any case.
    let report = await waitUntilSynced(.everybody, timeout: configuration.lostAfter + .seconds(60))
    guard report.isComplete else {
      return .failed(
        NodeError(.timedOut, "some changes have not reached every member: \(report.problem)")
      )
    }
    let written = replica?.board.written ?? DotSet()
    guard report.synced.isEmpty, written != sharedDots else {
      if !report.notSynced.isEmpty { tellNotSynced(report.problem) }
      return .asked
    }
    let message = "the changes have not reached any other member: \(report.problem)"
    if isGuest {
      return .failed(
        NodeError(
          .timedOut,
          configuration.remembersBoards
            ? "\(message). It is in the copy on this computer, and is sent when the board is next opened"
            : "\(message), and --ephemeral keeps no copy"
        )
      )
    }
    tellNotSynced(message)
    return .asked
  }

  private func tellNotSynced(_ message: String) {
    // Emit the note after earlier answers.
    persistence.whenStored { _ in self.emit(.note(.init(code: "not-synced", message: message))) }
  }

  // MARK: - Confirming

  /// Waits until peers have acknowledged all earlier messages.
  ///
  /// Acknowledgements come in order, so the acknowledgement of an empty message covers all earlier
  /// ones.
  func isConfirmed(by peers: [PeerID], within limit: Duration) async -> Bool {
    guard let session else { return false }
    return await firstOf(within: limit) {
      (try? await session.sendConfirmed(Node.nothing, to: peers)) != nil
    } ?? false
  }

  /// A message of a kind that replicas ignore (SYN-10).
  private static let nothing: [UInt8] = [0x80]
}

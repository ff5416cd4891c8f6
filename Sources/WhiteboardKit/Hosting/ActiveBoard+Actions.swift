import Logging
import PeerSession
import Whiteboard
import WhiteboardSync

/// Performing the actions of the replica.
extension ActiveBoard {
  /// Performs the actions that the replica returned for an input, and schedules the next timed work.
  ///
  /// Call this function after each input, even if the replica returned no actions.
  func perform(_ actions: [ReplicaAction]) {
    for action in actions { fulfill(action) }
    confirmHost()
    if reports.reportSettings() { runtime.spawn { sharedBoard in await sharedBoard.board?.storeTitle() } }
    if let deadline = replica.nextDeadline { runtime.wake(by: runtime.instant(deadline)) }
    runtime.changed()
  }

  /// Passes an action to the component that performs it.
  private func fulfill(_ action: ReplicaAction) {
    publisher.publish(action)
    switch action {
    // The board
    case .objectAdded(let snapshot, let member): reports.objectAdded(snapshot, by: member)
    case .objectChanged(let snapshot, let member): reports.objectChanged(snapshot, by: member)
    case .objectRemoved(let id, let member): reports.objectRemoved(id, by: member)
    case .selected(let id, let member): reports.selected(id, by: member)
    case .selectionLost(let id, let winner): reports.selectionLost(id, to: winner)
    case .chat(let line, _): reports.chatAdded(line)
    // Pointers and unfinished strokes are only shown on the screen, and have no events.
    case .preview(let preview): reports.showOnScreen(.preview(preview))
    case .presence(let member, let presence): reports.showOnScreen(.presence(member, presence))
    case .record(let change): persistence.record(change)
    case .sign, .verify: preconditionFailure("the author has a local key, and the replica has a verifier")
    // Messages, resources and application data
    case .send(let bytes, let recipients): outbox.enqueue(bytes, to: peers(recipients))
    case .sendDatagram(let bytes, let recipients): outbox.enqueueDatagram(bytes, to: peers(recipients))
    case .sendAsset(let id, let name, let member): transfers.sendAsset(id, name, to: member)
    case .sendAnswer(let bytes, let name, let member): transfers.sendAnswer(bytes, name, to: member)
    case .wantAsset(let reference, let member):
      configuration.logger.debug(
        "Photo requested.",
        metadata: ["asset": "\(reference.id)", "peer": "\(member.description.prefix(8))"]
      )
    case .data(let bytes, let member, let isReliable): messages.received(bytes, from: member, isReliable: isReliable)
    // Members
    case .profile(let member, let name, let icon): profiles.changed(member, name: name, icon: icon)
    case .role(let role): roles.localRoleChanged(to: role)
    case .memberRole(let member, let role): roles.roleChanged(of: member, to: role)
    case .caughtUp(let member):
      catchUp.caughtUp(with: member)
      configuration.logger.debug("Caught up with a member.", metadata: ["peer": "\(member.description.prefix(8))"])
    // Warnings
    case .clock(let report):
      let name = report.member == replica.board.member ? nil : members.label(of: report.member)
      let remark = BoardEvent.Remark(report, of: name)
      runtime.emit(report.finding == .isRight ? .note(remark) : .warning(remark))
    case .diverged(let member, _): warn(.diverged(from: members.label(of: member)))
    case .full(let member): warn(.boardFull(for: members.label(of: member)))
    case .deletedUnseen(let ids, let author): warn(.deletedUnseen(ids, by: author.map { members.label(of: $0) }))
    case .photosLeftOut(let author): warn(.photosLeftOut(of: members.label(of: author)))
    case .unrecorded(let member): warn(.unrecordedAuthors(in: members.label(of: member)))
    case .protocolViolation(let member, let error): reject(member, because: error)
    }
  }

  private func warn(_ remark: BoardEvent.Remark) { runtime.emit(.warning(remark)) }

  private func peers(_ members: [MemberID]) -> [PeerID] { members.map { PeerID($0) } }

  /// Disconnects a member that broke the rules of the board.
  private func reject(_ member: MemberID, because error: ReplicaError) {
    let peer = PeerID(member)
    warn(.violation(by: members.label(of: member), error))
    runtime.spawn { [session] _ in
      // The peer may have left in the meantime.
      try? await session.reject(peer, breaking: error.message)
    }
  }
}

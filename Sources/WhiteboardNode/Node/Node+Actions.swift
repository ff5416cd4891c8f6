import Logging
import PeerSession
import Whiteboard
import WhiteboardSync

/// Performing the actions of the replica.
extension Node {
  /// Makes edits that are one undo step, and performs the actions that follow from them; nil if no board is open.
  func change<Result, Failure: Error>(
    _ body: (Board) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let replica else { return nil }
    let result = try replica.change(now: now, body)
    performActions()
    return result
  }

  /// Performs what the replica asks for, in order.
  func performActions() {
    guard let board else { return }
    for action in board.replica.takeActions() { perform(action, board) }
    if board.reports.reportSettings() { spawn { node in await node.storeTitle() } }
    planTime()
    changed()
  }

  private func perform(_ action: ReplicaAction, _ board: ServedBoard) {
    switch action {
    // The board
    case .objectAdded(let snapshot, let member): board.reports.objectAdded(snapshot, by: member)
    case .objectChanged(let snapshot, let member): board.reports.objectChanged(snapshot, by: member)
    case .objectRemoved(let id, let member): board.reports.objectRemoved(id, by: member)
    case .selected(let id, let member): board.reports.selected(id, by: member)
    case .selectionLost(let id, let winner): board.reports.selectionLost(id, to: winner)
    case .chat(let line, _): board.reports.chatAdded(line)
    // The pointer and unfinished strokes move on the screen. They are not events.
    case .preview(let preview): board.reports.show(.preview(preview))
    case .presence(let member, let presence): board.reports.show(.presence(member, presence))
    case .record(let change): persistence.record(change)
    // Messages, resources and application data
    case .sign, .verify:
      preconditionFailure("the author has a local key, and the replica a verifier")
    case .send(let bytes, let recipients):
      outbox.send(bytes, to: recipients.compactMap { PeerID(bytes: $0.bytes) })
    case .sendDatagram(let bytes, let recipients):
      outbox.sendDatagram(bytes, to: recipients.compactMap { PeerID(bytes: $0.bytes) })
    case .sendAsset(let id, let name, let member): transfers.sendAsset(id, name, to: member)
    case .sendAnswer(let bytes, let name, let member): transfers.sendAnswer(bytes, name, to: member)
    case .wantAsset(let reference, let member):
      configuration.logger.debug(
        "Photo requested.",
        metadata: ["asset": "\(reference.id)", "peer": "\(member.description.prefix(8))"]
      )
    case .data(let bytes, let member, let isReliable):
      board.messages.received(bytes, from: member, isReliable: isReliable)
    // Members
    case .profile(let member, let name, let icon):
      board.profiles.changed(member, name: name, icon: icon)
    case .role(let role): board.roles.localRoleChanged(to: role)
    case .memberRole(let member, let role): board.roles.roleChanged(of: member, to: role)
    case .caughtUp(let member):
      board.catchUp.caughtUp(with: member)
      configuration.logger.debug(
        "Caught up with a member.",
        metadata: ["peer": "\(member.description.prefix(8))"]
      )
    // Warnings
    case .clock(let report):
      let name =
        report.member == board.replica.board.member ? nil : members.label(of: report.member)
      let remark = NodeEvent.Remark(report, of: name)
      emit(report.finding == .isRight ? .note(remark) : .warning(remark))
    case .diverged(let member, _): emit(.warning(.diverged(from: members.label(of: member))))
    case .full(let member): emit(.warning(.boardFull(for: members.label(of: member))))
    case .photosLeftOut(let author):
      emit(.warning(.photosLeftOut(of: members.label(of: author))))
    case .unrecorded(let member):
      emit(.warning(.unrecordedAuthors(in: members.label(of: member))))
    case .protocolViolation(let member, let error):
      guard let peer = PeerID(bytes: member.bytes) else { return }
      emit(.warning(.violation(by: members.label(of: peer), error)))
      spawn { [session = board.session] _ in
        // The peer may have left in the meantime.
        try? await session.reject(peer, breaking: error.message)
      }
    }
  }
}

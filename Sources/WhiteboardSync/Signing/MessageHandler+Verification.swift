import Whiteboard

/// Handles the results of checks that the owner made, for waiting messages, answers and restored grants.
extension MessageHandler {
  /// Handles the result of a check.
  ///
  /// If no more results are missing, the waiting work continues.
  func didVerify(_ id: VerificationID, isValid: Bool, _ now: Moment) {
    if id.member == core.board.member {
      if grantVerification.didVerify(id, isValid: isValid) { verifyRestoredGrants(now) }
      return
    }
    guard let peer = core.peers[id.member] else { return }
    if let (message, verification) = peer.inbox.didVerify(id, isValid: isValid) {
      handle(message, from: id.member, verification, now)
      handleInbox(of: id.member, now)
      releaseEarlyBatches(now)
    } else if peer.unverifiedAnswer?.verification.didVerify(id, isValid: isValid) ?? false {
      handleVerifiedAnswer(of: id.member, now)
    }
  }

  private func handleVerifiedAnswer(of member: MemberID, _ now: Moment) {
    guard let peer = core.peers[member], let request = peer.requestInFlight,
      let answer = peer.unverifiedAnswer, !answer.verification.isPending
    else { return }
    peer.unverifiedAnswer = nil
    handleAnswer(answer.bytes, to: request, from: member, answer.verification, now)
  }

  /// Verifies the restored grants one after the other, and adopts the valid ones.
  func verifyRestoredGrants(_ now: Moment) {
    while let grant = restoredGrants.first, !grantVerification.isPending {
      let isValid = core.checking(&grantVerification, for: core.board.member) {
        core.permissions.isValid(grant)
      }
      guard let isValid else { return }
      grantVerification = VerificationState()
      restoredGrants.removeFirst()
      if isValid { core.permissions.adoptRestored(grant, now) }
    }
  }
}

import Whiteboard

/// Verification of the signatures in messages and answers.
extension MessageHandler {
  /// Handles what waits in the inbox of a member, up to the next item that must be verified.
  func handleInbox(of member: MemberID, _ now: Moment) {
    while let peer = core.peers[member], peer.held == nil, let next = peer.inbox.removeFirst() {
      handle(next.item, from: member, next.verification, now)
    }
  }

  /// Checks an item, if all signatures in it are verified; otherwise lets it wait in the inbox.
  ///
  /// - Parameters:
  ///   - item: The message or answer.
  ///   - member: The member that sent it.
  ///   - verification: The results so far.
  ///   - check: The check, which must have no effect.
  /// - Returns: The result of the check; nil if the item waits.
  /// - Throws: The error of the check.
  func checking<Checked, Failure: Error>(
    _ item: MemberInbox.Item,
    of member: MemberID,
    _ verification: VerificationState,
    _ check: () throws(Failure) -> Checked
  ) throws(Failure) -> Checked? {
    guard let ownerVerifier = core.ownerVerifier else { return try check() }
    let (result, missing) = ownerVerifier.check(with: verification.results) {
      () -> Result<Checked, Failure> in
      do throws(Failure) {
        return .success(try check())
      } catch {
        return .failure(error)
      }
    }
    guard !missing.isEmpty else { return try result.get() }
    var verification = verification
    verification.add(requestVerification(of: missing, for: member))
    core.peers[member]?.inbox.insertFirst(item, verification)
    return nil
  }

  /// The owner made a check for a restored grant.
  func didVerifyRestoredGrant(_ id: VerificationID, isValid: Bool, _ now: Moment) {
    grantVerification.didVerify(id, isValid: isValid)
    verifyRestoredGrants(now)
  }

  /// Verifies the restored grants one after the other, and continues with those that are valid.
  func verifyRestoredGrants(_ now: Moment) {
    guard let ownerVerifier = core.ownerVerifier else { return }
    while core.permissions.hasUnverifiedGrants, !grantVerification.isPending {
      let (isValid, missing) = ownerVerifier.check(with: grantVerification.results) {
        core.permissions.isFirstUnverifiedGrantValid()
      }
      if missing.isEmpty {
        grantVerification = VerificationState()
        core.permissions.adoptFirstUnverifiedGrant(isValid: isValid, now)
      } else {
        grantVerification.add(requestVerification(of: missing, for: core.board.member))
      }
    }
  }

  private func requestVerification(
    of subjects: [VerificationRequest.Subject],
    for member: MemberID
  ) -> [VerificationRequest] {
    let requests = core.ownerVerifier?.makeRequests(for: subjects, of: member) ?? []
    for request in requests { core.outbox.request(.verify(request)) }
    return requests
  }
}

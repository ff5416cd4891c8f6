import PeerSession
import WhiteboardSync

/// What programs call while a board is open.
extension Node {
  /// Creates an additional join code.
  ///
  /// - Parameter terms: The role that the code gives, and its lifetime.
  /// - Returns: The event that reports the code.
  /// - Throws: ``CommandError`` if there is no code.
  package func invite(_ terms: InvitationTerms) async throws(CommandError) -> NodeEvent.Invited {
    guard let board else { throw CommandError(.notConnected, "the board is not open") }
    return try await board.admission.invite(terms, request: nil)
  }

  /// Changes the role of a member.
  ///
  /// - Throws: ``CommandError`` if there is no such peer, or the local member may not change its role.
  package func changeRole(of target: String, to role: BoardRole) throws(CommandError) {
    guard let board else { throw CommandError(.notConnected, "no other member is connected") }
    try board.roles.change(target, to: role)
  }

  /// Removes a peer from the board, with the rights that it was granted.
  ///
  /// - Parameters:
  ///   - target: The name, id or id prefix of the peer.
  ///   - reason: The reason, for the peer and the others; may be empty.
  ///   - withAdmitted: Whether to also remove the members that the peer admitted, those that they admitted, and
  ///     so on.
  ///   - keepsCode: Whether the join code of the board stays.
  /// - Returns: The event that reports the new join code; nil if the board has no code, or keeps it.
  /// - Throws: ``CommandError`` if there is no such peer, or another peer is the host.
  package func kick(
    _ target: String,
    reason: String,
    withAdmitted: Bool = false,
    keepsCode: Bool = false
  ) async throws(CommandError) -> NodeEvent.Invited? {
    guard let board else { throw CommandError(.notConnected, "no other member is connected") }
    return try await board.admission.kick(
      target,
      reason: reason,
      withAdmitted: withAdmitted,
      keepsCode: keepsCode,
      request: nil
    )
  }

  /// Ends the node at the user's request; if that would lose work, the first request only warns.
  ///
  /// - Returns: Whether the node ends.
  package func requestEndUnlessUnsaved() async -> Bool {
    if ending == nil, !persistence.wasAskedBeforeEnding, await persistence.wouldLoseWork() {
      persistence.wasAskedBeforeEnding = true
      emit(.warning(.init(code: "quit-unsaved", message: persistence.unsavedAdvice)))
      return false
    }
    requestEnd()
    return true
  }

  /// The number of refused changes since the board was opened, by reason.
  package var refusals: Refusals { replica?.refusals ?? Refusals() }
}

import PeerSession

/// The removal of members from a board by its host.
extension Node {
  /// Removes a peer from the board, with the rights that it was granted.
  ///
  /// - Parameters:
  ///   - target: The name, id or id prefix of the peer.
  ///   - reason: The reason, for the peer and the others; may be empty.
  ///   - withAdmitted: Whether to remove every member that the peer admitted too, and so on.
  ///   - keepsCode: Whether the join code of the board stays.
  ///   - request: The id of the request.
  /// - Returns: The new join code; nil if the board has none, or keeps it.
  /// - Throws: ``CommandError`` if there is no such peer, or another peer is the host.
  package func kick(
    _ target: String,
    reason: String,
    withAdmitted: Bool = false,
    keepsCode: Bool = false,
    request: RequestMark? = nil
  ) async throws(CommandError) -> NodeEvent.Invited? {
    let peer = try members.find(target)
    guard let serving else { throw CommandError(.notConnected, "no other member is connected") }
    let session = serving.board.session
    do throws(SessionError) {
      let record = try await session.membershipRecord()
      var removed = [peer]
      if withAdmitted { removed += record.members(admittedBy: peer) }
      for peer in removed {
        revoke(peer)
        try await session.kick(peer, reason: reason)
      }
      guard serving.board.admission == .code, !keepsCode else { return nil }
      return try await replaceCode(of: serving, request: request)
    } catch {
      throw CommandError(error)
    }
  }

  /// Replaces the join code of the board, and stores the new one with it.
  private func replaceCode(
    of serving: Serving,
    request: RequestMark?
  ) async throws(SessionError) -> NodeEvent.Invited {
    let session = serving.board.session
    let made = JoinCode.random()
    try await session.replaceCode(with: made)
    serving.setCode(made, configuration)
    if persistence.document != nil, configuration.recordingFile == nil, !configuration.isOffline {
      await persistence.storeMembership(
        try await session.membershipRecord(),
        code: serving.board.code
      )
    }
    return NodeEvent.Invited(
      code: made.text,
      role: replica?.isOwned == true ? "editor" : nil,
      link: serving.link(code: made),
      request: request
    )
  }
}

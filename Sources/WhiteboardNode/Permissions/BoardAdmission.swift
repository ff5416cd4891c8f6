import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// The admission to a board: creates join codes, replaces the board's code, and removes members.
///
/// Confined to the isolation of its node.
final class BoardAdmission {
  private let configuration: NodeConfiguration
  private let boardSession: BoardSession
  private let published: PublishedBoard
  private let replica: Replica
  private let members: Members
  private let roles: Roles
  private let persistence: Persistence

  init(
    _ configuration: NodeConfiguration,
    _ boardSession: BoardSession,
    _ published: PublishedBoard,
    _ replica: Replica,
    members: Members,
    roles: Roles,
    persistence: Persistence
  ) {
    self.configuration = configuration
    self.boardSession = boardSession
    self.published = published
    self.replica = replica
    self.members = members
    self.roles = roles
    self.persistence = persistence
  }

  /// Whether peers are admitted by a join code.
  private var isByCode: Bool { boardSession.admission == .code }

  private var session: Session { boardSession.session }

  // MARK: - Codes

  /// Creates an additional join code.
  ///
  /// - Parameters:
  ///   - terms: The role that the code gives, and its lifetime.
  ///   - request: The id of the request.
  /// - Returns: The event that reports the code.
  /// - Throws: ``CommandError`` if there is no code.
  nonisolated(nonsending) func invite(
    _ terms: InvitationTerms,
    request: RequestMark?
  ) async throws(CommandError) -> NodeEvent.Invited {
    guard isByCode else {
      throw CommandError(
        .refused,
        "this board does not admit by code; host it with --admit code"
      )
    }
    if terms.isView {
      guard replica.isOwned else {
        throw CommandError(
          .refused,
          "on this board every admitted peer can edit; host a new one with --owned for view-only codes"
        )
      }
      guard replica.mayGrant else {
        throw CommandError(.viewer, "only the owner of the board can make view-only codes")
      }
    }
    let code = JoinCode.random()
    do throws(SessionError) {
      try await session.invite(
        code,
        label: terms.isView ? Roles.viewLabel : nil,
        for: terms.seconds.map { .seconds($0) }
      )
    } catch {
      throw CommandError(error)
    }
    let end = terms.seconds.map {
      Timestamp.text(milliseconds: SystemTime.milliseconds + UInt64($0) * 1000)
    }
    return NodeEvent.Invited(
      code: code.text,
      role: terms.isView ? "viewer" : replica.isOwned ? "editor" : nil,
      link: published.link(code: code),
      expires: end,
      request: request
    )
  }

  /// Creates the codes that other programs of this user request, while the board is open.
  nonisolated(nonsending) func serveInvitationRequests() async {
    await InvitationRequest.serve(
      about: session.id.text,
      inDataDirectory: configuration.dataDirectory
    ) { (terms) async throws(CommandError) in try await invite(terms, request: nil) }
  }

  // MARK: - Removing members

  /// Removes a peer from the board, with the rights that it was granted.
  ///
  /// - Parameters:
  ///   - target: The name, id or id prefix of the peer.
  ///   - reason: The reason, for the peer and the others; may be empty.
  ///   - withAdmitted: Whether to also remove the members that the peer admitted, those that they admitted, and
  ///     so on.
  ///   - keepsCode: Whether the join code of the board stays.
  ///   - request: The id of the request.
  /// - Returns: The event that reports the new join code; nil if the board has no code, or keeps it.
  /// - Throws: ``CommandError`` if there is no such peer, or another peer is the host.
  nonisolated(nonsending) func kick(
    _ target: String,
    reason: String,
    withAdmitted: Bool,
    keepsCode: Bool,
    request: RequestMark?
  ) async throws(CommandError) -> NodeEvent.Invited? {
    let peer = try members.find(target)
    do throws(SessionError) {
      let record = try await session.membershipRecord()
      var removed = [peer]
      if withAdmitted { removed += record.members(admittedBy: peer) }
      for peer in removed {
        roles.revoke(peer)
        try await session.kick(peer, reason: reason)
      }
      guard isByCode, !keepsCode else { return nil }
      return try await replaceCode(request: request)
    } catch {
      throw CommandError(error)
    }
  }

  /// Replaces the join code of the board, and stores the new one with it.
  private nonisolated(nonsending) func replaceCode(
    request: RequestMark?
  ) async throws(SessionError) -> NodeEvent.Invited {
    let code = JoinCode.random()
    try await session.replaceCode(with: code)
    published.setCode(code)
    if persistence.document != nil, configuration.recordingFile == nil, !configuration.isOffline {
      let record = try await session.membershipRecord()
      await persistence.storeMembership(record, code: code)
    }
    return NodeEvent.Invited(
      code: code.text,
      role: replica.isOwned ? "editor" : nil,
      link: published.link(code: code),
      request: request
    )
  }
}

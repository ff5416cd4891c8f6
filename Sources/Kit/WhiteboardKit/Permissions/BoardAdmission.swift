import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Manages the admission to a board: creates join codes, replaces the board's code, and removes members. Confined to
/// the actor of its board.
final class BoardAdmission {
  private let runtime: BoardRuntime
  private let configuration: BoardConfiguration
  private let board: BoardSession
  private let replica: Replica
  private let members: Members
  private let roles: Roles
  private let persistence: Persistence
  private let browsers: BrowserAccess

  init(
    _ runtime: BoardRuntime,
    _ configuration: BoardConfiguration,
    _ board: BoardSession,
    _ replica: Replica,
    members: Members,
    roles: Roles,
    persistence: Persistence,
    browsers: BrowserAccess
  ) {
    self.runtime = runtime
    self.configuration = configuration
    self.board = board
    self.replica = replica
    self.members = members
    self.roles = roles
    self.persistence = persistence
    self.browsers = browsers
  }

  private var isByCode: Bool { board.admission == .code }

  // MARK: - Codes

  nonisolated(nonsending) func invite(_ terms: InvitationTerms) async throws(CommandError) -> SharedBoard.News.Invited {
    guard isByCode else {
      throw CommandError(.refused, "this board does not admit peers by code; host it with --admit code")
    }
    if terms.isView { try Self.checkMayInviteViewers(replica) }
    let code = JoinCode.random()
    do throws(SessionError) {
      try await board.session.invite(
        code,
        label: terms.isView ? Roles.viewLabel : nil,
        for: terms.seconds.map { .seconds($0) }
      )
    } catch { throw CommandError(error) }
    let end = terms.seconds.map { Timestamp.text(milliseconds: SystemTime.milliseconds + UInt64($0) * 1000) }
    return SharedBoard.News.Invited(
      code: code.text,
      role: terms.isView ? "viewer" : replica.isOwned ? "editor" : nil,
      link: link(with: code),
      expires: end
    )
  }

  static func checkMayInviteViewers(_ replica: Replica) throws(CommandError) {
    guard replica.isOwned else {
      throw CommandError(
        .refused,
        "everyone who joins this board can edit it; view-only codes and links need a board that was created with --owned"
      )
    }
    guard replica.mayGrant else { throw CommandError(.viewer, "only the owner of the board can make view-only codes") }
  }

  /// Throws if the local member may not show the board to people who are not members (CST-18).
  func checkMayShowToOthers() throws(CommandError) {
    let advice = "to show it on this computer only, use --http 127.0.0.1:PORT"
    guard replica.isOwned ? replica.mayGrant : board.admitsNewcomers(configuration) else {
      throw CommandError(
        .refused,
        replica.isOwned
          ? "only the owner of the board can show it to people who are not members; \(advice)"
          : "you cannot admit people to this board, so you cannot show it to people who are not members; \(advice)"
      )
    }
  }

  private func link(with code: JoinCode) -> String { runtime.call { $0.phase.serving?.link(code: code) ?? "" } }

  // MARK: - Removing members

  /// Removes a peer, and revokes the rights that the peer was granted. Returns the event with the new join code; nil if
  /// the board has no code or keeps its code. Throws if no peer matches, or another peer is the host.
  nonisolated(nonsending) func kick(
    _ target: String,
    reason: String,
    withAdmitted: Bool,
    keepsCode: Bool,
    request: RequestMark?
  ) async throws(CommandError) -> SharedBoard.News.Invited? {
    defer { checkIsolation(#isolation) }
    let peer = try members.find(target)
    let removed: [PeerID]
    let invited: SharedBoard.News.Invited?
    do throws(SessionError) {
      let record = try await board.session.membershipRecord()
      removed = [peer] + (withAdmitted ? record.members(admittedBy: peer) : [])
      for peer in removed {
        if !roles.revoke(peer), roles.knowsRights(of: peer) { warnNotRevoked(peer) }
        try await board.session.kick(peer, reason: reason)
      }
      await giveBackRoom()
      invited = isByCode && !keepsCode ? try await replaceCode() : nil
    } catch { throw error.code == .notHost ? notHost : CommandError(error) }
    if keepsCode {
      await browsers.links.keep(ofRemoved: removed)
    } else {
      await browsers.removed(removed, request: request)
    }
    return invited
  }

  /// Frees the room of removed members on a board that this peer hosts (AUT-17).
  nonisolated(nonsending) func giveBackRoom() async {
    defer { checkIsolation(#isolation) }
    guard let record = try? await board.session.membershipRecord() else { return }
    roles.giveBackRoom(ofRemoved: record.removed)
  }

  private var notHost: CommandError {
    let host = board.session.hostPeer
    if configuration.isFormerIdentity(host) {
      return CommandError(.refused, configuration.formerIdentityText(board.name, host))
    }
    return CommandError(
      .refused,
      "only the host, \(EventText.person(members.name(of: host), host.text)), can remove members; ask the host, or host a "
        + "copy of the board: \(BoardFile.duplication(of: board.name))"
    )
  }

  private func warnNotRevoked(_ peer: PeerID) {
    runtime.emit(
      .warning(
        .init(
          code: "not-revoked",
          message:
            "The right of \(members.name(of: peer).escaped()) (\(peer.short)) to edit the board could not be revoked. "
            + "Other members can still pass on its changes."
        )
      )
    )
  }

  private nonisolated(nonsending) func replaceCode() async throws(SessionError)
    -> SharedBoard.News.Invited
  {
    defer { checkIsolation(#isolation) }
    let code = JoinCode.random()
    try await board.session.replaceCode(with: code)
    let link = link(with: code)
    runtime.call { $0.phase.serving?.setCode(code, $0.configuration) }
    if persistence.document != nil, configuration.recordingFile == nil, !configuration.isOffline {
      let record = try await board.session.membershipRecord()
      await persistence.storeMembership(record, code: board.code)
    }
    return SharedBoard.News.Invited(code: code.text, role: replica.isOwned ? "editor" : nil, link: link)
  }
}

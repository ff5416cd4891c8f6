import Logging
import PeerCore
import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Grants and revokes the rights of members, and reports changes of roles. Does nothing on a board without an owner,
/// because every member can edit such a board. Confined to the actor of its board.
final class Roles {
  static let viewLabel = "view"
  private static let roleTimeout = Duration.seconds(3)

  private let runtime: BoardRuntime
  private let replica: Replica
  /// The reference is weak because the open board owns this object.
  private weak var active: ActiveBoard?
  private let members: Members
  private var reportedRole: Role?
  /// Whether the local role is known, or the wait for it has ended.
  private var isKnown = false

  init(_ runtime: BoardRuntime, _ replica: Replica, of active: ActiveBoard, members: Members) {
    self.runtime = runtime
    self.replica = replica
    self.active = active
    self.members = members
  }

  func begin(owner: BoardOwner?) {
    // The replica ignores the owner of any other board.
    if let owner { active?.perform(replica.own(Grant(owner: owner), now: runtime.now).actions) }
    if replica.isOwned { localRoleChanged(to: replica.role) }
    isKnown = replica.role.mayWrite
  }

  // MARK: - Grants

  /// Grants the role for which the peer was admitted, if the local member is allowed to grant this role.
  func admit(_ peer: Peer) {
    guard replica.mayGrant else { return }
    let member = MemberID(peer.id)
    switch peer.admission {
    case .here(let label): admit(member, for: label == Self.viewLabel ? nil : .editor)
    case .vouched(let admitter):
      // A ticket contains the id of the admitter but no role. If the admitter is allowed to grant roles, the admitter
      // sends the role itself.
      if replica.mayGrant(MemberID(admitter)) { return }
      admit(member, for: nil)
    case nil: return
    }
  }

  func admit(relay: PeerID) {
    guard replica.mayGrant else { return }
    admit(MemberID(relay), for: .grantingRelay, isAsked: true)
  }

  private func admit(_ member: MemberID, for rights: Rights?, isAsked: Bool = false) {
    active?.perform(replica.admit(member, for: rights, isAsked: isAsked, now: runtime.now))
  }

  func change(_ target: String, to role: BoardRole) throws(CommandError) {
    let member = MemberID(try members.find(target))
    guard replica.isOwned else {
      throw CommandError(
        .refused,
        "every member can edit this board; a board hosted with `whiteboard-peer host --owned` has roles"
      )
    }
    guard replica.mayGrant else { throw CommandError(.viewer, "only the owner of the board can change roles") }
    switch role {
    case .editor: admit(member, for: .editor, isAsked: true)
    case .viewer:
      guard replica.role(of: member)?.mayWrite ?? false else { return admit(member, for: nil, isAsked: true) }
      let (isRevoked, actions) = replica.revoke(member, now: runtime.now)
      active?.perform(actions)
      guard isRevoked else { throw CommandError(.refused, "only the owner of the board can revoke that role") }
    }
  }

  /// Revokes the rights of a member before its removal; returns whether the member has no rights now, or the local
  /// member cannot grant rights. The last revocations for which the board has room are reserved for members that are
  /// not guests.
  func revoke(_ peer: PeerID, isGuest: Bool = false) -> Bool {
    guard replica.mayGrant else { return true }
    let (isRevoked, actions) = replica.revoke(MemberID(peer), isGuest: isGuest, now: runtime.now)
    active?.perform(actions)
    return isRevoked
  }

  /// Frees the room of removed members that left nothing on the board (AUT-17).
  func giveBackRoom(ofRemoved removed: [PeerID]) {
    let members = Set(removed.map { MemberID($0) })
    active?.perform(replica.giveBackRoom(ofRemoved: members, now: runtime.now).actions)
  }

  func knowsRights(of peer: PeerID) -> Bool { replica.knowsRights(of: MemberID(peer)) }

  // MARK: - State

  func role(of peer: PeerID) -> String? {
    guard replica.isOwned else { return nil }
    return replica.role(of: MemberID(peer))?.word
  }

  /// Waits for the host to send the local role if the local member is a viewer. Otherwise, the first commands of an
  /// editor that has just joined would be refused.
  nonisolated(nonsending) func waitForRole() async {
    guard replica.isOwned, !replica.role.mayWrite, !isKnown else { return }
    _ = await runtime.wait(timeout: Self.roleTimeout) { self.isKnown }
    isKnown = true
  }

  func localRoleChanged(to role: Role) {
    isKnown = true
    guard role != reportedRole else { return }
    reportedRole = role
    runtime.emit(
      .role(
        .init(
          peer: replica.board.member.description,
          name: UntrustedText(members.ownName),
          role: role.word,
          isOwn: true
        )
      )
    )
  }

  func roleChanged(of member: MemberID, to role: Role) {
    runtime.emit(
      .role(
        .init(
          peer: member.description,
          name: members.name(of: member) ?? UntrustedText(""),
          role: role.word,
          isOwn: false
        )
      )
    )
  }
}

extension Role {
  var word: String {
    switch self {
    case .editor: "editor"
    case .viewer: "viewer"
    case .relay: "relay"
    }
  }
}

extension BoardOwner {
  init(identity: PeerIdentity, salt: [UInt8]?) {
    let salt = salt.flatMap { $0.count == Self.saltBytes ? $0 : nil }
    self.init(salt: salt ?? Self.randomSalt(), key: identity.publicKey)
  }

  var session: SessionID { SessionID(board) }
}

extension SessionID {
  /// Returns a random id for a board without an owner. If `host` is given, the id names this host (MEM-14).
  package static func ofOpenBoard(hostedBy host: PeerID? = nil) -> SessionID {
    if let host { return .random(hostedBy: host) }
    while true {
      let id = SessionID.random()
      if !id.isOfOwnedBoard, !id.namesHost { return id }
    }
  }

  package static func ofBoard(ownedBy identity: PeerIdentity) -> (id: SessionID, salt: [UInt8]) {
    let owner = BoardOwner(identity: identity, salt: nil)
    return (owner.session, owner.salt)
  }
}

// Boards that an identity hosted before `identity new` replaced the identity. Their host can never return, so their
// members can no longer be removed.

extension BoardFile {
  package static func boards(hostedBy peer: PeerID, dataDirectory: String) async -> [(name: String, path: String)] {
    let library = BoardLibrary(sealedIn: dataDirectory)
    let logger = Logger(label: "boards") { _ in SwiftLogNoOpLogHandler() }
    var found: [(name: String, path: String)] = []
    for summary in (try? await library.list()) ?? [] {
      guard let id = summary.board.flatMap({ SessionID(bytes: $0) }) else { continue }
      var isHosted = id.names(peer)
      if !id.namesHost {
        let seal = library.seal(forFile: summary.path)
        guard let document = try? await BoardDocument.open(at: summary.path, mode: .reading, seal: seal) else {
          continue
        }
        isHosted = await document.membershipRecord(logger: logger)?.host == peer
        try? await document.close()
      }
      if isHosted { found.append((summary.name, summary.path)) }
    }
    return found
  }

  package static func duplication(of board: String) -> String {
    "whiteboard-peer boards duplicate \(shellQuoted(UntrustedText(board).escaped(limit: 128))) NAME"
  }
}

extension BoardConfiguration {
  func isFormerIdentity(_ peer: PeerID) -> Bool {
    peer != identity.peerID && PeerIdentity.formerPeers(inDirectory: dataDirectory).contains(peer)
  }

  func formerIdentityText(_ board: String, _ host: PeerID) -> String {
    "The board \(UntrustedText(board).quoted()) belongs to the former identity of this computer (\(host.short)). "
      + "Members cannot be removed from it. To host a copy of your own, run: \(BoardFile.duplication(of: board))"
  }
}

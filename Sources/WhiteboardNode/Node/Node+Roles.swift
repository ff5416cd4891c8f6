import PeerSession
import Whiteboard
import WhiteboardSync

/// The rights of members on an owned board.
extension Node {
  /// The label of codes that let in to look on.
  static let viewLabel = "view"
  /// How long who looks on waits for the host's word before its first verb.
  private static let roleWait = Duration.seconds(3)

  /// What the replica is given that makes a board ours; nil of others' and of open ones.
  ///
  /// - Parameter board: The board.
  /// - Returns: The owner's grant.
  func ownGrant(of board: BoardID) -> Grant? {
    owner.flatMap { $0.board == board ? Grant(owner: $0) : nil }
  }

  /// Which board is made where there is none: one of ours, where that is wanted.
  func newBoard() -> SessionID {
    guard configuration.isOwned else { return .ofOpenBoard() }
    let salt = configuration.salt.flatMap { $0.count == BoardOwner.saltBytes ? $0 : nil }
    let own = BoardOwner(
      salt: salt ?? Self.newSalt(),
      key: IdentityKey(identity: configuration.identity).publicKey
    )
    owner = own
    return Self.board(ofOwner: configuration.identity, salt: own.salt)
  }

  /// Returns a salt that distinguishes a board from others of the same owner.
  package static func newSalt() -> [UInt8] { BoardOwner.randomSalt() }

  /// The id for a board of somebody, told from others by a salt; without one of a board that nobody owns.
  package static func board(ofOwner identity: PeerIdentity, salt: [UInt8]?) -> SessionID {
    guard let salt, salt.count == BoardOwner.saltBytes else { return .ofOpenBoard() }
    let owner = BoardOwner(salt: salt, key: IdentityKey(identity: identity).publicKey)
    guard let id = SessionID(bytes: owner.board.bytes) else {
      preconditionFailure("a board id has the 16 bytes of a session id")
    }
    return id
  }

  /// Grants a peer that came what it came for, where we may.
  func admit(_ peer: Peer) {
    guard let replica, replica.mayGrant, let member = MemberID(peer.id.bytes) else { return }
    switch peer.admission {
    case .here(let label):
      replica.admit(member, for: label == Self.viewLabel ? nil : .editor, now: now)
    case .vouched(let admitter):
      // A ticket says who let it in, and not what for. Who may grant says that itself.
      if let admitter = MemberID(admitter.bytes), replica.mayGrant(admitter) { return }
      replica.admit(member, for: nil, now: now)
    case nil: return
    }
    performActions()
  }

  /// Grants a relay the right to admit editors.
  func admit(relay: PeerID) {
    guard let replica, replica.mayGrant, let member = MemberID(relay.bytes) else { return }
    replica.admit(member, for: .grantingRelay, isAsked: true, now: now)
    performActions()
  }

  /// Changes what a member may do.
  ///
  /// - Throws: ``CommandError`` if there is no such peer, or it is not ours to say.
  package func changeRole(of target: String, to role: BoardRole) throws(CommandError) {
    let peer = try members.find(target)
    guard let replica, let member = MemberID(peer.bytes) else {
      throw CommandError(.notConnected, "no other member is connected")
    }
    guard replica.isOwned else {
      throw CommandError(
        .refused,
        "on this board everybody writes; a board made with `whiteboard-peer host --owned` has roles"
      )
    }
    guard replica.mayGrant else {
      throw CommandError(.viewer, "only the owner of the board says who may write")
    }
    switch role {
    case .editor: replica.admit(member, for: .editor, isAsked: true, now: now)
    case .viewer:
      if replica.role(of: member)?.mayWrite ?? false {
        guard replica.revoke(member, now: now) else {
          performActions()
          throw CommandError(.refused, "that is not yours to take back")
        }
      } else {
        replica.admit(member, for: nil, isAsked: true, now: now)
      }
    }
    performActions()
  }

  /// Takes back what a member was granted that is about to be removed.
  func revoke(_ peer: PeerID) {
    guard let replica, replica.mayGrant, let member = MemberID(peer.bytes) else { return }
    _ = replica.revoke(member, now: now)
    performActions()
  }

  /// Waits for the host's word where we look on, so that what is done first is not refused for want of it.
  func untilRoleIsTold() async {
    guard let replica, replica.isOwned, !replica.role.mayWrite, !isRoleTold else { return }
    _ = await wait(timeout: Self.roleWait) { self.isRoleTold }
    isRoleTold = true
  }

  func roleChanged(_ role: Role) {
    isRoleTold = true
    guard let member = replica?.board.member, role != ownRole else { return }
    ownRole = role
    emit(
      .role(.init(peer: member.description, name: members.ownName, role: role.word, isOwn: true))
    )
  }

  func roleChanged(_ member: MemberID, _ role: Role) {
    emit(
      .role(
        .init(
          peer: member.description,
          name: members.name(of: member) ?? "",
          role: role.word,
          isOwn: false
        )
      )
    )
  }

  /// Returns the role of a peer on an owned board.
  func role(of peer: PeerID) -> String? {
    guard let replica, replica.isOwned else { return nil }
    return MemberID(peer.bytes).flatMap { replica.role(of: $0) }?.word
  }

  /// The number of refused changes since the board was opened, by reason.
  package var refusals: Refusals { replica?.refusals ?? Refusals() }
}

extension Role {
  /// The role as events tell it.
  var word: String {
    switch self {
    case .editor: "editor"
    case .viewer: "viewer"
    case .relay: "relay"
    }
  }
}

extension SessionID {
  /// Whether it is the id of a board that somebody owns.
  package var isOfOwnedBoard: Bool { BoardID(bytes).map(\.isOwned) ?? false }

  /// An id for a board that nobody owns.
  package static func ofOpenBoard() -> SessionID {
    while true {
      let id = SessionID.random()
      if BoardID(id.bytes)?.isOwned == false { return id }
    }
  }
}

import Whiteboard

/// The rights of members on an owned board (AUT-9 to AUT-15).
extension Replica {
  /// The local role on the board.
  public var role: Role { author.role }

  /// Whether the board has an owner that decides which members may write.
  public var isOwned: Bool { permissions.isOwned }

  /// The owner of an owned board; nil on an open board, or as long as no grant or record has arrived that contains the
  /// owner's key.
  public var owner: MemberID? { permissions.owner }

  /// Whether the local member may make other members editors.
  public var mayGrant: Bool { author.mayGrant }

  /// Returns whether a member may make other members editors, according to the record that this replica has.
  public func mayGrant(_ member: MemberID) -> Bool { permissions.mayGrant(member) }

  /// Returns the role of a joined member; nil until the member has introduced itself.
  public func role(of member: MemberID) -> Role? { peers[member]?.link.role }

  /// The numbers of changes that were refused since this replica was created.
  public var refusals: Refusals { permissions.refusals }

  /// Sets the rights with which a member was admitted.
  ///
  /// If the local member may grant these rights, it does so immediately, or when the member joins. A viewer is informed
  /// of its role. A member that may already write remains an editor.
  /// - Parameters:
  ///   - member: The member.
  ///   - rights: The rights; nil for a viewer.
  ///   - isAsked: Whether a user chose these rights. If not, the rights do not replace chosen ones. A member whose
  ///     rights were revoked becomes a viewer, so that it does not regain them by joining again.
  ///   - now: The time.
  /// - Returns: The actions.
  public func admit(_ member: MemberID, for rights: Rights?, isAsked: Bool = false, now: Moment) -> [ReplicaAction] {
    guard mayGrant, member != author.member else { return [] }
    begin(now)
    permissions.admit(member, for: rights, isChosen: isAsked, now)
    return finish(now)
  }

  /// Revokes the rights of a member.
  ///
  /// Changes of the member that have already arrived on this replica remain valid. Later changes are ignored. Only a
  /// member that may grant rights can revoke them. Only the owner can revoke the rights of another member that may
  /// grant. A board has room for 4,096 revocations.
  /// - Parameters:
  ///   - member: The member.
  ///   - isGuest: Whether the member joined from a browser. A quarter of the room for revocations is reserved for other
  ///     members, because guests with many keys could use up all of it.
  ///   - now: The time.
  /// - Returns: Whether the rights were revoked, and the actions.
  public func revoke(_ member: MemberID, isGuest: Bool = false, now: Moment) -> (
    isRevoked: Bool, actions: [ReplicaAction]
  ) {
    guard permissions.mayRevoke(member, isGuest: isGuest) else { return (false, []) }
    begin(now)
    let isRevoked = permissions.revoke(member, now)
    return (isRevoked, finish(now))
  }

  /// Returns whether this replica knows a certificate of a member, or admitted the member with rights.
  public func knowsRights(of member: MemberID) -> Bool { permissions.knowsRights(of: member) }

  /// Makes the local member the owner of the board.
  ///
  /// - Returns: Whether the local member is the owner, and the actions. The local member is not the owner if the id of
  ///   the board belongs to a different key.
  public func own(_ grant: Grant, now: Moment) -> (isOwner: Bool, actions: [ReplicaAction]) {
    guard permissions.isOwners(grant) else { return (false, []) }
    guard permissions.isBetter(grant) else { return (true, []) }
    begin(now)
    permissions.own(grant, now)
    return (true, finish(now))
  }
}

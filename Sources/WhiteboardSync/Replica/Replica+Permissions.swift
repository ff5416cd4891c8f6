import Whiteboard

/// Rights on an owned board (AUT-9 to AUT-15).
extension Replica {
  /// The local role on the board.
  public var role: Role { core.author.role }

  /// Whether the board has an owner, who decides which members may write.
  public var isOwned: Bool { core.permissions.isOwned }

  /// Whether the local member may make others editors.
  public var mayGrant: Bool { core.author.mayGrant }

  /// Returns whether a member may make others editors, as far as its record here shows.
  public func mayGrant(_ member: MemberID) -> Bool { core.permissions.mayGrant(member) }

  /// Returns the role of a joined member, once it has introduced itself.
  public func role(of member: MemberID) -> Role? { core.peers[member]?.link.role }

  /// The numbers of changes that were refused since this replica was created.
  public var refusals: Refusals { core.permissions.refusals }

  /// Sets the rights for which a member was admitted.
  ///
  /// If the local member may grant them, it does so at once, or when the member joins. A viewer is informed
  /// of its role. A member that may write already remains an editor.
  /// - Parameters:
  ///   - member: The member.
  ///   - rights: The rights; nil for a viewer.
  ///   - isAsked: Whether a user chose these rights. Otherwise they do not replace chosen rights, and a member
  ///     whose rights were revoked becomes a viewer, so that it does not regain them by joining again.
  ///   - now: The time.
  public func admit(
    _ member: MemberID,
    for rights: Rights?,
    isAsked: Bool = false,
    now: Moment
  ) {
    guard mayGrant, member != core.author.member else { return }
    core.begin(now)
    core.permissions.admit(member, for: rights, isChosen: isAsked, now)
    core.finish(now)
  }

  /// Revokes the rights of a member.
  ///
  /// Its changes that have arrived here remain valid; later ones do not count.
  /// - Returns: Whether the rights were revoked. Only a member that may grant can revoke rights, and only the
  ///   owner can revoke those of another such member. A board has room for 4,096 revocations.
  public func revoke(_ member: MemberID, now: Moment) -> Bool {
    guard core.permissions.mayRevoke(member) else { return false }
    core.begin(now)
    let isValid = core.permissions.revoke(member, now)
    core.finish(now)
    return isValid
  }

  /// Makes the local member the owner of the board.
  ///
  /// - Returns: Whether it is the owner; the id of a board determines its owner.
  public func own(_ grant: Grant, now: Moment) -> Bool {
    guard core.permissions.isOwners(grant) else { return false }
    guard core.permissions.isBetter(grant) else { return true }
    core.begin(now)
    core.permissions.own(grant, now)
    core.finish(now)
    return true
  }
}

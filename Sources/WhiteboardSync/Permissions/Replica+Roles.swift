import Whiteboard

/// The numbers of refused changes, by reason.
public struct Refusals: Hashable, Sendable {
  /// Batches of those who only look on.
  public internal(set) var viewer = 0
  /// Batches and answers of those whose rights were taken back.
  public internal(set) var revoked = 0

  /// Nothing yet.
  public init() {}
}

/// The terms of a member's admission.
struct Admission {
  /// Nil to look on.
  let rights: Rights?
  /// Whether somebody asked for just that.
  let isAsked: Bool
}

/// Rights on an owned board: granting and revoking them, and handling those of others (AUT-9 to
/// AUT-15).
extension Replica {
  /// The local role on the board.
  public var role: Role { author.role }

  /// Whether the board has an owner, who says who may write.
  public var isOwned: Bool { author.board.isOwned }

  /// Whether we may make others editors.
  public var mayGrant: Bool { author.mayGrant }

  /// Whether a member may make others editors, as far as its record here says.
  public func mayGrant(_ member: MemberID) -> Bool {
    author.grant?.owner.member == member
      || peers[member]?.link.record?.certificates.contains { $0.holder == member && $0.mayGrant }
        ?? false
  }

  /// Returns the role of a joined member, once it introduced itself.
  public func role(of member: MemberID) -> Role? { peers[member]?.link.role }

  // MARK: - What we grant and take back

  /// Takes note of what a member was admitted for, and grants it where that lacks and we may: at once
  /// where it is joined, else when it comes.
  ///
  /// Who looks on is told so. Whoever may write already goes on writing.
  /// - Parameters:
  ///   - member: whom.
  ///   - rights: what for; nil to look on.
  ///   - isAsked: whether somebody asked for just that. Else it changes nothing that was asked for, and
  ///     makes nobody an editor again of whom something was taken back: it would be enough to come again.
  ///   - now: the time.
  public func admit(
    _ member: MemberID,
    for rights: Rights?,
    isAsked: Bool = false,
    now: Moment
  ) {
    guard mayGrant, member != author.member else { return }
    begin(now)
    if isAsked {
      admissions[member] = Admission(rights: rights, isAsked: true)
    } else if admissions[member]?.isAsked != true {
      let isBarred = revocations.serial(of: member) != nil
      admissions[member] = Admission(rights: isBarred ? nil : rights, isAsked: false)
    }
    peers[member]?.granted = nil
    grantWhatIsDue(to: member, now)
    finish(from: nil, now)
  }

  /// Takes back what was granted to a member: what it wrote so far, as far as it came here, goes on
  /// counting, and nothing more.
  /// - Returns: Whether that was said: only who may grant can, and not of the owner; nor, but the owner,
  ///   of others who may grant; and a board has room for 4,096 revocations.
  public func revoke(_ member: MemberID, now: Moment) -> Bool {
    guard mayGrant, let owner = author.grant?.owner, owner.member != member,
      member != author.member,
      !revocations.isFull
    else { return false }
    begin(now)
    var serial = now.wall
    var counted: [Incarnation: UInt64] = [:]
    let joined = peers.values.compactMap(\.link.record)
    for record in Array(records.values) + joined {
      for held in record.certificates where held.holder == member {
        serial = max(serial, held.serial)
        counted[record.incarnation] = board.state.context.last(of: record.incarnation)
      }
    }
    if counted.count > Revocation.incarnationLimit {
      let kept = counted.sorted { $0.value > $1.value }.prefix(Revocation.incarnationLimit)
      counted = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
    }
    admissions[member] = Admission(rights: nil, isAsked: true)
    guard let revocation = author.revoke(member, through: serial, counting: counted) else {
      return false
    }
    takeIn(revocation, from: nil, now)
    peers[member]?.granted = nil
    grantWhatIsDue(to: member, now)
    finish(from: nil, now)
    return revocations.contains(revocation)
  }

  /// Grants a member what it was admitted for, or tells it that it looks on: once for each incarnation.
  func grantWhatIsDue(to member: MemberID, _ now: Moment) {
    guard mayGrant, let admitted = admissions[member], let peer = peers[member],
      let record = peer.link.record, peer.granted != record.incarnation, let grant = author.grant
    else { return }
    peers[member]?.granted = record.incarnation
    guard let rights = admitted.rights else {
      if peer.link.role == .viewer { send(.grant(Grant(owner: grant.owner).bytes), to: member) }
      return
    }
    if let role = peer.link.role, role.mayWrite, rights.allow(.relay) == (role == .relay) { return }
    let serial = max(now.wall, (revocations.serial(of: member) ?? 0) + 1)
    if let granted = author.grant(rights, to: record.key, serial: serial) {
      send(.grant(granted.bytes), to: member)
    }
  }

  /// Makes the board ours, whose owner we are.
  ///
  /// - Returns: Whether we are: a board has the owner that its id says.
  public func own(_ grant: Grant, now: Moment) -> Bool {
    guard grant.owner.board == author.board, author.rights(in: grant) == .owner else {
      return false
    }
    guard isBetter(grant) else { return true }
    begin(now)
    keep(AnswerMerging.grant, grant.bytes)
    take(grant, now)
    finish(from: nil, now)
    return true
  }

  // MARK: - What others grant us

  func receiveGrant(
    _ bytes: [UInt8],
    from member: MemberID,
    _ now: Moment
  ) throws(ReplicaError) {
    guard isOwned else { throw .malformed(.reserved("kind")) }
    let grant: Grant
    do {
      grant = try Grant(for: author.publicKey, bytes)
    } catch {
      throw .malformed(error)
    }
    try grant.verify(board: author.board, with: verifier)
    if isBetter(grant) {
      keep(AnswerMerging.grant, grant.bytes)
      take(grant, now)
    } else {
      actions.append(.role(role))
    }
  }

  /// Whether a grant gives us what we have not.
  private func isBetter(_ grant: Grant) -> Bool {
    guard let new = author.rights(in: grant), !revocations.takeBack(grant) else { return false }
    guard let old = author.grant.flatMap({ author.rights(in: $0) }) else { return true }
    return new != old && (new.mayGrant || !old.mayGrant)
  }

  /// Goes on under another incarnation where the role is another: it is fixed for each.
  private func take(_ grant: Grant?, _ now: Moment) {
    if heads.isNew(chain) { tellHead(now) }
    author.take(grant)
    strokes = [:]
    board.beginIncarnation()
    board.isReadOnly = !role.mayWrite
    for member in members { peers[member]?.didChangeOwnRole() }
    actions.append(.role(role))
  }

  /// Derives the local role from the restored board.
  func resumeRole() {
    guard isOwned else { return }
    if let grant = author.grant, revocations.takeBack(grant) {
      author.take(Grant(owner: grant.owner))
    }
    guard board.isReadOnly == role.mayWrite else { return }
    board.beginIncarnation()
    board.isReadOnly = !role.mayWrite
    introduceIncarnation(board.incarnation)
  }

  func restore(_ grant: Grant) {
    keptGrant = grant
    guard (try? grant.verify(board: author.board, with: verifier)) != nil, isBetter(grant) else {
      return
    }
    author.take(grant)
  }

  // MARK: - What is taken back

  func receiveRevocation(
    _ bytes: [UInt8],
    from member: MemberID,
    _ now: Moment
  ) throws(ReplicaError) {
    guard isOwned else { throw .malformed(.reserved("kind")) }
    let revocation: Revocation
    do {
      revocation = try Revocation(bytes)
    } catch {
      throw .malformed(error)
    }
    guard !revocations.contains(revocation) else { return }
    try revocation.verify(board: author.board, with: verifier)
    takeIn(revocation, from: member, now)
  }

  /// Takes a revocation in, keeps it, and passes it on: so it reaches all who are connected.
  private func takeIn(_ revocation: Revocation, from member: MemberID?, _ now: Moment) {
    guard revocations.insert(revocation) else { return }
    // What we admitted it for before is over.
    if member != nil { admissions.removeValue(forKey: revocation.member) }
    keep(AnswerMerging.revocation, revocation.bytes)
    send(.revocation(revocation.bytes), to: members.filter { $0 != member })
    mendingUntil = now.uptime + Self.mendingTime
    limitBoard()
    for member in members { noteRole(of: member) }
    if let grant = author.grant, revocations.takeBack(grant) {
      take(Grant(owner: grant.owner), now)
    }
  }

  /// Tells a newcomer what was taken back.
  func sendRevocations(to member: MemberID, _ now: Moment) {
    guard !revocations.isEmpty else { return }
    // What it has may be what is here no longer.
    mendingUntil = now.uptime + Self.mendingTime
    for revocation in revocations.all { send(.revocation(revocation.bytes), to: member) }
  }

  /// Excludes revoked changes from the board, for the known incarnations and for `more`.
  func limitBoard(for more: some Sequence<AuthorRecord> = EmptyCollection()) {
    guard !revocations.isEmpty else { return }
    var limits: [Incarnation: UInt64] = [:]
    for record in records.values { limits[record.incarnation] = revocations.limit(of: record) }
    for peer in peers.values {
      guard let record = peer.link.record else { continue }
      limits[record.incarnation] = revocations.limit(of: record)
    }
    for record in more { limits[record.incarnation] = revocations.limit(of: record) }
    board.limit(limits)
  }

  /// Records the role of a member, and sends it to the member if it changed.
  func noteRole(of member: MemberID) {
    guard let record = peers[member]?.link.record else { return }
    peers[member]?.link.isRevoked = revocations.limit(of: record) != nil
    guard let role = peers[member]?.link.role, peers[member]?.role != role else { return }
    if !role.mayWrite { requestQueue.removeAll { $0 == member } }
    if peers[member]?.role != nil { peers[member]?.didChangeRole() }
    peers[member]?.role = role
    guard isOwned else { return }
    actions.append(.memberRole(member, role))
  }

  private func keep(_ kind: UInt8, _ bytes: [UInt8]) {
    actions.append(.record(.answer([kind] + bytes)))
  }
}

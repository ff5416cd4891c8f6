import Whiteboard

/// The numbers of refused changes, by reason.
public struct Refusals: Hashable, Sendable {
  /// Batches of viewers.
  public internal(set) var viewer = 0
  /// Batches and answers of members whose rights were revoked.
  public internal(set) var revoked = 0

  /// No refusals.
  public init() {}
}

/// The terms of a member's admission.
private struct Admission {
  /// The rights; nil for a viewer.
  let rights: Rights?
  /// Whether a user chose these rights explicitly.
  let isChosen: Bool
}

/// The rights on an owned board: grants and revocations, the local ones and those of other members (AUT-9
/// to AUT-15).
final class Permissions {
  private let board: Board
  private let author: Author
  private let verifier: any SignatureVerifier
  private let peers: PeerTable
  private let registry: AuthorRegistry
  private let publisher: BatchPublisher
  private let reports: ContextReports
  private let requests: RequestQueue
  private let strokes: StrokeSharing
  private let outbox: Outbox

  /// The revocations on this board.
  private(set) var revocations = Revocations()
  /// The rights for which members were admitted.
  private var admissions: [MemberID: Admission] = [:]
  /// The last grant that a document contained, whichever member it is for.
  private var restoredGrant: Grant?
  /// The local revocations whose signatures are missing.
  private var unsignedRevocations: [SigningID: Revocation] = [:]
  /// The numbers of refused changes.
  private(set) var refusals = Refusals()

  init(
    _ board: Board,
    _ author: Author,
    _ verifier: any SignatureVerifier,
    _ peers: PeerTable,
    _ registry: AuthorRegistry,
    _ publisher: BatchPublisher,
    _ reports: ContextReports,
    _ requests: RequestQueue,
    _ strokes: StrokeSharing,
    _ outbox: Outbox
  ) {
    self.board = board
    self.author = author
    self.verifier = verifier
    self.peers = peers
    self.registry = registry
    self.publisher = publisher
    self.reports = reports
    self.requests = requests
    self.strokes = strokes
    self.outbox = outbox
  }

  /// Whether the board has an owner, who decides which members may write.
  var isOwned: Bool { author.board.isOwned }

  /// Whether a member may make others editors, as far as its record here shows.
  func mayGrant(_ member: MemberID) -> Bool {
    author.grant?.owner.member == member
      || peers[member]?.link.record?.certificates.contains { $0.holder == member && $0.mayGrant }
        ?? false
  }

  /// The grant to store in a keyframe.
  var grantForKeyframe: Grant? { author.grant ?? restoredGrant }

  // MARK: - Admitting and revoking

  /// Sets the rights for which a member was admitted, and grants them when the member is joined.
  ///
  /// - Parameters:
  ///   - member: The member.
  ///   - rights: The rights; nil for a viewer.
  ///   - isChosen: Whether a user chose these rights. Otherwise they do not replace chosen rights, and a member
  ///     whose rights were revoked becomes a viewer, so that it does not regain them by joining again.
  ///   - now: The time.
  func admit(_ member: MemberID, for rights: Rights?, isChosen: Bool, _ now: Moment) {
    if isChosen {
      admissions[member] = Admission(rights: rights, isChosen: true)
    } else if admissions[member]?.isChosen != true {
      let isBarred = revocations.serial(of: member) != nil
      admissions[member] = Admission(rights: isBarred ? nil : rights, isChosen: false)
    }
    peers[member]?.granted = nil
    sendGrant(to: member, now)
  }

  /// Whether the local author may revoke the rights of a member, and there is room for it.
  func mayRevoke(_ member: MemberID) -> Bool {
    guard author.mayGrant, let owner = author.grant?.owner else { return false }
    return owner.member != member && member != author.member && !revocations.isFull
  }

  /// Revokes the rights of a member; its changes that arrived here remain valid.
  /// - Returns: Whether the revocation is valid.
  func revoke(_ member: MemberID, _ now: Moment) -> Bool {
    var serial = now.wall
    var counted: [Incarnation: UInt64] = [:]
    for record in Array(registry.all) + peers.states.compactMap(\.link.record) {
      for held in record.certificates where held.holder == member {
        serial = max(serial, held.serial)
        counted[record.incarnation] = board.state.context.last(of: record.incarnation)
      }
    }
    if counted.count > Revocation.incarnationLimit {
      let kept = counted.sorted { $0.value > $1.value }.prefix(Revocation.incarnationLimit)
      counted = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
    }
    admissions[member] = Admission(rights: nil, isChosen: true)
    guard let revocation = author.makeRevocation(of: member, through: serial, counting: counted)
    else {
      return false
    }
    if let request = revocation.request {
      unsignedRevocations[request] = revocation.value
      return true
    }
    insertOwn(revocation.value, now)
    return revocations.contains(revocation.value)
  }

  /// A missing signature was made; if it is that of a revocation, the revocation takes effect.
  func didSign(_ id: SigningID, _ signature: [UInt8], _ now: Moment) {
    guard var revocation = unsignedRevocations.removeValue(forKey: id) else { return }
    revocation.fill(signature)
    insertOwn(revocation, now)
  }

  private func insertOwn(_ revocation: Revocation, _ now: Moment) {
    insert(revocation, from: nil, now)
    peers[revocation.member]?.granted = nil
    sendGrant(to: revocation.member, now)
  }

  /// Sends a member the grant for which it was admitted, once for each of its incarnations.
  ///
  /// A viewer receives a grant without rights. A member that already has the rights receives nothing.
  func sendGrant(to member: MemberID, _ now: Moment) {
    guard author.mayGrant, let admission = admissions[member], let peer = peers[member],
      let record = peer.link.record, peer.granted != record.incarnation, let grant = author.grant,
      // A new grant must not be one that the revocation covers.
      !unsignedRevocations.values.contains(where: { $0.member == member })
    else { return }
    peer.granted = record.incarnation
    guard let rights = admission.rights else {
      if peer.link.role == .viewer {
        outbox.send(.grant(Grant(owner: grant.owner).bytes), to: member)
      }
      return
    }
    if let role = peer.link.role, role.mayWrite, rights.allow(.relay) == (role == .relay) { return }
    let serial = max(now.wall, (revocations.serial(of: member) ?? 0) + 1)
    if let granted = author.makeGrant(rights, to: record.key, serial: serial) {
      outbox.send(.grant(granted.value.bytes), to: member, lacking: granted.gaps)
    }
  }

  // MARK: - The local rights

  /// Whether a grant is that of the board's owner, and the local author is the owner.
  ///
  /// The id of a board determines its owner.
  func isOwners(_ grant: Grant) -> Bool {
    grant.owner.board == author.board && author.rights(in: grant) == .owner
  }

  /// Makes the local author the owner of the board; the grant is its own and is better.
  func own(_ grant: Grant, _ now: Moment) { storeAndAdopt(grant, now) }

  /// Checks a grant for the local author that a member sent, and returns it.
  func checkGrant(_ bytes: [UInt8]) throws(ReplicaError) -> Grant {
    guard isOwned else { throw .malformed(.reserved("kind")) }
    let grant: Grant
    do {
      grant = try Grant(for: author.publicKey, bytes)
    } catch {
      throw .malformed(error)
    }
    try grant.verify(board: author.board, with: verifier)
    return grant
  }

  /// A member sent a grant for the local author, which was checked.
  func receive(_ grant: Grant, _ now: Moment) {
    if isBetter(grant) {
      storeAndAdopt(grant, now)
    } else {
      outbox.append(.role(author.role))
    }
  }

  /// Whether a grant gives the local author new rights.
  func isBetter(_ grant: Grant) -> Bool {
    guard let new = author.rights(in: grant), !revocations.takeBack(grant) else { return false }
    guard let old = author.grant.flatMap({ author.rights(in: $0) }) else { return true }
    return new != old && (new.mayGrant || !old.mayGrant)
  }

  private func storeAndAdopt(_ grant: Grant, _ now: Moment) {
    store(AnswerMerging.grant, grant.bytes)
    adopt(grant, now)
  }

  /// Continues with another grant under a new incarnation, because the role of an incarnation is fixed.
  private func adopt(_ grant: Grant, _ now: Moment) {
    publisher.sendHead(now)
    author.adopt(grant)
    strokes.discardAll()
    board.beginIncarnation()
    board.isReadOnly = !author.role.mayWrite
    for peer in peers.states { peer.didChangeOwnRole() }
    outbox.append(.role(author.role))
  }

  // MARK: - Revocations

  /// Checks a revocation that a member sent, and returns it.
  func checkRevocation(_ bytes: [UInt8]) throws(ReplicaError) -> Revocation {
    guard isOwned else { throw .malformed(.reserved("kind")) }
    let revocation: Revocation
    do {
      revocation = try Revocation(bytes)
    } catch {
      throw .malformed(error)
    }
    // A known revocation was verified before.
    if !revocations.contains(revocation) {
      try revocation.verify(board: author.board, with: verifier)
    }
    return revocation
  }

  /// A member sent a revocation, which was checked.
  func receive(_ revocation: Revocation, from member: MemberID, _ now: Moment) {
    insert(revocation, from: member, now)
  }

  /// Applies and stores a revocation, and forwards it so that it reaches all connected members.
  private func insert(_ revocation: Revocation, from member: MemberID?, _ now: Moment) {
    guard revocations.insert(revocation) else { return }
    // An earlier admission no longer holds.
    if member != nil { admissions.removeValue(forKey: revocation.member) }
    store(AnswerMerging.revocation, revocation.bytes)
    outbox.send(.revocation(revocation.bytes), to: peers.members.filter { $0 != member })
    reports.expectDifferences(now)
    limitBoard()
    for member in peers.members { updateRole(of: member) }
    if let grant = author.grant, revocations.takeBack(grant) {
      adopt(Grant(owner: grant.owner), now)
    }
  }

  /// Sends a newcomer all revocations.
  func sendRevocations(to member: MemberID, _ now: Moment) {
    guard !revocations.isEmpty else { return }
    // The board of the newcomer may contain revoked changes.
    reports.expectDifferences(now)
    for revocation in revocations.all { outbox.send(.revocation(revocation.bytes), to: member) }
  }

  /// Returns whether the rights of an author were revoked, so that its answers do not count.
  func isRevoked(_ record: AuthorRecord) -> Bool { revocations.limit(of: record) != nil }

  /// Returns whether an author's answer counts, and counts the refusal if it does not.
  func admitsAnswer(by record: AuthorRecord) -> Bool {
    guard isRevoked(record) else { return true }
    // The author may not have received the revocation yet.
    refusals.revoked += 1
    return false
  }

  /// Counts a change that a viewer sent.
  func viewerWasRefused() { refusals.viewer += 1 }

  /// Returns whether a batch that arrived on a link counts, and counts the refusal if it does not.
  func admitsBatch(_ batch: Batch, from link: LinkChainVerifier) -> Bool {
    guard !revocations.isEmpty, let record = link.record,
      let limit = revocations.limit(of: record)
    else { return true }
    if board.state.limits[record.incarnation] != limit { limitBoard() }
    if batch.firstSequence <= limit { return true }
    // The author may not have received the revocation yet.
    refusals.revoked += 1
    return false
  }

  /// Excludes revoked changes from the board, for the known incarnations and for `more`.
  func limitBoard(for more: some Sequence<AuthorRecord> = EmptyCollection()) {
    guard !revocations.isEmpty else { return }
    var limits: [Incarnation: UInt64] = [:]
    for record in registry.all { limits[record.incarnation] = revocations.limit(of: record) }
    for peer in peers.states {
      guard let record = peer.link.record else { continue }
      limits[record.incarnation] = revocations.limit(of: record)
    }
    for record in more { limits[record.incarnation] = revocations.limit(of: record) }
    board.limit(limits)
  }

  /// Updates the role of a member from its record, and reports a new role.
  func updateRole(of member: MemberID) {
    guard let peer = peers[member], let record = peer.link.record else { return }
    peer.link.isRevoked = revocations.limit(of: record) != nil
    guard let role = peer.link.role, peer.role != role else { return }
    if !role.mayWrite { requests.remove(member) }
    if peer.role != nil { peer.didChangeRole() }
    peer.role = role
    guard isOwned else { return }
    outbox.append(.memberRole(member, role))
  }

  private func store(_ kind: UInt8, _ bytes: [UInt8]) {
    outbox.record(.answer([kind] + bytes))
  }

  // MARK: - Restoring

  /// Restores a revocation from a document.
  func restore(_ revocation: Revocation) {
    if revocations.insert(revocation) { limitBoard() }
  }

  /// Restores a grant from a document, if it is valid and for the local author.
  func restore(_ grant: Grant) {
    noteRestored(grant)
    if isValid(grant), isBetter(grant) { author.adopt(grant) }
  }

  /// Notes a grant from a document that is verified later, if it is for the local author.
  func noteRestored(_ grant: Grant) { restoredGrant = grant }

  /// Returns whether a grant is for this board, and its certificates are valid.
  func isValid(_ grant: Grant) -> Bool {
    (try? grant.verify(board: author.board, with: verifier)) != nil
  }

  /// Adopts a grant from a document that was verified after the board was restored.
  func adoptRestored(_ grant: Grant, _ now: Moment) {
    if isBetter(grant) { adopt(grant, now) }
  }

  /// Derives the local role from the restored grant and revocations.
  func applyRestoredRole() {
    guard isOwned else { return }
    if let grant = author.grant, revocations.takeBack(grant) {
      author.adopt(Grant(owner: grant.owner))
    }
    guard board.isReadOnly == author.role.mayWrite else { return }
    board.beginIncarnation()
    board.isReadOnly = !author.role.mayWrite
    publisher.introduceIncarnation(board.incarnation)
  }
}

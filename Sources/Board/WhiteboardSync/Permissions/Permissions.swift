import Whiteboard

private struct Admission {
  let rights: Rights?
  /// Whether a user chose these rights explicitly.
  let isChosen: Bool
}

/// The rights on an owned board: local and received grants and revocations (AUT-9 to AUT-15).
final class Permissions {
  private let board: Board
  private let author: Author
  private let verifier: ReplicaVerifier
  private let peers: MemberLinks
  private let registry: AuthorRegistry
  private let publisher: BatchPublisher
  private let reports: ContextReports
  private let requests: RequestQueue
  private let strokes: StrokeSharing
  private let actions: ActionQueue

  private(set) var revocations = Revocations()
  private var admissions: [MemberID: Admission] = [:]
  /// The last grant in the restored document, even if it is not for the local member.
  private var restoredGrant: Grant?
  /// The grants from a document that are not verified yet, in stored order.
  private var unverifiedGrants: [Grant] = []
  private var grantVerification = VerificationState()
  private var unsignedRevocations: [SigningID: Revocation] = [:]
  private(set) var refusals = Refusals()

  init(
    _ board: Board,
    _ author: Author,
    _ verifier: ReplicaVerifier,
    _ peers: MemberLinks,
    _ registry: AuthorRegistry,
    _ publisher: BatchPublisher,
    _ reports: ContextReports,
    _ requests: RequestQueue,
    _ strokes: StrokeSharing,
    _ actions: ActionQueue
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
    self.actions = actions
  }

  var isOwned: Bool { author.board.isOwned }

  func mayGrant(_ member: MemberID) -> Bool {
    author.grant?.owner.member == member
      || peers[member]?.link.record?.certificates.contains { $0.holder == member && $0.mayGrant } ?? false
  }

  var owner: MemberID? {
    guard isOwned else { return nil }
    // The id of a board determines its owner.
    if let owner = author.grant?.owner, owner.board == author.board { return owner.member }
    for record in knownRecords {
      if let owner = record.grant?.owner, owner.board == author.board { return owner.member }
    }
    return nil
  }

  var grantForKeyframe: Grant? { author.grant ?? restoredGrant }

  // MARK: - Admitting and revoking

  /// Sets the rights of an admitted member (nil for a viewer), and grants them when the member joins. If no user chose
  /// the rights, they do not replace chosen rights, and a member whose rights were revoked becomes a viewer.
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

  func mayRevoke(_ member: MemberID, isGuest: Bool) -> Bool {
    guard author.mayGrant, let owner = author.grant?.owner else { return false }
    return owner.member != member && member != author.member && revocations.hasRoom(forGuest: isGuest)
  }

  func knowsRights(of member: MemberID) -> Bool {
    admissions[member]?.rights != nil || knownRecords.contains { $0.certificates.contains { $0.holder == member } }
  }

  private var knownRecords: [AuthorRecord] { Array(registry.all) + peers.states.compactMap { $0.link.record } }

  /// Changes that have already arrived on this replica remain valid. Returns whether the revocation is valid.
  func revoke(_ member: MemberID, _ now: Moment) -> Bool {
    var serial = now.wall
    var counted: [Incarnation: UInt64] = [:]
    for record in knownRecords {
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
    guard let revocation = author.makeRevocation(of: member, through: serial, counting: counted) else { return false }
    if let request = revocation.request {
      unsignedRevocations[request] = revocation.value
      return true
    }
    insertOwn(revocation.value, now)
    return revocations.contains(revocation.value)
  }

  /// Fills in a requested signature if it belongs to a revocation, which then takes effect.
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

  /// A viewer receives a grant without rights; a member that already has the rights receives nothing.
  func sendGrant(to member: MemberID, _ now: Moment) {
    guard author.mayGrant, let admission = admissions[member], let peer = peers[member], let record = peer.link.record,
      peer.granted != record.incarnation, let grant = author.grant,
      // A pending revocation would also cover a grant that is made now.
      !unsignedRevocations.values.contains(where: { $0.member == member })
    else { return }
    peer.granted = record.incarnation
    guard let rights = admission.rights else {
      if peer.link.role == .viewer { actions.queue(.grant(Grant(owner: grant.owner).bytes), to: member) }
      return
    }
    if let role = peer.link.role, role.mayWrite, rights.allow(.relay) == (role == .relay) { return }
    let serial = max(now.wall, (revocations.serial(of: member) ?? 0) + 1)
    if let granted = author.makeGrant(rights, to: record.key, serial: serial) {
      actions.queue(.grant(granted.value.bytes), to: member, lacking: granted.gaps)
    }
  }

  // MARK: - The local rights

  /// The id of a board determines its owner.
  func isOwners(_ grant: Grant) -> Bool { grant.owner.board == author.board && author.rights(in: grant) == .owner }

  /// The caller has checked that the grant is better than the present grant.
  func own(_ grant: Grant, _ now: Moment) { storeAndAdopt(grant, now) }

  func checkGrant(_ bytes: [UInt8]) throws(ReplicaError) -> Grant {
    guard isOwned else { throw .malformed(.reserved("kind")) }
    let grant: Grant
    do { grant = try Grant(for: author.publicKey, bytes) } catch { throw .malformed(error) }
    try grant.verify(board: author.board, with: verifier)
    return grant
  }

  func receive(_ grant: Grant, _ now: Moment) {
    if isBetter(grant) { storeAndAdopt(grant, now) } else { actions.append(.role(author.role)) }
  }

  func isBetter(_ grant: Grant) -> Bool {
    guard let new = author.rights(in: grant), !revocations.takeBack(grant) else { return false }
    guard let old = author.grant.flatMap({ author.rights(in: $0) }) else { return true }
    return new != old && (new.mayGrant || !old.mayGrant)
  }

  private func storeAndAdopt(_ grant: Grant, _ now: Moment) {
    store(AnswerMerging.grant, grant.bytes)
    adopt(grant, now)
  }

  /// Switches to a different grant and a new incarnation, because an incarnation cannot change its role.
  private func adopt(_ grant: Grant, _ now: Moment) {
    publisher.sendHead(now)
    author.adopt(grant)
    strokes.discardAll()
    board.beginIncarnation()
    board.isReadOnly = !author.role.mayWrite
    for peer in peers.states { peer.didChangeOwnRole() }
    actions.append(.role(author.role))
  }

  // MARK: - Revocations

  func checkRevocation(_ bytes: [UInt8]) throws(ReplicaError) -> Revocation {
    guard isOwned else { throw .malformed(.reserved("kind")) }
    let revocation: Revocation
    do { revocation = try Revocation(bytes) } catch { throw .malformed(error) }
    // A known revocation was already verified.
    if !revocations.contains(revocation) { try revocation.verify(board: author.board, with: verifier) }
    return revocation
  }

  func receive(_ revocation: Revocation, from member: MemberID, _ now: Moment) { insert(revocation, from: member, now) }

  private func insert(_ revocation: Revocation, from member: MemberID?, _ now: Moment) {
    guard revocations.insert(revocation) else { return }
    // The revocation replaces an earlier admission of the member.
    if member != nil { admissions.removeValue(forKey: revocation.member) }
    store(AnswerMerging.revocation, revocation.bytes)
    actions.queue(.revocation(revocation.bytes), to: peers.members.filter { $0 != member })
    reports.expectDifferences(now)
    limitBoard()
    for member in peers.members { updateRole(of: member) }
    if let grant = author.grant, revocations.takeBack(grant) { adopt(Grant(owner: grant.owner), now) }
  }

  func sendRevocations(to member: MemberID, _ now: Moment) {
    guard !revocations.isEmpty else { return }
    // The board of the new member may contain revoked changes.
    reports.expectDifferences(now)
    for revocation in revocations.all { actions.queue(.revocation(revocation.bytes), to: member) }
  }

  /// The replica ignores answers by an author whose rights are revoked.
  func isRevoked(_ record: AuthorRecord) -> Bool { revocations.limit(of: record) != nil }

  /// Returns whether an author's answer is accepted, and counts a refusal.
  func admitsAnswer(by record: AuthorRecord) -> Bool {
    guard isRevoked(record) else { return true }
    // The author might not have received the revocation yet, so this is not a protocol violation.
    refusals.revoked += 1
    return false
  }

  func viewerWasRefused() { refusals.viewer += 1 }

  /// Returns whether a batch from a link is accepted, and counts a refusal.
  func admitsBatch(_ batch: Batch, from link: LinkChainVerifier) -> Bool {
    if board.state.isRetired(batch.author) {
      refusals.revoked += 1
      return false
    }
    guard !revocations.isEmpty, let record = link.record, let limit = revocations.limit(of: record) else { return true }
    if board.state.limits[record.incarnation] != limit { limitBoard() }
    if batch.firstSequence <= limit { return true }
    // The author might not have received the revocation yet, so this is not a protocol violation.
    refusals.revoked += 1
    return false
  }

  /// Removes revoked changes from the board: changes by all known incarnations, and changes by the authors in `more`.
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

  func updateRole(of member: MemberID) {
    guard let peer = peers[member], let record = peer.link.record else { return }
    peer.link.isRevoked = revocations.limit(of: record) != nil
    guard let role = peer.link.role, peer.role != role else { return }
    if !role.mayWrite { requests.remove(member) }
    if peer.role != nil { peer.didChangeRole() }
    peer.role = role
    guard isOwned else { return }
    actions.append(.memberRole(member, role))
  }

  private func store(_ kind: UInt8, _ bytes: [UInt8]) { actions.record(.answer([kind] + bytes)) }

  // MARK: - Restoring

  func restore(_ revocation: Revocation) { if revocations.insert(revocation) { limitBoard() } }

  /// Restores a grant from a document, if the grant is valid and for the local author. If the owner of the replica
  /// verifies signatures, ``verifyRestoredGrants(_:)`` must be called later.
  func restore(_ grant: Grant) {
    restoredGrant = grant
    if !verifier.isImmediate {
      unverifiedGrants.append(grant)
    } else if isValid(grant), isBetter(grant) {
      author.adopt(grant)
    }
  }

  var isAwaitingVerification: Bool { !unverifiedGrants.isEmpty }

  func didVerify(_ id: VerificationID, isValid: Bool, _ now: Moment) {
    if grantVerification.didVerify(id, isValid: isValid) { verifyRestoredGrants(now) }
  }

  func verifyRestoredGrants(_ now: Moment) {
    while let grant = unverifiedGrants.first, !grantVerification.isPending {
      let isValid = verifier.check(&grantVerification, for: author.member) { self.isValid(grant) }
      guard let isValid else { return }
      grantVerification = VerificationState()
      unverifiedGrants.removeFirst()
      if isValid, isBetter(grant) { adopt(grant, now) }
    }
  }

  private func isValid(_ grant: Grant) -> Bool { (try? grant.verify(board: author.board, with: verifier)) != nil }

  func applyRestoredRole() {
    guard isOwned else { return }
    if let grant = author.grant, revocations.takeBack(grant) { author.adopt(Grant(owner: grant.owner)) }
    guard board.isReadOnly == author.role.mayWrite else { return }
    board.beginIncarnation()
    board.isReadOnly = !author.role.mayWrite
    publisher.introduceIncarnation(board.incarnation)
  }
}

/// The numbers of changes that were refused, by reason.
public struct Refusals: Hashable, Sendable {
  /// The number of refused changes from viewers.
  public internal(set) var viewer = 0
  /// The number of refused batches and answers from members whose rights were revoked.
  public internal(set) var revoked = 0

  /// No refusals.
  public init() {}
}

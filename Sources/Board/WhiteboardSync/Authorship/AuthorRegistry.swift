import Whiteboard

/// The incarnations in a context that have no record (BRD-37).
public struct UnrecordedAuthors: Hashable, Sendable {
  /// The number of incarnations that were removed from the context because the board contained none of their changes.
  public var forgotten = 0
  /// The number of incarnations that stay in the context because the board contains some of their changes.
  ///
  /// Other replicas refuse changes by these incarnations.
  public var kept = 0
}

/// The author records of the incarnations in the local context, and of the local incarnations. A context may name only
/// incarnations with a record, and only a limited number of them (BRD-37, SYN-48).
final class AuthorRegistry {
  private let board: Board
  private let author: Author
  private let peers: MemberLinks
  private let actions: ActionQueue
  private var records: [Incarnation: AuthorRecord] = [:]
  private var incarnationsByAuthor: [MemberID: Set<Incarnation>] = [:]
  private var additions: [MemberID: Int] = [:]

  init(_ board: Board, _ author: Author, _ peers: MemberLinks, _ actions: ActionQueue) {
    self.board = board
    self.author = author
    self.peers = peers
    self.actions = actions
  }

  subscript(incarnation: Incarnation) -> AuthorRecord? { records[incarnation] }

  var count: Int { records.count }

  var all: some Collection<AuthorRecord> { records.values }

  var incarnations: Set<Incarnation> { Set(records.keys) }

  // MARK: - Adding and removing

  func insertOwn(_ record: AuthorRecord) { set(record) }

  func replaceOwn(_ record: AuthorRecord) { if records[record.incarnation] != nil { set(record) } }

  func removeUnusedOwn(_ incarnation: Incarnation) {
    if !board.state.context.contains(incarnation) { remove(incarnation) }
  }

  private func set(_ record: AuthorRecord) {
    remove(record.incarnation)
    records[record.incarnation] = record
    incarnationsByAuthor[record.member, default: []].insert(record.incarnation)
  }

  private func remove(_ incarnation: Incarnation) {
    guard let record = records.removeValue(forKey: incarnation) else { return }
    incarnationsByAuthor[record.member]?.remove(incarnation)
    if incarnationsByAuthor[record.member]?.isEmpty == true { incarnationsByAuthor[record.member] = nil }
  }

  /// Returns the incarnations of an author that have a record, even if they are not in the context.
  func incarnations(of author: MemberID) -> Set<Incarnation> { incarnationsByAuthor[author] ?? [] }

  func insert(_ record: AuthorRecord) {
    guard records[record.incarnation] == nil else { return }
    set(record)
    board.authors[record.incarnation] = record.member
    additions[record.member, default: 0] += 1
  }

  func insertAndStore(_ record: AuthorRecord) {
    insert(record)
    store(record)
  }

  func store(_ record: AuthorRecord) {
    actions.record(.author(record.bytes, record.incarnation), lacking: author.gaps(in: record))
  }

  /// Removes restored records if the batches of their incarnations were lost.
  func removeUnused(except own: Incarnation) {
    additions = [:]
    for incarnation in Array(records.keys)
    where incarnation != own && !board.state.context.contains(incarnation) && board.state.limits[incarnation] == nil {
      remove(incarnation)
      board.authors[incarnation] = nil
    }
  }

  func remove(_ retired: [Incarnation]) {
    for incarnation in retired {
      remove(incarnation)
      board.authors[incarnation] = nil
    }
  }

  // MARK: - Sending

  /// Returns records sorted by incarnation in ascending order.
  func recordsForKeyframe() -> ArraySlice<AuthorRecord> {
    let context = board.state.context
    let limits = board.state.limits
    return sorted { context.contains($0.incarnation) || limits[$0.incarnation] != nil }
  }

  /// Returns the records of the incarnations that have changes outside the given context, in ascending order.
  func records(lackingIn context: Context, isRepair: Bool) -> ArraySlice<AuthorRecord> {
    let seen = board.state.context
    return sorted { record in
      if let limit = board.state.limits[record.incarnation] {
        // Include the authors of revoked changes, because the other replica might not know them yet.
        if context.last(of: record.incarnation) ?? 0 > limit { return true }
        guard seen.contains(record.incarnation) else { return false }
      }
      let theirs = context[record.incarnation]
      return isRepair || theirs.ranges.isEmpty || !theirs.isSuperset(of: seen[record.incarnation])
    }
  }

  private func sorted(where isIncluded: (AuthorRecord) -> Bool) -> ArraySlice<AuthorRecord> {
    records.values.filter(isIncluded).sorted { $0.incarnation < $1.incarnation }.prefix(Answer.recordLimit)
  }

  // MARK: - Receiving

  /// Returns the records that a batch would add to the registry. Throws if the batch purges an object of an incarnation
  /// without a record, and `boardFull` if there is no room for one of the records.
  func newRecords(for batch: Batch, from link: LinkChainVerifier) throws(ReceiveError) -> [AuthorRecord] {
    var new: [AuthorRecord] = []
    if records[batch.author] == nil, let record = link.record { new.append(record) }
    for operation in batch.operations where operation.property.isPurge {
      let incarnation = operation.object.dot.incarnation
      guard incarnation != batch.author, records[incarnation] == nil, !board.state.context.contains(incarnation),
        !board.state.isRetired(incarnation),
        !new.contains(where: { $0.incarnation == incarnation })
      else { continue }
      guard let record = link.recordAhead(of: incarnation) else { throw .violation(.noAuthor) }
      new.append(record)
    }
    try receiving { () throws(BoardError) in try requireRoom(for: new, isBatch: true) }
    return new
  }

  /// Checks the incarnations that an answer would add to the context. Throws an error if an incarnation has no record,
  /// and `boardFull` if there is no room for a record. The caller checks signatures later.
  func requireRecords(in answer: Answer) throws(ReceiveError) {
    let context = board.state.context
    let new = answer.difference.context.incarnations.filter {
      !context.contains($0) && records[$0] == nil && !board.state.isRetired($0)
    }
    guard !new.isEmpty else { return }
    var brought: [Incarnation: AuthorRecord] = [:]
    for record in answer.records where brought[record.incarnation] == nil { brought[record.incarnation] = record }
    let found = new.compactMap { brought[$0] }
    guard found.count == new.count else { throw .unrecorded }
    try receiving { () throws(BoardError) in try requireRoom(for: found) }
  }

  /// Throws if one author would have too many incarnations, or if authors would use the room that is reserved for
  /// others. Up to a limit, the share of a connected author is checked only in batches. An answer may contain
  /// incarnations that other replicas accepted when they had more room.
  private func requireRoom(for new: [AuthorRecord], isBatch: Bool = false) throws(BoardError) {
    guard !new.isEmpty else { return }
    let context = board.state.context
    var added: [MemberID: Int] = [:]
    for record in new { added[record.member, default: 0] += 1 }
    // Check the number of all known incarnations first. Counting the incarnations in the context takes a long time, and
    // is seldom needed.
    func allows(_ member: MemberID, _ isAllowed: (Int) -> Bool) -> Bool {
      let known = incarnations(of: member)
      let more = added[member, default: 0]
      return isAllowed(known.count + more) || isAllowed(known.count(where: context.contains) + more)
    }
    guard added.keys.allSatisfy({ allows($0) { $0 <= BoardLimits.incarnationsPerAuthor } }) else { throw .boardFull }
    let total = context.incarnationCount + new.count
    let limit = context.isEmpty ? BoardLimits.incarnationsOfStrangersAtFirst : BoardLimits.incarnationsOfStrangers
    guard isBatch || total > limit else { return }
    for (member, more) in added where member != board.member {
      guard peers[member] != nil else {
        guard total <= limit else { throw .boardFull }
        continue
      }
      guard total <= BoardLimits.incarnationsOfMembers else { throw .boardFull }
      if additions[member, default: 0] + more <= BoardLimits.incarnationsPerRun { continue }
      let free = BoardLimits.incarnationsOfMembers - total
      guard allows(member, { $0 <= (free + $0) / BoardLimits.incarnationShare }) else { throw .boardFull }
    }
  }
}

/// Detects changes that an answer or a batch refers to, but that their connected author has not sent yet (BRD-39).
/// While the author of an incarnation is connected, all its changes arrive in order on the link to the author. A claim
/// about a later change is therefore either early or false.
final class ClaimCheck {
  /// The minimum time between two new incarnations that begin because of false claims, in milliseconds.
  static let renewalInterval: UInt64 = 30_000
  /// The time for which a connected author can contradict a claim, in milliseconds.
  static let doubtTimeout: UInt64 = 30_000

  private struct Doubt {
    let since: UInt64
    let sequence: UInt64
  }

  private let board: Board
  private let peers: MemberLinks
  private let publisher: BatchPublisher
  private var nextRenewal: UInt64 = 0
  /// The claims about connected authors that are ignored for now.
  private var doubts: [Incarnation: Doubt] = [:]

  init(_ board: Board, _ peers: MemberLinks, _ publisher: BatchPublisher) {
    self.board = board
    self.peers = peers
    self.publisher = publisher
  }

  /// Returns the last sequence number of each current incarnation: the local incarnation, and the incarnations of the
  /// connected members.
  func lastWritten(_ now: Moment) -> [Incarnation: UInt64] {
    var last = [publisher.chain.incarnation: publisher.chain.sequence]
    for peer in peers.states where !peer.isClosed && now.uptime < peer.silenceDeadline {
      guard let head = peer.link.head else { continue }
      // A waiting batch has not been applied.
      last[head.incarnation] = peer.inbox.earlyBatch.map { $0.batch.firstSequence - 1 } ?? head.sequence
    }
    return last
  }

  /// Returns the part of an answer's difference that the connected authors do not contradict. If a claim was only
  /// early, the change arrives on the author's own link. A member's claims about itself are accepted, because the
  /// member signed the answer.
  func removingContradictedClaims(from difference: Difference, by member: MemberID, _ now: Moment) -> Difference {
    let (own, local) = (peers[member]?.link.head?.incarnation, publisher.chain.incarnation)
    let written = lastWritten(now)
    doubts = doubts.filter { incarnation, doubt in written[incarnation].map { $0 < doubt.sequence } ?? false }
    let contradicted = written.filter { incarnation, last in
      guard incarnation != own, let claimed = difference.context.last(of: incarnation), claimed > last else {
        return false
      }
      if incarnation == local { return true }
      // The claim may be true, because an author can send changes to other members and not to this replica. Therefore,
      // the claim is ignored only for a limited time.
      let doubt = doubts[incarnation] ?? Doubt(since: now.uptime, sequence: claimed)
      doubts[incarnation] = doubt
      return now.uptime < doubt.since + Self.doubtTimeout
    }
    guard !contradicted.isEmpty else { return difference }
    if contradicted.keys.contains(local), now.uptime >= nextRenewal {
      // Other members may have accepted the claim while this replica was not connected to them. With a new incarnation,
      // accepting the claim does no harm.
      nextRenewal = now.uptime + Self.renewalInterval
      board.beginIncarnation()
    }
    return difference.limited(to: contradicted)
  }

  /// Returns whether a batch purges objects that their connected authors have not created yet.
  func isEarly(_ batch: Batch, _ now: Moment) -> Bool {
    guard batch.operations.contains(where: { $0.property.isPurge }) else { return false }
    let last = lastWritten(now)
    return batch.operations.contains { operation in
      let dot = operation.object.dot
      guard operation.property.isPurge, dot.incarnation != batch.author, let last = last[dot.incarnation] else {
        return false
      }
      return dot.sequence > last
    }
  }
}

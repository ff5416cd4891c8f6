import Whiteboard

/// The incarnations in a context that have no record (BRD-37).
public struct UnrecordedAuthors: Error, Hashable, Sendable {
  /// The number of incarnations that were removed because nothing of them was on the board.
  public var forgotten = 0
  /// The number of incarnations that stay because something of them is on the board.
  ///
  /// Other replicas refuse them.
  public var kept = 0
}

/// Which incarnations a context may name: those with a record, and no more than there is room for
/// (BRD-37, SYN-48).
extension Replica {
  // MARK: - Records ahead of purges

  /// Sends everyone the records of the incarnations whose objects a batch purges.
  ///
  /// A purge brings the id of an object into contexts, also where nothing of its author was seen.
  func sendRecords(ofPurgesIn batch: Batch) {
    guard !peers.isEmpty else { return }
    for operation in batch.operations where operation.property.isPurge {
      let incarnation = operation.object.dot.incarnation
      guard incarnation != batch.author, !sentAhead.contains(incarnation),
        let record = records[incarnation]
      else { continue }
      sentAhead.insert(incarnation)
      send(.record(record.bytes), to: members)
    }
  }

  func receiveRecord(_ bytes: [UInt8], from member: MemberID) throws(ReplicaError) {
    let record = try AuthorRecord.read(bytes)
    guard records[record.incarnation] == nil, let link = peers[member]?.link else { return }
    try record.verify(board: author.board, with: verifier)
    try link.keepAhead(record)
  }

  // MARK: - What comes

  /// Returns the records that a batch makes part of what the replica knows.
  ///
  /// - Throws: `noAuthor` if it purges an object of an incarnation that no record names, and
  ///   `BoardError.boardFull` if there is no room for one of them.
  func newRecords(for batch: Batch, from link: LinkChainVerifier) throws -> [AuthorRecord] {
    var new: [AuthorRecord] = []
    if !records.keys.contains(batch.author), let record = link.record { new.append(record) }
    for operation in batch.operations where operation.property.isPurge {
      let incarnation = operation.object.dot.incarnation
      guard incarnation != batch.author, records[incarnation] == nil,
        !board.state.context.contains(incarnation),
        !new.contains(where: { $0.incarnation == incarnation })
      else { continue }
      guard let record = link.recordAhead(of: incarnation) else { throw ReplicaError.noAuthor }
      new.append(record)
    }
    try requireRoom(for: new)
    return new
  }

  /// Checks the incarnations that an answer would bring into the context; signatures are checked afterwards.
  ///
  /// - Throws: ``UnrecordedAuthors`` if one has no record, `BoardError.boardFull` if there is no room for
  ///   one of them.
  func admitIncarnations(of answer: Answer) throws {
    let context = board.state.context
    let new = answer.difference.context.incarnations.filter {
      !context.contains($0) && records[$0] == nil
    }
    guard !new.isEmpty else { return }
    let brought = Dictionary(
      answer.records.map { ($0.incarnation, $0) },
      uniquingKeysWith: { first, _ in first }
    )
    let found = new.compactMap { brought[$0] }
    guard found.count == new.count else { throw UnrecordedAuthors() }
    try requireRoom(for: found)
  }

  /// - Throws: `boardFull` if one author would have too many incarnations, or if members without a link
  ///   would take the room that is kept for those with one.
  private func requireRoom(for new: [AuthorRecord]) throws(BoardError) {
    guard !new.isEmpty else { return }
    var counts: [MemberID: Int] = [:]
    for record in new { counts[record.member, default: 0] += 1 }
    for (incarnation, record) in records where counts[record.member] != nil {
      if board.state.context.contains(incarnation) { counts[record.member, default: 0] += 1 }
    }
    guard counts.values.allSatisfy({ $0 <= BoardLimits.incarnationsPerAuthor }) else {
      throw .boardFull
    }
    let context = board.state.context
    let limit =
      context.isEmpty
      ? BoardLimits.incarnationsOfStrangersAtFirst : BoardLimits.incarnationsOfStrangers
    guard context.incarnationCount + new.count > limit else { return }
    let strangers = new.contains { $0.member != board.member && peers[$0.member] == nil }
    if strangers { throw .boardFull }
  }
}

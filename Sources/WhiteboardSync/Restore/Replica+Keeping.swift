import Whiteboard

/// Storing a board in a document, and restoring a replica from it.
extension Replica {
  /// Takes in what was kept, in the order in which it was told; before anybody joins.
  ///
  /// Nothing is checked again but that it is of this board, and nothing is told: look at the board
  /// afterwards. The incarnation stays the new one, so that no dot is used twice, however much of the
  /// end of what was kept was lost (BRD-1).
  ///
  /// - Parameters:
  ///   - changes: What was kept.
  ///   - now: The time.
  ///   - isWhole: Whether nothing more follows; until then a record counts whose batches may follow.
  /// - Throws: ``RestoreError``; what came before it is on the board.
  public func restore(
    _ changes: some Sequence<StoredChange>,
    now: Moment,
    isWhole: Bool = true
  ) throws(RestoreError) {
    precondition(peers.isEmpty, "a board is restored before anybody joins")
    begin(now)
    defer { if isWhole { forgetChanges(now) } }
    for change in changes { try restore(change) }
  }

  /// All that the replica holds, as a keyframe for `restore(_:now:)`.
  public func snapshotForKeeping() -> [UInt8] {
    let context = board.state.context
    let limits = board.state.limits
    return KeptState.encode(
      records.values
        .filter { context.contains($0.incarnation) || limits[$0.incarnation] != nil }
        .sorted { $0.incarnation < $1.incarnation }
        .prefix(Answer.recordLimit),
      board.state.difference(since: Context()),
      author.grant ?? keptGrant,
      revocations.all
    )
  }

  /// All that the board holds, as a keyframe for the replica of another board, with the photos in it.
  ///
  /// Records are of one board (AUT-1), so that an author of the other board takes everything over: it makes
  /// one incarnation there for each that something on this board names, in the same order. The context there
  /// holds nothing else, whatever was claimed here (BRD-37). Games begin anew, since a move counts for its
  /// member.
  /// - Parameter author: An author of the other board.
  /// - Returns: The keyframe, its digest and the photos.
  /// - Throws: `boardFull` if more incarnations wrote here than one author may have.
  public func snapshotForAnotherBoard(
    by author: Author
  ) throws(BoardError) -> (keyframe: [UInt8], digest: Bytes32, assets: Set<AssetID>) {
    var found = board.state.difference(since: Context())
    for index in found.entries.indices {
      found.entries[index].cells.removeAll(where: \.property.isMove)
    }
    let created = found.living
    found.entries.removeAll { $0.cells.isEmpty || !created.contains($0.object.dot) }
    found.living = DotSet(ascending: found.entries.map(\.object.dot))
    found.context = Self.context(of: found.entries)
    let named = found.context.incarnations
    guard named.count < BoardLimits.incarnationsPerAuthor else { throw .boardFull }
    let made = named.map { _ in author.makeIncarnation() }.sorted()
    let renamed = Dictionary(uniqueKeysWithValues: zip(named, made))
    let renaming = IncarnationRenaming { renamed[$0] ?? $0 }
    let difference = renaming.difference(found) { property, value, time in
      // A line of chat in the name of another than its writer would not be shown; its name stays.
      (property == .chatAuthor ? .bytes(author.member.bytes) : value, time)
    }
    var state = BoardState()
    var changes = ChangeLog()
    try state.merge(difference, changes: &changes)
    let assets = Set(state.records.compactMap { _, record in record.asset?.id })
    let records = made.map { author.record(of: $0) }
    return (KeptState.encode(records, difference), BoardDigest.digest(of: state), assets)
  }

  /// The context of a replica that has seen what these entries name, and all before it, and nothing else.
  private static func context(of entries: [Difference.Entry]) -> Context {
    var last: [Incarnation: UInt64] = [:]
    func note(_ dot: Dot) { last[dot.incarnation] = max(last[dot.incarnation] ?? 0, dot.sequence) }
    for entry in entries {
      note(entry.object.dot)
      for known in entry.cells { note(known.cell.dot) }
    }
    var context = Context()
    for (incarnation, sequence) in last { context.insert(1...sequence, of: incarnation) }
    return context
  }

  private func restore(_ change: StoredChange) throws(RestoreError) {
    do {
      switch change {
      case .author(let bytes, _): try restore(AuthorRecord(bytes))
      case .batch(let encoded): try board.receive(encoded.batch)
      case .answer(let bytes): try restoreAnswer(bytes)
      case .keyframe(let bytes):
        let state = try KeptState(bytes)
        for record in state.records { try restore(record) }
        for revocation in state.revocations { try restore(revocation) }
        try board.receive(state.difference)
        if let grant = state.grant { restore(grant) }
      case .head: break
      }
    } catch let error as CodecError {
      throw .damaged(error)
    } catch let error as RestoreError {
      throw error
    } catch {
      throw .boardFull
    }
  }

  private func restoreAnswer(_ bytes: [UInt8]) throws {
    let content = Array(bytes.dropFirst())
    switch bytes.first {
    case AnswerMerging.grant: restore(try Grant(for: author.publicKey, content))
    case AnswerMerging.revocation: try restore(try Revocation(content))
    default:
      var reader = ByteReader(bytes)
      let merging = try AnswerMerging(&reader)
      let answer = try Answer(reader.rest())
      for record in answer.records { try restore(record) }
      try board.receive(
        answer.difference,
        comparesAll: merging.comparesAll,
        replacing: merging.replacing
      )
    }
  }

  private func restore(_ record: AuthorRecord) throws(RestoreError) {
    guard record.board == author.board else { throw .wrongBoard }
    guard records[record.incarnation] == nil, records.count <= Answer.recordLimit else { return }
    records[record.incarnation] = record
    board.authors[record.incarnation] = record.member
    limitBoard(for: [record])
  }

  private func restore(_ revocation: Revocation) throws(RestoreError) {
    guard revocation.board == author.board else { throw .wrongBoard }
    if revocations.insert(revocation) { limitBoard() }
  }

  /// Discards the changes of a restore, except for the photos that they contain.
  private func forgetChanges(_ now: Moment) {
    resumeRole()
    let (forgotten, kept) = board.forgetEmptyIncarnations { records[$0] != nil }
    unrecorded = UnrecordedAuthors(forgotten: forgotten, kept: kept)
    _ = board.takeChanges()
    // Records come before what they are of, which may be lost.
    for incarnation in records.keys
    where incarnation != chain.incarnation && !board.state.context.contains(incarnation)
      && board.state.limits[incarnation] == nil
    {
      records[incarnation] = nil
      board.authors[incarnation] = nil
    }
    contextHash = nil
    activity.changed(board.state.revision, now.uptime)
    for id in board.objectIDs {
      let record = board.state.record(id)
      // To read an object costs more than to restore it.
      if record?.kind == .photo, let photo = board.snapshot(id) { follow(photo, from: nil, now) }
      if record?.selection != nil, board.holder(of: id) == board.member {
        ownSelections.insert(id)
        shownSelections[id] = board.member
      }
    }
  }
}

import Whiteboard

/// Storing a board in a document, and restoring a replica from it.
extension Replica {
  /// Restores stored changes in the order in which they were recorded, before any member joins.
  ///
  /// Only the board id of the changes is checked. The changes are not reported, so read the board afterwards.
  /// The replica keeps its new incarnation, so that no dot is used twice even if the end of the document was
  /// lost (BRD-1).
  ///
  /// - Parameters:
  ///   - changes: The stored changes.
  ///   - now: The time.
  ///   - isWhole: Whether these are the last changes. If not, records without batches are kept, because their
  ///     batches may follow.
  /// - Throws: ``RestoreError``. Changes before the invalid change stay on the board.
  public func restore(
    _ changes: some Sequence<StoredChange>,
    now: Moment,
    isWhole: Bool = true
  ) throws(RestoreError) {
    precondition(core.peers.isEmpty, "a board must be restored before any member joins")
    core.begin(now)
    defer { if isWhole { finishRestore(now) } }
    for change in changes { try restore(change) }
  }

  /// Returns the whole content of the replica as a keyframe for ``restore(_:now:isWhole:)``.
  ///
  /// Call it only while ``isAwaitingSignature`` is false, because a keyframe contains signed records.
  public func snapshotForKeeping() -> [UInt8] {
    precondition(!isAwaitingSignature, "a keyframe cannot be encoded while a signature is missing")
    return KeptState.encode(
      core.registry.recordsForKeyframe(),
      core.board.state.difference(since: Context()),
      core.permissions.grantForKeyframe,
      core.permissions.revocations.all
    )
  }

  /// Returns the content of the board as a keyframe for another board, and the photos in it.
  ///
  /// - Parameter author: An author of the other board, which becomes the author of the content.
  /// - Returns: The keyframe, its digest and the photos.
  /// - Throws: `boardFull` if more incarnations wrote on the board than one author may have.
  public func snapshotForAnotherBoard(
    by author: Author
  ) throws(BoardError) -> (keyframe: [UInt8], digest: Bytes32, assets: Set<AssetID>) {
    let copy = try BoardCopy(of: core.board.state, by: author)
    return (copy.keyframe, copy.digest, copy.assets)
  }

  private func restore(_ change: StoredChange) throws(RestoreError) {
    do {
      switch change {
      case .author(let bytes, _): try restore(AuthorRecord(bytes))
      case .batch(let encoded): try core.board.receive(encoded.batch)
      case .answer(let bytes): try restoreAnswer(bytes)
      case .keyframe(let bytes):
        let state = try KeptState(bytes)
        for record in state.records { try restore(record) }
        for revocation in state.revocations { try restore(revocation) }
        try core.board.receive(state.difference)
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
    case AnswerMerging.grant: restore(try Grant(for: core.author.publicKey, content))
    case AnswerMerging.revocation: try restore(try Revocation(content))
    default:
      var reader = ByteReader(bytes)
      let merging = try AnswerMerging(&reader)
      let answer = try Answer(reader.rest())
      for record in answer.records { try restore(record) }
      try core.board.receive(
        answer.difference,
        comparesAll: merging.comparesAll,
        replacing: merging.replacing
      )
    }
  }

  private func restore(_ record: AuthorRecord) throws(RestoreError) {
    guard record.board == core.author.board else { throw .wrongBoard }
    guard core.registry[record.incarnation] == nil, core.registry.count <= Answer.recordLimit else {
      return
    }
    core.registry.insert(record)
    core.permissions.limitBoard(for: [record])
  }

  private func restore(_ revocation: Revocation) throws(RestoreError) {
    guard revocation.board == core.author.board else { throw .wrongBoard }
    core.permissions.restore(revocation)
  }

  private func restore(_ grant: Grant) {
    if core.ownerVerifier == nil {
      core.permissions.restore(grant)
    } else {
      core.permissions.noteRestored(grant)
      messages.restoredGrants.append(grant)
    }
  }

  private func finishRestore(_ now: Moment) {
    core.permissions.applyRestoredRole()
    let (forgotten, kept) = core.board.forgetEmptyIncarnations { core.registry[$0] != nil }
    unrecorded = UnrecordedAuthors(forgotten: forgotten, kept: kept)
    core.registry.removeUnused(except: core.publisher.chain.incarnation)
    core.reports.boardRestored(now)
    core.changes.discardChanges(now)
    messages.verifyRestoredGrants(now)
  }
}

import Whiteboard

/// Applies the stored changes of a document to a replica's board, authors and rights.
struct BoardRestorer {
  let replica: Replica

  /// Restores stored changes in the order in which they were recorded; throws ``RestoreError``.
  ///
  /// Changes before the invalid change stay on the board.
  func restore(_ changes: some Sequence<StoredChange>, _ now: Moment, isWhole: Bool) throws(RestoreError) {
    defer { if isWhole { finish(now) } }
    for change in changes { try restore(change) }
  }

  private func finish(_ now: Moment) {
    let (board, registry, permissions) = (replica.board, replica.registry, replica.permissions)
    permissions.applyRestoredRole()
    let (forgotten, kept) = board.forgetEmptyIncarnations { registry[$0] != nil }
    replica.unrecorded = UnrecordedAuthors(forgotten: forgotten, kept: kept)
    registry.removeUnused(except: replica.publisher.chain.incarnation)
    replica.reports.boardRestored(now)
    replica.changes.discardChanges(now)
    permissions.verifyRestoredGrants(now)
  }

  private func restore(_ change: StoredChange) throws(RestoreError) {
    switch change {
    case .author(let bytes, _): try restore(RestoreError.decoding { () throws(CodecError) in try AuthorRecord(bytes) })
    case .batch(let encoded):
      try RestoreError.merging { () throws(BoardError) in try replica.board.receive(encoded.batch) }
    case .answer(let bytes): try restoreAnswer(bytes)
    case .keyframe(let bytes):
      let state = try RestoreError.decoding { () throws(CodecError) in try KeptState(bytes) }
      for retirement in state.retirements { try restore(retirement) }
      for record in state.records { try restore(record) }
      for revocation in state.revocations { try restore(revocation) }
      try RestoreError.merging { () throws(BoardError) in try replica.board.receive(state.difference) }
      if let grant = state.grant { replica.permissions.restore(grant) }
    case .head: break
    }
  }

  private func restoreAnswer(_ bytes: [UInt8]) throws(RestoreError) {
    let content = Array(bytes.dropFirst())
    switch bytes.first {
    case AnswerMerging.grant:
      let grant = try RestoreError.decoding { () throws(CodecError) in try Grant(for: replica.author.publicKey, content)
      }
      replica.permissions.restore(grant)
    case AnswerMerging.revocation:
      try restore(RestoreError.decoding { () throws(CodecError) in try Revocation(content) })
    case AnswerMerging.retirement:
      try restore(RestoreError.decoding { () throws(CodecError) in try Retirement(content) })
    default:
      let (merging, answer) = try RestoreError.decoding { () throws(CodecError) in try AnswerMerging.decode(bytes) }
      for record in answer.records { try restore(record) }
      try RestoreError.merging { () throws(BoardError) in
        try replica.board.receive(answer.difference, comparesAll: merging.comparesAll, replacing: merging.replacing)
      }
    }
  }

  private func restore(_ record: AuthorRecord) throws(RestoreError) {
    guard record.board == replica.author.board else { throw .wrongBoard }
    guard replica.registry[record.incarnation] == nil, replica.registry.count <= Answer.recordLimit,
      !replica.board.state.isRetired(record.incarnation)
    else { return }
    replica.registry.insert(record)
    replica.permissions.limitBoard(for: [record])
  }

  private func restore(_ revocation: Revocation) throws(RestoreError) {
    guard revocation.board == replica.author.board else { throw .wrongBoard }
    replica.permissions.restore(revocation)
  }

  private func restore(_ retirement: Retirement) throws(RestoreError) {
    guard retirement.board == replica.author.board else { throw .wrongBoard }
    replica.retirements.restore(retirement)
  }
}

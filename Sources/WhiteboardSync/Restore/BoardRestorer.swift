import Whiteboard

/// Applies stored changes to the board of a replica, its authors and its rights.
struct BoardRestorer {
  let board: Board
  let author: Author
  let registry: AuthorRegistry
  let permissions: Permissions

  /// Restores a stored change.
  /// - Throws: ``RestoreError``.
  func restore(_ change: StoredChange) throws(RestoreError) {
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
        if let grant = state.grant { permissions.restore(grant) }
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
    case AnswerMerging.grant: permissions.restore(try Grant(for: author.publicKey, content))
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
    guard registry[record.incarnation] == nil, registry.count <= Answer.recordLimit else {
      return
    }
    registry.insert(record)
    permissions.limitBoard(for: [record])
  }

  private func restore(_ revocation: Revocation) throws(RestoreError) {
    guard revocation.board == author.board else { throw .wrongBoard }
    permissions.restore(revocation)
  }
}

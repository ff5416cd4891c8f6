import Whiteboard

/// A board made of what a document keeps, by nobody's hand: for looking at it as it was at any time.
///
/// A value: a copy costs little and stays as it is while the other goes on.
public struct RestoredBoard: Sendable {
  /// Whose board.
  public let id: BoardID
  /// The state of the board.
  public private(set) var state = BoardState()
  /// Whose each incarnation is, as far as records told.
  public private(set) var members: [Incarnation: MemberID] = [:]
  /// Which objects changed since ``takeChanges()``.
  private var changes = ChangeLog()
  /// The records that came.
  public private(set) var records: [Incarnation: AuthorRecord] = [:]
  private var revocations = Revocations()

  /// An empty board.
  public init(_ id: BoardID) { self.id = id }

  /// The digest of what is on it (SYN-40).
  public var digest: Bytes32 { BoardDigest.digest(of: state) }

  /// Returns the changed objects since the last call.
  public mutating func takeChanges() -> [ObjectChange] {
    defer { changes = ChangeLog() }
    return changes.changes(in: state)
  }

  /// Applies one thing; nothing is checked but that it is of its form, and of this board.
  /// - Throws: ``RestoreError``; then nothing of it was applied.
  public mutating func apply(_ change: StoredChange) throws(RestoreError) {
    do {
      switch change {
      case .author(let bytes, _): try take(AuthorRecord(bytes))
      case .batch(let encoded): try state.apply(encoded.batch, changes: &changes)
      case .answer(let bytes): try apply(answer: bytes)
      case .keyframe(let bytes):
        let kept = try KeptState(bytes)
        for record in kept.records { try take(record) }
        for revocation in kept.revocations { try take(revocation) }
        try merge(kept.difference)
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

  /// Joins all that is on another copy of this board, as a member does that catches up.
  /// - Throws: ``RestoreError``.
  public mutating func join(_ other: RestoredBoard) throws(RestoreError) {
    do {
      for record in other.records.values { try take(record) }
      for revocation in other.revocations.all { try take(revocation) }
      try merge(other.state.difference(since: state.context))
    } catch let error as RestoreError {
      throw error
    } catch {
      throw .boardFull
    }
  }

  /// All that is on it, as a keyframe.
  public var keyframe: [UInt8] {
    KeptState.encode(
      records.values.sorted { $0.incarnation < $1.incarnation }.prefix(Answer.recordLimit),
      state.difference(since: Context()),
      nil,
      revocations.all
    )
  }

  /// All that is on it, by other incarnations and with other values and times, as a keyframe that does not say who
  /// wrote it.
  /// - Parameters:
  ///   - renaming: What the incarnations are called.
  ///   - changed: What stands where a property has a value of a time; no two of one property may change their
  ///     order.
  /// - Returns: The keyframe.
  package func keyframe(
    _ renaming: IncarnationRenaming,
    mapping changed: (Property, Value, HybridTime) -> (Value, HybridTime)
  ) -> [UInt8] {
    KeptState.encode([], renaming.difference(state.difference(since: Context()), changed))
  }

  private mutating func apply(answer bytes: [UInt8]) throws {
    let content = Array(bytes.dropFirst())
    switch bytes.first {
    case AnswerMerging.grant: break
    case AnswerMerging.revocation: try take(Revocation(content))
    default:
      var reader = ByteReader(bytes)
      let merging = try AnswerMerging(&reader)
      let answer = try Answer(reader.rest())
      for record in answer.records { try take(record) }
      try merge(
        answer.difference,
        comparingAll: merging.comparesAll,
        replacing: merging.replacing
      )
    }
  }

  private mutating func merge(
    _ difference: Difference,
    comparingAll: Bool = false,
    replacing: UInt16 = 0
  ) throws(BoardError) {
    try state.merge(
      difference,
      comparingAll: comparingAll,
      replacing: replacing,
      changes: &changes
    )
  }

  private mutating func take(_ record: AuthorRecord) throws(RestoreError) {
    guard record.board == id else { throw .wrongBoard }
    guard records[record.incarnation] == nil else { return }
    records[record.incarnation] = record
    members[record.incarnation] = record.member
    limit(CollectionOfOne(record))
  }

  private mutating func take(_ revocation: Revocation) throws(RestoreError) {
    guard revocation.board == id else { throw .wrongBoard }
    if revocations.insert(revocation) { limit(records.values) }
  }

  /// Excludes revoked changes (AUT-14).
  private mutating func limit(_ concerned: some Collection<AuthorRecord>) {
    guard !revocations.isEmpty else { return }
    var limits = state.limits
    for record in concerned { limits[record.incarnation] = revocations.limit(of: record) }
    state.limit(limits, changes: &changes)
  }
}

extension StoredChange {
  /// Whether it counts the same whatever came before it and comes after: all does but an answer, which
  /// leaves out what its receiver had.
  public var isIndifferentToOrder: Bool {
    guard case .answer(let bytes) = self else { return true }
    return bytes.first == AnswerMerging.grant || bytes.first == AnswerMerging.revocation
  }
}

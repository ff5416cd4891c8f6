import PeerCore
import Whiteboard

/// A board restored from a document, used to view the board as it was at a given time.
///
/// The type is a value type. Copies are cheap and independent of the original.
public struct RestoredBoard: Sendable {
  /// The id of the board.
  public let id: BoardID
  /// The state of the board.
  public private(set) var state = BoardState()
  /// The author of each incarnation with a record.
  public private(set) var members: [Incarnation: MemberID] = [:]
  private var changes = ChangeLog()
  /// The records of authors, by incarnation.
  public private(set) var records: [Incarnation: AuthorRecord] = [:]
  private var revocations = Revocations()
  private var retirements: [Retirement] = []
  /// Whether the host retired incarnations (AUT-17).
  public var hasRetirements: Bool { !retirements.isEmpty }

  /// Creates an empty board.
  public init(_ id: BoardID) { self.id = id }

  /// The digest of the board (SYN-40).
  public var digest: Bytes32 { BoardDigest.digest(of: state) }

  /// Returns the changes of objects since the last call.
  public mutating func takeChanges() -> [ObjectChange] {
    defer { changes = ChangeLog() }
    return changes.changes(in: state)
  }

  /// Applies a stored change.
  ///
  /// Only the format and the board id of the change are checked.
  /// - Throws: ``RestoreError``. In that case, the change was not applied.
  public mutating func apply(_ change: StoredChange) throws(RestoreError) {
    switch change {
    case .author(let bytes, _): try take(RestoreError.decoding { () throws(CodecError) in try AuthorRecord(bytes) })
    case .batch(let encoded):
      try RestoreError.merging { () throws(BoardError) in try state.apply(encoded.batch, changes: &changes) }
    case .answer(let bytes): try apply(answer: bytes)
    case .keyframe(let bytes):
      let kept = try RestoreError.decoding { () throws(CodecError) in try KeptState(bytes) }
      for retirement in kept.retirements { try take(retirement) }
      for record in kept.records { try take(record) }
      for revocation in kept.revocations { try take(revocation) }
      try merge(kept.difference)
    case .head: break
    }
  }

  /// Merges another copy of the same board into this board.
  /// - Throws: ``RestoreError``.
  public mutating func join(_ other: RestoredBoard) throws(RestoreError) {
    for retirement in other.retirements { try take(retirement) }
    for record in other.records.values { try take(record) }
    for revocation in other.revocations.all { try take(revocation) }
    try merge(other.state.difference(since: state.context))
  }

  /// The whole content, encoded as a keyframe.
  public var keyframe: [UInt8] {
    KeptState.encode(
      records.values.sorted { $0.incarnation < $1.incarnation }.prefix(Answer.recordLimit),
      state.difference(since: Context()),
      nil,
      revocations.all,
      retirements
    )
  }

  /// Returns the whole content as an anonymous keyframe, with renamed incarnations and without author records.
  package func keyframe(
    _ renaming: IncarnationRenaming,
    mapping changed: (Property, Value, HybridTime) -> (Value, HybridTime)
  ) -> [UInt8] { KeptState.encode([], renaming.difference(state.difference(since: Context()), changed)) }

  private mutating func apply(answer bytes: [UInt8]) throws(RestoreError) {
    let content = Array(bytes.dropFirst())
    switch bytes.first {
    case AnswerMerging.grant: break
    case AnswerMerging.revocation: try take(RestoreError.decoding { () throws(CodecError) in try Revocation(content) })
    case AnswerMerging.retirement: try take(RestoreError.decoding { () throws(CodecError) in try Retirement(content) })
    default:
      let (merging, answer) = try RestoreError.decoding { () throws(CodecError) in try AnswerMerging.decode(bytes) }
      for record in answer.records { try take(record) }
      try merge(answer.difference, comparingAll: merging.comparesAll, replacing: merging.replacing)
    }
  }

  private mutating func merge(_ difference: Difference, comparingAll: Bool = false, replacing: UInt16 = 0)
    throws(RestoreError)
  {
    try RestoreError.merging { () throws(BoardError) in
      try state.merge(difference, comparingAll: comparingAll, replacing: replacing, changes: &changes)
    }
  }

  private mutating func take(_ record: AuthorRecord) throws(RestoreError) {
    guard record.board == id else { throw .wrongBoard }
    guard records[record.incarnation] == nil, !state.isRetired(record.incarnation) else { return }
    records[record.incarnation] = record
    members[record.incarnation] = record.member
    limit(CollectionOfOne(record))
  }

  private mutating func take(_ revocation: Revocation) throws(RestoreError) {
    guard revocation.board == id else { throw .wrongBoard }
    if revocations.insert(revocation) { limit(records.values) }
  }

  private mutating func take(_ retirement: Retirement) throws(RestoreError) {
    guard retirement.board == id else { throw .wrongBoard }
    guard retirements.count < Retirement.limit, !retirements.contains(retirement) else { return }
    retirements.append(retirement)
    state.retire(retirement.incarnations, changes: &changes)
    for incarnation in retirement.incarnations {
      records[incarnation] = nil
      members[incarnation] = nil
    }
  }

  private mutating func limit(_ concerned: some Collection<AuthorRecord>) {
    guard !revocations.isEmpty else { return }
    var limits = state.limits
    for record in concerned { limits[record.incarnation] = revocations.limit(of: record) }
    state.limit(limits, changes: &changes)
  }
}

extension StoredChange {
  /// Whether the change has the same effect at any position among other changes.
  ///
  /// An answer depends on its position, because it omits the cells that its receiver already had.
  public var isIndifferentToOrder: Bool {
    guard case .answer(let bytes) = self else { return true }
    return [AnswerMerging.grant, AnswerMerging.revocation, AnswerMerging.retirement].contains(bytes.first)
  }
}

/// The way in which an answer was merged, stored before the bytes of the answer.
struct AnswerMerging {
  /// The first bytes of a stored grant, revocation and retirement, which are stored like answers.
  static let (grant, revocation, retirement): (UInt8, UInt8, UInt8) = (3, 4, 5)

  /// Whether each cell of the answer was compared with the stored cell (SYN-42).
  let comparesAll: Bool
  /// The buckets whose cells were replaced (AUT-15).
  let replacing: UInt16

  init(repairing buckets: UInt16, by role: Role) {
    comparesAll = buckets != 0
    // A viewer does not send its cells to other members, so cells that only a viewer has must be removed.
    replacing = role.mayWrite ? 0 : buckets
  }

  init(_ reader: inout ByteReader) throws(CodecError) {
    switch try reader.byte() {
    case 0: (comparesAll, replacing) = (false, 0)
    case 1: (comparesAll, replacing) = (true, 0)
    case 2:
      let high = UInt16(try reader.byte())
      (comparesAll, replacing) = (true, high << 8 | UInt16(try reader.byte()))
    default: throw .reserved("answer")
    }
  }

  static func decode(_ bytes: [UInt8]) throws(CodecError) -> (AnswerMerging, Answer) {
    var reader = ByteReader(bytes)
    let merging = try AnswerMerging(&reader)
    return (merging, try Answer(reader.rest()))
  }

  var bytes: [UInt8] {
    if replacing != 0 { return [2, UInt8(replacing >> 8), UInt8(replacing & 0xFF)] }
    return [comparesAll ? 1 : 0]
  }
}

/// A change of a replica, in the form in which a document stores it.
///
/// A replica reports a stored change before the effects of the change. If all stored changes are passed to
/// ``Replica/restore(_:now:isWhole:)`` in this order, they restore the same board.
public enum StoredChange: Hashable, Sendable {
  /// The record of an incarnation. The record is stored before the incarnation's first batch.
  case author([UInt8], Incarnation)
  /// A batch, in its full form.
  case batch(EncodedBatch)
  /// A merged answer, a grant, a revocation or a retirement.
  ///
  /// The first byte states the kind:
  /// - 0: An answer.
  /// - 1: An answer whose cells were all compared with the stored cells (SYN-42).
  /// - 2: An answer like 1. The next two bytes are the buckets whose cells were replaced.
  /// - 3: A grant.
  /// - 4: A revocation.
  /// - 5: A retirement.
  case answer([UInt8])
  /// A signed head of an incarnation's chain, up to the operation `sequence`.
  case head([UInt8], Incarnation, sequence: UInt64)
  /// The whole content of a replica, as returned by ``Replica/snapshotForKeeping()``.
  case keyframe([UInt8])
}

/// The reason why stored changes cannot be restored.
public enum RestoreError: Error, Hashable, Sendable {
  case damaged(CodecError)
  case wrongBoard
  case boardFull
}

extension RestoreError {
  static func decoding<Result>(_ body: () throws(CodecError) -> Result) throws(RestoreError) -> Result {
    do throws(CodecError) { return try body() } catch { throw .damaged(error) }
  }

  static func merging(_ body: () throws(BoardError) -> Void) throws(RestoreError) {
    do throws(BoardError) { try body() } catch { throw .boardFull }
  }
}

struct BoardRestorer {
  let replica: Replica

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

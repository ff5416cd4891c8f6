import PeerCore
import Whiteboard

/// A board restored from a document, used to view the board as it was at a given time.
///
/// It is a value type. Copies are cheap and independent of the original.
public struct RestoredBoard: Sendable {
  /// The id of the board.
  public let id: BoardID
  /// The state of the board.
  public private(set) var state = BoardState()
  /// The author of each incarnation with a record.
  public private(set) var members: [Incarnation: MemberID] = [:]
  /// The objects that changed since the last call of ``takeChanges()``.
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

  /// Merges another copy of the same board into this one.
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

  /// Removes revoked changes by the authors of the given records (AUT-14).
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

/// The way in which an answer was merged.
///
/// It is stored before the bytes of the answer.
struct AnswerMerging {
  /// The first bytes of a stored grant, a stored revocation and a stored retirement.
  ///
  /// All are stored like answers.
  static let (grant, revocation, retirement): (UInt8, UInt8, UInt8) = (3, 4, 5)

  /// Whether each cell of the answer was compared with the stored cell (SYN-42).
  let comparesAll: Bool
  /// The buckets whose cells were replaced (AUT-15).
  let replacing: UInt16

  /// Determines how to merge an answer to a request for these buckets.
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

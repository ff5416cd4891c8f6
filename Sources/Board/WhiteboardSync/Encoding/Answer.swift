import PeerCore
import Whiteboard

/// The answer to a request: author records and cells, signed by the member that answers. Implements SYN-29.
package struct Answer: Sendable {
  static let byteLimit = 256 << 20
  /// The maximum number of records in an answer: one for each incarnation in a full context, and one for the
  /// incarnation that answers.
  static let recordLimit = BoardLimits.incarnations + 1
  private static let domain = Array("whiteboard-answer-1\n".utf8)
  private static let endMarker: UInt8 = 0xFF

  /// The records, in ascending order of incarnation.
  let records: [AuthorRecord]
  let difference: Difference
  let incarnation: Incarnation
  /// The hash of the records and cells, which the signature covers.
  private let hash: Bytes32
  private let signature: [UInt8]

  /// The author must have a local key.
  package static func encode(
    _ records: some Collection<AuthorRecord>,
    _ difference: Difference,
    by author: Author,
    as incarnation: Incarnation
  ) -> [UInt8] { make(records, difference, by: author, as: incarnation).complete }

  /// The signature at the end of the result may still be missing.
  static func make(
    _ records: some Collection<AuthorRecord>,
    _ difference: Difference,
    by author: Author,
    as incarnation: Incarnation
  ) -> Signed<[UInt8]> {
    var request: SigningID?
    let bytes = encode(records, difference, as: incarnation, on: author.board) {
      let signature = author.sign($0)
      request = signature.request
      return signature.value
    }
    return Signed(value: bytes, request: request)
  }

  fileprivate static func encode(
    _ records: some Collection<AuthorRecord>,
    _ difference: Difference,
    as incarnation: Incarnation,
    on board: BoardID,
    signedBy sign: ([UInt8]) -> [UInt8]
  ) -> [UInt8] {
    let content = KeptState.encode(records, difference)
    let signature = sign(text(of: Bytes32.sha256(content), as: incarnation, on: board))
    var writer = ByteWriter()
    writer.raw(content)
    writer.byte(endMarker)
    writer.incarnation(incarnation)
    writer.raw(signature)
    return writer.bytes
  }

  /// ``verify(by:with:)`` checks the signature.
  init(_ bytes: [UInt8]) throws(CodecError) {
    guard bytes.count <= Self.byteLimit else { throw .overLimit("answer") }
    var reader = ByteReader(bytes)
    records = try KeptState.readRecords(&reader)
    difference = try DifferenceCoding.read(&reader)
    hash = Bytes32.sha256(Array(bytes.prefix(reader.position)))
    guard try reader.byte() == Self.endMarker else { throw .reserved("end of an answer") }
    incarnation = try reader.incarnation()
    signature = try reader.take(AuthorRecord.signatureBytes)
    try reader.finish()
  }

  func verify(by record: AuthorRecord, with verifier: some SignatureVerifier) throws(ReplicaError) {
    let text = Self.text(of: hash, as: incarnation, on: record.board)
    guard verifier.isValid(signature, of: text, by: record.key) else { throw .wrongSignature }
  }

  private static func text(of hash: Bytes32, as incarnation: Incarnation, on board: BoardID) -> [UInt8] {
    var text = ByteWriter()
    text.raw(domain)
    text.raw(board.bytes)
    text.incarnation(incarnation)
    text.raw(hash.bytes)
    return text.bytes
  }
}

/// An answer to send to a member.
///
/// Encoding and signing the answer of a large board takes a long time. The owner of the replica can do both on another
/// thread. Until then, the answer shares its memory with the board.
public struct OutgoingAnswer: Hashable, Sendable {
  private enum Content: Sendable {
    /// The answer of an author without a local key. The signature may be missing until the owner gets the answer.
    case encoded([UInt8])
    case copy(AnswerCopy)
  }

  /// The number of the request.
  public let request: UInt64
  private let board: BoardID
  private var content: Content

  init(_ request: UInt64, encoded bytes: [UInt8], on board: BoardID) {
    self.request = request
    self.board = board
    content = .encoded(bytes)
  }

  init(_ request: UInt64, _ copy: AnswerCopy) {
    self.request = request
    board = copy.board
    content = .copy(copy)
  }

  /// Returns the bytes of the answer, and the name of the resource that contains them.
  ///
  /// If the result is nil, the answer is too large to send. In this case, call ``Replica/answerSent(request:to:now:)``
  /// immediately.
  /// - Complexity: O(*n* log *n*), where *n* is the number of cells; nothing is cached.
  public func encoded() -> (bytes: [UInt8], name: ResourceDTO)? {
    let bytes =
      switch content {
      case .encoded(let bytes): bytes
      case .copy(let copy): copy.encoded
      }
    guard bytes.count <= Answer.byteLimit else { return nil }
    return (bytes, ResourceDTO(id: board.description, type: .whiteboard, request: request, byteCount: bytes.count))
  }

  /// Returns whether both answers have the same bytes.
  /// - Complexity: The same as that of ``encoded()``, unless both are copies of one answer.
  public static func == (lhs: OutgoingAnswer, rhs: OutgoingAnswer) -> Bool {
    if case .copy(let one) = lhs.content, case .copy(let other) = rhs.content, one === other { return true }
    return lhs.request == rhs.request && lhs.encoded()?.bytes == rhs.encoded()?.bytes
  }

  /// Hashes the number of the request.
  public func hash(into hasher: inout Hasher) { hasher.combine(request) }

  /// Replaces the bytes; the answer must be encoded.
  mutating func replaceBytes(_ replaced: ([UInt8]) -> [UInt8]) {
    guard case .encoded(let bytes) = content else { preconditionFailure("the answer has a local key") }
    content = .encoded(replaced(bytes))
  }
}

/// The content of a board at one moment, for an answer that is encoded and signed later.
final class AnswerCopy: Sendable {
  let board: BoardID
  private let state: BoardState
  private let records: [AuthorRecord]
  private let request: CatchUpRequest
  private let incarnation: Incarnation
  private let sign: @Sendable ([UInt8]) -> [UInt8]

  init(
    of state: BoardState,
    _ records: [AuthorRecord],
    for request: CatchUpRequest,
    as incarnation: Incarnation,
    on board: BoardID,
    signedBy sign: @escaping @Sendable ([UInt8]) -> [UInt8]
  ) {
    self.state = state
    self.records = records
    self.request = request
    self.incarnation = incarnation
    self.board = board
    self.sign = sign
  }

  var encoded: [UInt8] {
    let difference = state.difference(since: request.context, buckets: request.buckets)
    return Answer.encode(records, difference, as: incarnation, on: board, signedBy: sign)
  }
}

/// A received answer that is decoded, but not checked.
///
/// Decoding the answer of a large board takes a long time. The owner of the replica can decode it on another thread.
public struct ReceivedAnswer: Sendable {
  let bytes: [UInt8]
  let decoded: Result<Answer, CodecError>
  /// The incarnations that wrote the cells of the answer.
  let writers: Set<Incarnation>
  /// The incarnations that wrote the moves in the answer.
  let movers: Set<Incarnation>

  /// Decodes an answer.
  public init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var (writers, movers): (Set<Incarnation>, Set<Incarnation>) = ([], [])
    do throws(CodecError) {
      let answer = try Answer(bytes)
      // Most neighbors have the same incarnation.
      var last: Incarnation?
      for entry in answer.difference.entries {
        for known in entry.cells {
          let writer = known.cell.dot.incarnation
          if writer != last { writers.insert(writer) }
          last = writer
          if known.property.isMove { movers.insert(writer) }
        }
      }
      decoded = .success(answer)
    } catch { decoded = .failure(error) }
    self.writers = writers
    self.movers = movers
  }
}

/// The unsigned content of an answer or of a keyframe in a document: author records and cells. A keyframe can also
/// contain the grant of the local author, revocations and retirements.
struct KeptState {
  let records: [AuthorRecord]
  let difference: Difference
  private(set) var grant: Grant?
  private(set) var revocations: [Revocation] = []
  private(set) var retirements: [Retirement] = []

  static func encode(
    _ records: some Collection<AuthorRecord>,
    _ difference: Difference,
    _ grant: Grant? = nil,
    _ revocations: [Revocation] = [],
    _ retirements: [Retirement] = []
  ) -> [UInt8] {
    var writer = ByteWriter()
    writer.count(records.count)
    for record in records {
      writer.count(record.bytes.count)
      writer.raw(record.bytes)
    }
    writer.raw(DifferenceCoding.encode(difference))
    guard grant != nil || !revocations.isEmpty || !retirements.isEmpty else { return writer.bytes }
    let granted = grant.map { ($0.certificates.last?.holder ?? $0.owner.key) + $0.bytes } ?? []
    writer.count(granted.count)
    writer.raw(granted)
    writer.count(revocations.count)
    for revocation in revocations {
      writer.count(revocation.bytes.count)
      writer.raw(revocation.bytes)
    }
    guard !retirements.isEmpty else { return writer.bytes }
    writer.count(retirements.count)
    for retirement in retirements {
      writer.count(retirement.bytes.count)
      writer.raw(retirement.bytes)
    }
    return writer.bytes
  }

  init(_ bytes: [UInt8]) throws(CodecError) {
    var reader = ByteReader(bytes)
    records = try Self.readRecords(&reader)
    difference = try DifferenceCoding.read(&reader)
    guard reader.remaining > 0 else { return }
    let granted = try reader.take(try reader.count(upTo: AuthorRecord.byteLimit, "grant"))
    if !granted.isEmpty {
      let holder = Array(granted.prefix(AuthorRecord.keyBytes))
      grant = try Grant(for: holder, Array(granted.dropFirst(AuthorRecord.keyBytes)))
    }
    for _ in 0..<(try reader.count(upTo: Revocations.limit, "revocations")) {
      let length = try reader.count(upTo: Revocation.byteLimit, "revocation")
      revocations.append(try Revocation(try reader.take(length)))
    }
    guard reader.remaining > 0 else { return }
    let count = try reader.count(upTo: Retirement.limit, "retirements")
    guard count > 0 else { throw .notCanonical("retirements") }
    for _ in 0..<count {
      let length = try reader.count(upTo: Retirement.byteLimit, "retirement")
      retirements.append(try Retirement(try reader.take(length)))
    }
    try reader.finish()
  }

  static func readRecords(_ reader: inout ByteReader) throws(CodecError) -> [AuthorRecord] {
    let count = try reader.count(upTo: Answer.recordLimit, "records")
    var records: [AuthorRecord] = []
    for _ in 0..<count {
      let length = try reader.count(upTo: AuthorRecord.byteLimit, "record")
      let record = try AuthorRecord(try reader.take(length))
      if let last = records.last, record.incarnation <= last.incarnation { throw .notCanonical("records") }
      records.append(record)
    }
    return records
  }
}

import PeerCore
import Whiteboard

/// The answer to a request: author records and cells, signed by the member that answers. Implements SYN-29.
package struct Answer {
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
  private let content: ArraySlice<UInt8>
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
    let content = KeptState.encode(records, difference)
    var writer = ByteWriter()
    writer.raw(content)
    writer.byte(endMarker)
    writer.incarnation(incarnation)
    let signature = author.sign(text(of: content[...], as: incarnation, on: author.board))
    writer.raw(signature.value)
    return Signed(value: writer.bytes, request: signature.request)
  }

  /// ``verify(by:with:)`` checks the signature.
  init(_ bytes: [UInt8]) throws(CodecError) {
    guard bytes.count <= Self.byteLimit else { throw .overLimit("answer") }
    var reader = ByteReader(bytes)
    records = try KeptState.readRecords(&reader)
    difference = try DifferenceCoding.read(&reader)
    content = bytes.prefix(reader.position)
    guard try reader.byte() == Self.endMarker else { throw .reserved("end of an answer") }
    incarnation = try reader.incarnation()
    signature = try reader.take(AuthorRecord.signatureBytes)
    try reader.finish()
  }

  func verify(by record: AuthorRecord, with verifier: some SignatureVerifier) throws(ReplicaError) {
    let text = Self.text(of: content, as: incarnation, on: record.board)
    guard verifier.isValid(signature, of: text, by: record.key) else { throw .wrongSignature }
  }

  private static func text(of content: ArraySlice<UInt8>, as incarnation: Incarnation, on board: BoardID) -> [UInt8] {
    var text = ByteWriter()
    text.raw(domain)
    text.raw(board.bytes)
    text.incarnation(incarnation)
    text.raw(Bytes32.sha256(Array(content)).bytes)
    return text.bytes
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

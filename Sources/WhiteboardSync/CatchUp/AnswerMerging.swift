import Whiteboard

/// The way in which an answer was merged.
///
/// It is stored before the bytes of the answer.
struct AnswerMerging {
  /// The first bytes of a stored grant and of a stored revocation.
  ///
  /// Both are stored like answers.
  static let (grant, revocation): (UInt8, UInt8) = (3, 4)

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

  /// Decodes a value that is stored before an answer.
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

  /// Decodes a stored answer, and how it is merged.
  static func decode(_ bytes: [UInt8]) throws(CodecError) -> (AnswerMerging, Answer) {
    var reader = ByteReader(bytes)
    let merging = try AnswerMerging(&reader)
    return (merging, try Answer(reader.rest()))
  }

  /// The bytes that are stored before the answer.
  var bytes: [UInt8] {
    if replacing != 0 { return [2, UInt8(replacing >> 8), UInt8(replacing & 0xFF)] }
    return [comparesAll ? 1 : 0]
  }
}

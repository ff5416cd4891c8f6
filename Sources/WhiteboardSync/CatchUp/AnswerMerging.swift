import Whiteboard

/// The way in which an answer was merged, as it is stored before the bytes of the answer.
struct AnswerMerging {
  /// The first byte of a stored grant and of a stored revocation, which are stored like answers.
  static let (grant, revocation): (UInt8, UInt8) = (3, 4)

  /// Whether each cell was compared (SYN-42).
  let comparesAll: Bool
  /// The buckets whose cells were replaced (AUT-15).
  let replacing: UInt16

  /// The merging of an answer to a request for these buckets.
  init(repairing buckets: UInt16, by role: Role) {
    comparesAll = buckets != 0
    // No member asks a viewer, so what only a viewer has would stay different.
    replacing = role.mayWrite ? 0 : buckets
  }

  /// Reads the way in which the following answer was merged.
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

  /// The bytes that are stored before the answer.
  var bytes: [UInt8] {
    if replacing != 0 { return [2, UInt8(replacing >> 8), UInt8(replacing & 0xFF)] }
    return [comparesAll ? 1 : 0]
  }
}

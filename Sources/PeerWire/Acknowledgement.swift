/// The payload of an ACK frame: the highest part's number that the receiver's process holds (MSG-4).
public enum Acknowledgement {
  /// Reads a payload.
  ///
  /// Whether such a number was ever sent is for the caller to check.
  ///
  /// - Throws: `malformed` for anything but one integer in its shortest form; the link must then be
  ///   closed (FRM-4).
  public static func read(payload: Span<UInt8>) throws(MessagePart.DecodingError) -> UInt64 {
    var offset = 0
    let sequence: UInt64?
    do {
      sequence = try Varint.read(from: payload, at: &offset)
    } catch {
      throw .malformed
    }
    guard let sequence, offset == payload.count else { throw .malformed }
    return sequence
  }

  /// Appends the payload.
  public static func append(_ sequence: UInt64, to bytes: inout [UInt8]) {
    Varint.append(sequence, to: &bytes)
  }
}

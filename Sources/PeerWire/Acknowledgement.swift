import PeerCore

/// The payload of an ACK frame: the number of the last message part received (MSG-4).
public enum Acknowledgement {
  /// Decodes the payload of an ACK frame.
  ///
  /// The caller must check that a part with this number was sent.
  ///
  /// - Returns: The number of the last part that the other side received.
  /// - Throws: `malformed` if the payload is not exactly one integer in its shortest encoding; the caller must then
  ///   close the link (FRM-4).
  public static func read(payload: Span<UInt8>) throws(MessagePart.DecodingError) -> UInt64 {
    var offset = 0
    let sequence: UInt64?
    do { sequence = try Varint.read(from: payload, at: &offset) } catch { throw .malformed }
    guard let sequence, offset == payload.count else { throw .malformed }
    return sequence
  }

  /// Appends the payload of an ACK frame for the parts up to `sequence`.
  public static func append(_ sequence: UInt64, to bytes: inout [UInt8]) { Varint.append(sequence, to: &bytes) }
}

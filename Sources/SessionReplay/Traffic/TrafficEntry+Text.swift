import PeerCore
import PeerDiscovery
import Whiteboard
import WhiteboardDocument

extension TrafficEntry {
  /// The maximum number of bytes that are shown as hexadecimal digits or checked for text.
  private static let (digits, letters) = (16, 256)

  /// The size and the beginning of the entry's bytes, safe to print on a terminal.
  public var content: String { Self.content(of: bytes) }

  /// Returns the size and the beginning of some bytes, safe to print on a terminal.
  ///
  /// Text is shown in at most 64 columns, other bytes as hexadecimal digits.
  static func content(of bytes: [UInt8]) -> String {
    let size = bytes.count == 1 ? "1 byte" : "\(bytes.count) bytes"
    guard !bytes.isEmpty else { return size }
    if let text = beginning(of: bytes) { return "\(size): \"\(UntrustedText(text).displayed)\"" }
    let start = Hexadecimal.encode(Array(bytes.prefix(digits)))
    return "\(size): \(start)\(bytes.count > digits ? "…" : "")"
  }

  /// Returns the beginning of the text in `bytes`, or `nil` if the bytes are not text.
  private static func beginning(of bytes: [UInt8]) -> String? {
    // A character of up to four bytes may be cut off at the end.
    for length in (0..<4).map({ min(bytes.count, letters) - $0 }) where length > 0 {
      guard let text = String(validating: bytes.prefix(length), as: UTF8.self) else {
        if bytes.count <= letters { return nil }
        continue
      }
      let isText = text.unicodeScalars.allSatisfy { scalar in
        scalar.properties.generalCategory != .control || ["\n", "\r", "\t"].contains(scalar)
      }
      return isText && !UntrustedText(text).displayed.isEmpty ? text : nil
    }
    return nil
  }
}

import PeerDiscovery
import Whiteboard
import WhiteboardDocument

extension TrafficEntry {
  /// How many bytes are told in hexadecimal digits, and how many are looked at for text.
  private static let (digits, letters) = (16, 256)

  /// How much it is and how it begins, harmless on a terminal.
  public var content: String { Self.content(of: bytes) }

  /// How much something is and how it begins: as text, in at most 64 columns, where it is some; else in hexadecimal
  /// digits.
  static func content(of bytes: [UInt8]) -> String {
    let size = bytes.count == 1 ? "1 byte" : "\(bytes.count) bytes"
    guard !bytes.isEmpty else { return size }
    if let text = beginning(of: bytes) {
      return "\(size): \"\(UntrustedText(text).displayed)\""
    }
    let start = Hexadecimal.encode(Array(bytes.prefix(digits)))
    return "\(size): \(start)\(bytes.count > digits ? "…" : "")"
  }

  /// The beginning of text; nil if it is none.
  private static func beginning(of bytes: [UInt8]) -> String? {
    // A letter may be cut, of at most four bytes.
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

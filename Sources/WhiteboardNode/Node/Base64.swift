import FoundationEssentials

/// Bytes as text in JSON.
enum Base64 {
  /// The text of some bytes.
  static func encode(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString()
  }
}

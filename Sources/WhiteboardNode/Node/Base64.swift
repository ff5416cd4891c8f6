import FoundationEssentials

/// Bytes as text in JSON.
package enum Base64 {
  /// The text of some bytes.
  package static func encode(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString()
  }
}

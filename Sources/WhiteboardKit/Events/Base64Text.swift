import PeerCore

/// Bytes that are base64 in JSON.
///
/// They are encoded only when the JSON is written.
package struct Base64Text: Encodable, Sendable, Equatable {
  /// The bytes.
  package let bytes: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  init(_ bytes: [UInt8]) { self.init(bytes[...]) }

  package var text: String { Base64.encode(Array(bytes)) }

  package var count: Int { (bytes.count + 2) / 3 * 4 }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

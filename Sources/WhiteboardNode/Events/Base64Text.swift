import WhiteboardRendering

/// Bytes that JSON has in base64; they are encoded when they are written.
package struct Base64Text: Encodable, WritesJSON, Sendable, Equatable {
  private let bytes: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  init(_ bytes: [UInt8]) { self.init(bytes[...]) }

  /// The text.
  package var text: String { Base64.encode(Array(bytes)) }

  /// How many characters it has.
  package var count: Int { (bytes.count + 2) / 3 * 4 }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  func write(to json: inout [UInt8]) {
    json.append(UInt8(ascii: "\""))
    Base64.append(bytes, to: &json)
    json.append(UInt8(ascii: "\""))
  }
}

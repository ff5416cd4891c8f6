extension UntrustedText: CustomReflectable {
  /// A mirror with only `displayed`, so that `dump` does not show `raw`.
  public var customMirror: Mirror { Mirror(self, children: ["displayed": displayed]) }
}

extension UntrustedText: Codable {
  /// Decodes the text from a single string.
  public init(from decoder: any Decoder) throws { raw = try decoder.singleValueContainer().decode(String.self) }

  /// Encodes `raw` as a single string.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(raw)
  }
}

package enum ASCII {
  /// Returns the bytes, with the letters A to Z in lower case.
  package static func lowercase(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
  }
}

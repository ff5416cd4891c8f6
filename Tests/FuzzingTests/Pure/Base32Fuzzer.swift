import PeerCore

/// Checks that each decoded text encodes to itself, and each encoded value decodes to itself.
func fuzzBase32(_ input: inout Input) {
  let byteCount = Int(input.byte())
  let bytes = input.rest()
  if let value = try? Base32.decode(bytes.span) {
    insist(Array(Base32.encode(value).utf8) == bytes, "a value has one text")
  }
  if let value = try? Base32.decode(bytes.span, byteCount: byteCount) {
    insist(value.count == byteCount, "a value has the requested number of bytes")
  }
  let text = Base32.encode(bytes)
  insist(try Base32.decode(text, byteCount: bytes.count) == bytes, "an encoded value decodes unchanged")
}

import PeerCore
import PeerWire
import Testing

struct Base32Tests {
  @Test("a valid text is encoded and decoded as in its vector") func valid() throws {
    for vector in SessionVectors.all.base32.valid {
      let bytes = unhex(vector.hex)
      #expect(Base32.encode(bytes) == vector.text)
      #expect(try Base32.decode(vector.text) == bytes)
      #expect(try Base32.decode(vector.text, byteCount: bytes.count) == bytes)
      #expect(Base32.length(ofBytes: bytes.count) == vector.text.utf8.count)
    }
  }

  @Test("an invalid text is rejected", arguments: SessionVectors.all.base32.invalid) func invalid(
    _ vector: SessionVectors.Invalid
  ) {
    do {
      let bytes = try Base32.decode(vector.text ?? "")
      Issue.record("read as \(bytes)")
    } catch { #expect(name(of: error) == vector.error) }
  }

  @Test("a text for another number of bytes than requested is rejected before it is decoded") func otherLength() {
    #expect(throws: Base32.DecodingError.length(8)) { try Base32.decode("!!!!!!!!", byteCount: 16) }
    #expect(throws: Base32.DecodingError.length(28)) {
      try Base32.decode("aaaaaaaaaaaaaaaaaaaaaaaaaaaa", byteCount: 16)
    }
  }

  @Test("of all texts of two characters, only the 256 that encode a byte are decoded") func allShortTexts() {
    var read: Set<UInt8> = []
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max {
        guard let bytes = try? Base32.decode([first, second].span) else { continue }
        #expect(Array(Base32.encode(bytes).utf8) == [first, second])
        read.formUnion(bytes)
      }
    }
    #expect(read.count == 256)
  }
}

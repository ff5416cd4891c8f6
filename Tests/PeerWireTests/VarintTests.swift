import PeerCore
import PeerWire
import Testing

struct VarintTests {
  @Test("a valid integer is encoded and decoded as in its vector") func valid() throws {
    for vector in SessionVectors.all.vint.valid {
      let value = try #require(UInt64(vector.value))
      let bytes = unhex(vector.hex)
      var written: [UInt8] = []
      Varint.append(value, to: &written)
      #expect(written == bytes)
      #expect(Varint.length(of: value) == bytes.count)
      var offset = 0
      #expect(try Varint.read(from: bytes.span, at: &offset) == value)
      #expect(offset == bytes.count)
    }
  }

  @Test("[FRM-2] an invalid integer is rejected", arguments: SessionVectors.all.vint.invalid) func invalid(
    _ vector: SessionVectors.Invalid
  ) {
    var offset = 0
    do {
      let value = try Varint.read(from: vector.bytes.span, at: &offset)
      #expect(value == nil && vector.error == "truncated")
    } catch { #expect(name(of: error) == vector.error) }
    #expect(offset == 0)
  }

  @Test("the smallest and the largest value of each length are decoded byte by byte") func edges() throws {
    var values: [UInt64] = [0, .max]
    for bits in 1..<64 { values += [1 << bits, 1 << bits - 1, 1 << bits + 1] }
    for value in values {
      var bytes: [UInt8] = []
      Varint.append(value, to: &bytes)
      #expect(bytes.count == Varint.length(of: value))
      for count in 0..<bytes.count {
        var offset = 0
        #expect(try Varint.read(from: Array(bytes[..<count]).span, at: &offset) == nil)
        #expect(offset == 0)
      }
      var offset = 0
      #expect(try Varint.read(from: (bytes + [0xFF]).span, at: &offset) == value)
      #expect(offset == bytes.count)
    }
  }
}

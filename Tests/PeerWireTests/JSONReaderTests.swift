import Foundation
import PeerCore
import PeerTestKit
import Testing

struct JSONReaderTests {
  private struct Nothing: Decodable {}

  private func fault(of bytes: [UInt8], depth: Int = JSONReader.strictDepthLimit) -> JSONError? {
    do {
      try JSONReader.strict(bytes, depthLimit: depth)
      return nil
    } catch { return error }
  }

  @Test("[FRM-5] a payload within the limits is valid", arguments: SessionVectors.all.control.valid) func valid(
    _ vector: SessionVectors.Control
  ) throws {
    let bytes = unhex(vector.hex)
    #expect(fault(of: bytes) == nil)
    #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(bytes)) }
    let end = bytes.lastIndex(of: UInt8(ascii: "}")) ?? 0
    for count in 0..<end { #expect(fault(of: Array(bytes[..<count])) == .truncated, "cut to \(count) bytes") }
  }

  @Test("[FRM-5] a payload outside the limits is rejected", arguments: SessionVectors.all.control.invalid) func invalid(
    _ vector: SessionVectors.Invalid
  ) {
    let found = fault(of: vector.bytes)
    #expect(found.map(name) == vector.error)
  }

  @Test("the caller chooses the maximum depth, at most 16, which includes the outermost object") func depth() {
    #expect(fault(of: Array(#"{}"#.utf8), depth: 1) == nil)
    #expect(fault(of: Array(#"{"a":[]}"#.utf8), depth: 1) == .tooDeep(at: 5))
    #expect(fault(of: Array(#"{"a":[],"b":{}}"#.utf8), depth: 2) == nil)
    let deep = Array((#"{"a":"# + String(repeating: "[", count: 16)).utf8)
    #expect(fault(of: deep, depth: 1_000) == .tooDeep(at: 20))
  }

  @Test("the offset in an error is that of the first bad byte") func offsets() {
    #expect(fault(of: Array(#"{"a":1,"b":2,"a":3}"#.utf8)) == .duplicateKey(at: 13))
    #expect(fault(of: Array(#"{"a":"\q"}"#.utf8)) == .malformedString(at: 6))
    #expect(fault(of: Array(#"{"a":1}x"#.utf8)) == .trailingBytes(at: 7))
    #expect(fault(of: Array(#"{"a":1 2}"#.utf8)) == .malformed(at: 7))
    #expect(fault(of: Array(#"{"a":""#.utf8) + [0xC0, 0x80]) == .invalidUTF8(at: 6))
  }

  @Test("Foundation also decodes each mutated payload that is valid here") func agreesWithFoundation() {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let sources = SessionVectors.all.control.valid.map { unhex($0.hex) }
    var passed = 0
    for _ in 0..<20_000 {
      var bytes = sources[Int(random.next() % UInt64(sources.count))]
      for _ in 0...Int(random.next() % 2) where !bytes.isEmpty {
        let index = Int(random.next() % UInt64(bytes.count))
        switch random.next() % 3 {
        case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.remove(at: index)
        default: bytes.insert(Array(#"{}[]",:\ue19.-"#.utf8)[Int(random.next() % 14)], at: index)
        }
      }
      guard fault(of: bytes) == nil else { continue }
      passed += 1
      // This decoder reads no value: 1e999 is well-formed, although no Double can represent it.
      let isRead = (try? JSONDecoder().decode(Nothing.self, from: Data(bytes))) != nil
      #expect(isRead, "seed \(seed): \(hex(bytes))")
    }
    #expect(passed > 100, "seed \(seed)")
  }

  @Test("the time for a payload with only keys is proportional to its length") func manyKeys() {
    let text = "{" + (0..<8_000).map { #""\#($0)":0"# }.joined(separator: ",") + "}"
    #expect(text.utf8.count > 64_000)
    #expect(fault(of: Array(text.utf8)) == nil)
    let last = text.dropLast() + #","7999":0}"#
    #expect(fault(of: Array(last.utf8)) == .duplicateKey(at: text.utf8.count))
  }
}

import PeerWire
import Testing

struct FrameTests {
  private struct Parsed: Equatable {
    var frames: [SessionVectors.FrameStream.Frame] = []
    var error: String?
    var left = 0
  }

  /// Parses a stream in pieces of `step` bytes, as they arrive on a link.
  private func parse(_ bytes: [UInt8], limit: Int, step: Int) -> Parsed {
    var parsed = Parsed()
    var buffer: [UInt8] = []
    var fed = 0
    while fed < bytes.count {
      buffer += bytes[fed..<min(fed + step, bytes.count)]
      fed = min(fed + step, bytes.count)
      while true {
        var offset = 0
        do {
          guard let head = try FrameHeader.read(from: buffer.span, at: &offset, limit: limit),
            buffer.count - offset >= head.length
          else { break }
          let payload = buffer[offset..<offset + head.length]
          parsed.frames.append(.init(type: head.type.map(wireName), payload: hex(payload)))
          buffer.removeFirst(offset + head.length)
        } catch {
          parsed.error = name(of: error)
          return parsed
        }
      }
    }
    parsed.left = buffer.count
    return parsed
  }

  private func wireName(_ type: FrameType) -> String {
    var text = ""
    for character in String(describing: type) {
      if character.isUppercase { text += "-" }
      text += character.uppercased()
    }
    return text
  }

  @Test("every frame type has the number of the table, and no other number is known") func types() {
    let vectors = SessionVectors.all.frames.types
    for vector in vectors { #expect(FrameType(rawValue: vector.number).map(wireName) == vector.type) }
    #expect(FrameType.allCases.count == vectors.count)
    for type in FrameType.allCases { #expect(type.isControl == (type.rawValue <= 0x3F)) }
  }

  @Test("[FRM-1] a header within the limit is decoded", arguments: SessionVectors.all.frames.heads.valid) func heads(
    _ vector: SessionVectors.FrameHead
  ) throws {
    let bytes = unhex(vector.hex)
    var offset = 0
    let head = try #require(try FrameHeader.read(from: bytes.span, at: &offset, limit: vector.limit))
    #expect(head.type.map(wireName) == vector.type)
    #expect(head.length == vector.length)
    #expect(offset == bytes.count)
    #expect(bytes.count <= FrameHeader.maximumLength)
    for count in 0..<bytes.count {
      var offset = 0
      let part = Array(bytes[..<count])
      #expect(try FrameHeader.read(from: part.span, at: &offset, limit: vector.limit) == nil)
      #expect(offset == 0)
    }
  }

  @Test(
    "[FRM-1] [FRM-2] [FRM-3] a bad header is rejected before its payload arrives",
    arguments: SessionVectors.all.frames.heads.invalid
  ) func badHeads(_ vector: SessionVectors.Invalid) {
    var offset = 0
    do {
      let head = try FrameHeader.read(from: vector.bytes.span, at: &offset, limit: vector.limit ?? 0)
      Issue.record("read as \(String(describing: head))")
    } catch { #expect(name(of: error) == vector.error) }
  }

  @Test("a byte stream gives the same frames in pieces of any size", arguments: SessionVectors.all.frames.streams)
  func streams(_ vector: SessionVectors.FrameStream) {
    let bytes = unhex(vector.hex)
    for step in 1...bytes.count {
      let parsed = parse(bytes, limit: vector.limit, step: step)
      #expect(parsed.frames == vector.frames, "in pieces of \(step)")
      #expect(parsed.error == vector.error)
      #expect((parsed.left > 0) == (vector.incomplete ?? false) || vector.error != nil)
    }
  }
}

import PeerWire
import Testing

struct MessagePartTests {
  @Test("a valid header is encoded and decoded", arguments: SessionVectors.all.messageParts.valid) func valid(
    _ vector: SessionVectors.Part
  ) throws {
    let bytes = unhex(vector.hex)
    var offset = 0
    let part = try MessagePart.read(from: bytes.span, at: &offset)
    let expected = MessagePart(
      sequence: try #require(UInt64(vector.sequence)),
      isFirst: vector.first,
      isLast: vector.last,
      wantsAcknowledgement: vector.acknowledge,
      isRelays: vector.relays,
      total: vector.total
    )
    #expect(part == expected)
    #expect(hex(bytes[offset...]) == vector.bytes)
    var written: [UInt8] = []
    part.append(to: &written)
    #expect(written == Array(bytes[..<offset]))
    for count in 0..<offset {
      var start = 0
      #expect(throws: MessagePart.DecodingError.malformed) {
        try MessagePart.read(from: Array(bytes[..<count]).span, at: &start)
      }
    }
  }

  @Test("[MSG-1] [MSG-2] an invalid header is rejected", arguments: SessionVectors.all.messageParts.invalid)
  func invalid(_ vector: SessionVectors.Invalid) {
    var offset = 0
    do {
      let part = try MessagePart.read(from: vector.bytes.span, at: &offset)
      Issue.record("read as \(part)")
    } catch { #expect(name(of: error) == vector.error) }
  }
}

struct MessageAssemblerTests {
  @Test(
    "[MSG-1] [MSG-2] [MSG-3] parts are assembled to messages, or give errors",
    arguments: SessionVectors.all.messageSequences
  ) func sequences(_ vector: SessionVectors.Sequence) throws {
    var assembler = MessageAssembler()
    var message: [UInt8] = []
    for step in vector.steps {
      let bytes = unhex(step.hex)
      var offset = 0
      let part = try MessagePart.read(from: bytes.span, at: &offset)
      let before = assembler
      do {
        switch try assembler.receive(part, byteCount: bytes.count - offset) {
        case .duplicate:
          #expect(step.outcome == "drop")
          #expect(assembler == before)
        case .whole: #expect(step.outcome == "deliver" && step.message == hex(bytes[offset...]))
        case .begin, .append:
          #expect(step.outcome == "keep")
          message += bytes[offset...]
        case .finish:
          message += bytes[offset...]
          #expect(step.outcome == "deliver" && step.message == hex(message))
          message = []
        }
      } catch {
        #expect(step.outcome == "error" && step.error == name(of: error))
        #expect(assembler == before)
      }
    }
  }

  @Test("[MSG-1] a message of the maximum length is accepted in parts, and one byte more is not") func greatest() throws
  {
    var assembler = MessageAssembler()
    let total = Limits.message
    let step = 65_000
    var sequence: UInt64 = 1
    var count = 0
    while count < total {
      let size = min(step, total - count)
      let isLast = count + size == total
      let part = MessagePart(sequence: sequence, isFirst: count == 0, isLast: isLast, total: count == 0 ? total : nil)
      let outcome = try assembler.receive(part, byteCount: size)
      #expect(outcome == (count == 0 ? .begin(total: total) : isLast ? .finish : .append))
      count += size
      sequence += 1
    }
    #expect(assembler.received == sequence - 1)
    #expect(!assembler.isAssembling)
    #expect(throws: MessageAssembler.AssemblyError.tooManyBytes) {
      try assembler.receive(MessagePart(sequence: sequence, isFirst: true, isLast: true), byteCount: total + 1)
    }
  }
}

struct AcknowledgementTests {
  @Test("an acknowledgment is exactly one integer") func vectors() throws {
    for vector in SessionVectors.all.acknowledgements.valid {
      let bytes = unhex(vector.hex)
      #expect(try String(Acknowledgement.read(payload: bytes.span)) == vector.sequence)
      var written: [UInt8] = []
      Acknowledgement.append(try #require(UInt64(vector.sequence)), to: &written)
      #expect(written == bytes)
    }
    for vector in SessionVectors.all.acknowledgements.invalid {
      #expect(throws: MessagePart.DecodingError.malformed, "\(vector.name)") {
        try Acknowledgement.read(payload: vector.bytes.span)
      }
    }
  }
}

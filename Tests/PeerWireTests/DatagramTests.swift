import PeerTestKit
import PeerWire
import Testing

struct PacketHeaderTests {
  @Test("a header is encoded and decoded as in its vector", arguments: SessionVectors.all.datagrams.packets.valid)
  func valid(_ vector: SessionVectors.Datagrams.Packet) throws {
    let packet = unhex(vector.packet)
    let header = try PacketHeader.read(packet: packet.span)
    #expect(header.epoch == vector.epoch)
    #expect(String(header.counter) == vector.counter)
    var written: [UInt8] = []
    header.append(to: &written)
    #expect(hex(written) == vector.associatedData)
    #expect(written.count == PacketHeader.length)
  }

  @Test("[DGM-2] a packet with another length or version is rejected") func invalid() {
    var refused = 0
    for vector in SessionVectors.all.datagrams.packets.invalid {
      do {
        _ = try PacketHeader.read(packet: unhex(vector.packet).span)
        #expect(vector.error != "length" && vector.error != "version", "\(vector.name)")
      } catch {
        #expect(name(of: error) == vector.error, "\(vector.name)")
        refused += 1
      }
    }
    #expect(refused == 6)
  }
}

struct ReplayWindowTests {
  @Test("[DGM-3] a counter is accepted once", arguments: SessionVectors.all.datagrams.replay) func vectors(
    _ vector: SessionVectors.Datagrams.Replay
  ) throws {
    var window = ReplayWindow()
    for step in vector.steps {
      let counter = try #require(UInt64(step.counter))
      #expect(window.isFresh(counter) == step.taken, "\(counter)")
      #expect(window.take(counter) == step.taken, "\(counter)")
    }
  }

  @Test("[DGM-3] the window agrees with a set of all counters that were seen") func model() {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    var window = ReplayWindow()
    var seen: Set<UInt64> = []
    var greatest: UInt64?
    var near: UInt64 = 0
    for _ in 0..<50_000 {
      switch random.next() % 50 {
      case 0: near += random.next() % 10_000
      case 1...10: near += random.next() % 64
      default: break
      }
      let spread = random.next() % 3_000
      let counter = near + 3_000 - spread
      let isExpected = !seen.contains(counter) && greatest.map { counter > $0 || $0 - counter < 2_048 } ?? true
      guard window.take(counter) == isExpected else {
        Issue.record("seed \(seed): counter \(counter), greatest \(String(describing: greatest))")
        return
      }
      if isExpected { seen.insert(counter) }
      greatest = max(greatest ?? 0, isExpected ? counter : 0)
    }
    #expect(seen.count > 1_000, "seed \(seed)")
  }
}

struct DatagramContentTests {
  @Test("a content is encoded and decoded as in its vector", arguments: SessionVectors.all.datagrams.contents.valid)
  func valid(_ vector: SessionVectors.Datagrams.Content) throws {
    let bytes = unhex(vector.hex)
    var offset = 0
    let content = try DatagramContent.read(from: bytes.span, at: &offset)
    var written: [UInt8] = []
    content.append(to: &written)
    switch content {
    case .message:
      #expect(vector.kind == "message")
      written += bytes[offset...]
      #expect(hex(bytes[offset...]) == vector.bytes)
    case .piece(let piece):
      #expect(vector.kind == "piece")
      #expect(piece.id == vector.id && piece.index == vector.index && piece.count == vector.count)
      written += bytes[offset...]
      #expect(hex(bytes[offset...]) == vector.bytes)
    case .relayMessage:
      #expect(vector.kind == "relay-message")
      written += bytes[offset...]
      #expect(hex(bytes[offset...]) == vector.bytes)
    case .relayPiece(let piece):
      #expect(vector.kind == "relay-piece")
      #expect(piece.id == vector.id && piece.index == vector.index && piece.count == vector.count)
      written += bytes[offset...]
      #expect(hex(bytes[offset...]) == vector.bytes)
    case .probe(let value): #expect(vector.kind == "probe" && UInt64(vector.bytes, radix: 16) == value)
    case .answer(let value): #expect(vector.kind == "answer" && UInt64(vector.bytes, radix: 16) == value)
    }
    #expect(written == bytes)
  }

  @Test("[DGM-6] an invalid content is rejected", arguments: SessionVectors.all.datagrams.contents.invalid)
  func invalid(_ vector: SessionVectors.Invalid) {
    var offset = 0
    do {
      let content = try DatagramContent.read(from: vector.bytes.span, at: &offset)
      Issue.record("read as \(content)")
    } catch { #expect(name(of: error) == vector.error) }
  }

  @Test("[DGM-6] a message is split as in its vector, and assembled from pieces in any order") func cuts() throws {
    for vector in SessionVectors.all.datagrams.cuts.valid {
      let message = (0..<vector.length).map { UInt8($0 % 251) }
      let cut = try DatagramCut(byteCount: message.count, id: vector.id)
      #expect(cut.count == vector.packets.count)
      var plaintexts: [[UInt8]] = []
      for (packet, expected) in zip(cut, vector.packets) {
        var plaintext: [UInt8] = []
        packet.content.append(to: &plaintext)
        #expect(hex(plaintext) == expected.head)
        plaintext += message[packet.range]
        #expect(plaintext.count == expected.plaintextLength)
        #expect(PacketHeader.length + plaintext.count + PacketHeader.tagLength <= Limits.packet)
        plaintexts.append(plaintext)
      }
      guard cut.count > 1 else { continue }
      var assembler = DatagramAssembler()
      for (index, plaintext) in plaintexts.shuffled().enumerated() {
        let outcome = try receive(plaintext, into: &assembler, now: 0)
        #expect(outcome == (index == cut.count - 1 ? .complete(message) : .incomplete))
      }
      #expect(assembler.count == 0 && assembler.heldBytes == 0)
    }
    #expect(throws: DatagramCut.TooLong.self) { try DatagramCut(byteCount: 65_537, id: 0) }
  }
}

private func receive(_ plaintext: [UInt8], into assembler: inout DatagramAssembler, now: UInt64) throws
  -> DatagramAssembler.Outcome
{
  var offset = 0
  guard case .piece(let piece) = try DatagramContent.read(from: plaintext.span, at: &offset) else {
    preconditionFailure("not a piece")
  }
  return assembler.receive(piece, bytes: Array(plaintext[offset...]).span, now: now)
}

struct DatagramAssemblerTests {
  @Test("[DGM-7] pieces are assembled within the limits", arguments: SessionVectors.all.datagrams.assembly)
  func vectors(_ vector: SessionVectors.Datagrams.Assembly) throws {
    var assembler = DatagramAssembler()
    for (number, step) in vector.steps.enumerated() {
      let outcome = try receive(unhex(step.hex), into: &assembler, now: step.milliseconds)
      let found: String
      switch outcome {
      case .incomplete: found = "incomplete"
      case .duplicate: found = "duplicate"
      case .contradiction: found = "contradiction"
      case .complete: found = "complete"
      }
      #expect(found == step.outcome, "step \(number)")
    }
  }

  @Test("[DGM-7] a stranger's pieces never occupy more than 32 messages") func bounded() {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    var assembler = DatagramAssembler()
    let full = [UInt8](repeating: 1, count: Limits.datagramPiece)
    var greatest = 0
    for now in 0..<20_000 {
      let piece = DatagramPiece(id: UInt32(random.next() % 40), index: UInt8(random.next() % 59), count: 60)
      _ = assembler.receive(piece, bytes: full.span, now: UInt64(now))
      #expect(assembler.count <= 32)
      greatest = max(greatest, assembler.heldBytes)
    }
    #expect(greatest > 0 && greatest <= 32 * Limits.datagramMessage, "seed \(seed)")
    assembler.expire(now: 22_000)
    #expect(assembler.count == 0 && assembler.heldBytes == 0)
  }

  @Test("a clock that goes back neither drops pieces nor traps") func timeGoesBack() {
    var assembler = DatagramAssembler()
    let piece = DatagramPiece(id: 1, index: 1, count: 2)
    #expect(assembler.receive(piece, bytes: [1].span, now: 5_000) == .incomplete)
    #expect(assembler.receive(piece, bytes: [1].span, now: 0) == .duplicate)
    #expect(assembler.count == 1)
  }
}

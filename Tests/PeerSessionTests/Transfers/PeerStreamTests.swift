import NIOCore
import PeerCore
import PeerDiscovery
import PeerTestKit
import PeerWire
import Testing

@testable import PeerSession

@Suite("Byte streams", .timeLimit(.minutes(5))) struct PeerStreamTests {
  private static func readAll(_ stream: PeerStream) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    for try await piece in stream.inbound { bytes += piece }
    return bytes
  }

  @Test("[STR-1] bytes arrive in order in both directions at once, in writes of any length") func order() async throws {
    try await BulkTestBed.run { bed in
      let ours = try await bed.sender.openStream(named: "ink")
      let theirs = try await bed.receiverEvents.nextStream()
      #expect(theirs.name.raw == "ink")
      #expect(theirs.id == ours.id)
      #expect(theirs.peer == BulkTestBed.senderID)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (seed, writer, reader) in [(UInt64(1), ours, theirs), (2, theirs, ours)] {
          let bytes = seededBytes(5_000_000, seed: seed)
          group.addTask {
            var generator = SeededGenerator(seed: seed)
            var rest = bytes[...]
            while !rest.isEmpty {
              let count = Int.random(in: 0...400_000, using: &generator)
              try await writer.write(Array(rest.prefix(count)))
              rest = rest.dropFirst(count)
            }
            try await writer.finish()
          }
          group.addTask {
            let received = try await Self.readAll(reader)
            #expect(received == bytes, "seed \(seed)")
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test("[STR-2] a reader that stops makes the writer wait, and nothing is lost") func backPressure() async throws {
    try await BulkTestBed.run { bed in
      let ours = try await bed.sender.openStream(named: "s")
      let theirs = try await bed.receiverEvents.nextStream()
      let written = Locked(0)
      let total = 200
      let piece = [UInt8](repeating: 7, count: 1_000_000)
      let writer = Task {
        for _ in 0..<total {
          try await ours.write(piece)
          written.withLock { $0 += piece.count }
        }
        try await ours.finish()
      }
      // The local side is full and the other side holds data, so only the reader can make progress.
      await eventually { ours.core.waitingBytes >= BulkWriter.limit && theirs.core.heldBytes >= StreamCore.heldLimit }
      let before = written.withLock { $0 }
      for _ in 0..<10_000 { await Task.yield() }
      let sent = written.withLock { $0 }
      print("written before the writer had to wait: \(sent), a moment before: \(before)")
      // The receiver holds 1 MiB, 1 MiB waits at the sender, and the rest is in the two buffers of the system.
      #expect(sent < 60_000_000)
      #expect(theirs.core.heldBytes <= Limits.streamHeld)
      #expect(ours.core.waitingBytes < BulkWriter.limit + 300_000)
      var count = 0
      for try await bytes in theirs.inbound { count += bytes.count }
      #expect(count == total * piece.count)
      try await writer.value
    }
  }

  @Test("each direction ends on its own, and the link is reused after both") func halfClose() async throws {
    try await BulkTestBed.run { bed in
      for isOursFirst in [true, false] {
        let ours = try await bed.sender.openStream(named: "s")
        let theirs = try await bed.receiverEvents.nextStream()
        let (first, second) = isOursFirst ? (ours, theirs) : (theirs, ours)
        try await first.write([1, 2])
        try await first.finish()
        #expect(try await Self.readAll(second) == [1, 2])
        await #expect(throws: SessionError(.sessionEnded, "")) { try await first.write([3]) }
        try await first.finish()
        try await second.write([4])
        try await second.finish()
        #expect(try await Self.readAll(first) == [4])
        await eventually { bed.sender.idleLinkCount == 1 }
      }
      try await bed.expectArrival([1, 2, 3])
      #expect(bed.links.opened == 1)
    }
  }

  @Test("a reset by either side ends both directions on both sides, with its code") func reset() async throws {
    try await BulkTestBed.run { bed in
      for isOurs in [true, false] {
        let ours = try await bed.sender.openStream(named: "s")
        let theirs = try await bed.receiverEvents.nextStream()
        let (one, other) = isOurs ? (ours, theirs) : (theirs, ours)
        one.reset(code: .max)
        await #expect(throws: SessionError(.reset, "")) { try await Self.readAll(other) }
        await #expect(throws: SessionError(.reset, "")) { try await other.write([1]) }
        await #expect(throws: SessionError(.reset, "")) { try await Self.readAll(one) }
        await #expect(throws: SessionError(.reset, "")) { try await one.write([1]) }
        await #expect(throws: SessionError(.reset, "")) { try await one.finish() }
        #expect(other.resetCode == .max)
        await eventually { bed.sender.linkCount == 0 && bed.receiver.linkCount == 0 }
      }
    }
  }

  @Test("a reader that stopped does not delay a reset") func resetWhileBlocked() async throws {
    try await BulkTestBed.run { bed in
      let ours = try await bed.sender.openStream(named: "s")
      let theirs = try await bed.receiverEvents.nextStream()
      let writer = Task { while true { try await ours.write([UInt8](repeating: 1, count: 500_000)) } }
      await eventually { ours.core.waitingBytes >= BulkWriter.limit }
      ours.reset(code: 3)
      await #expect(throws: SessionError(.reset, "")) { try await writer.value }
      await eventually { bed.sender.linkCount == 0 }
      theirs.reset(code: 4)
      await eventually { bed.receiver.linkCount == 0 }
    }
  }

  @Test("[STR-1] a broken link ends the stream with an error on both sides") func linkLost() async throws {
    try await BulkTestBed.run { bed in
      bed.links.cut(after: [300_000])
      let ours = try await bed.sender.openStream(named: "s")
      let theirs = try await bed.receiverEvents.nextStream()
      await #expect(throws: SessionError(.linkLost, "")) {
        while true { try await ours.write([UInt8](repeating: 1, count: 10_000)) }
      }
      await #expect(throws: SessionError(.linkLost, "")) { try await Self.readAll(ours) }
      await #expect(throws: SessionError(.linkLost, "")) { try await Self.readAll(theirs) }
      await #expect(throws: SessionError(.linkLost, "")) { try await theirs.write([1]) }
    }
  }

  @Test("the streams of a lost peer end with that error") func peerLost() async throws {
    try await BulkTestBed.run { bed in
      let ours = try await bed.sender.openStream(named: "s")
      bed.sender.close(SessionError(.kicked, "out"))
      await #expect(throws: SessionError(.kicked, "")) { try await Self.readAll(ours) }
      await #expect(throws: SessionError(.kicked, "")) { try await ours.write([1]) }
      await #expect(throws: SessionError(.kicked, "")) { try await bed.sender.openStream(named: "s") }
    }
  }

  @Test("a canceled read loses nothing; a write that is canceled midway resets the stream") func cancellation()
    async throws
  {
    try await BulkTestBed.run { bed in
      let ours = try await bed.sender.openStream(named: "s")
      let theirs = try await bed.receiverEvents.nextStream()
      for _ in 0..<50 {
        let reader = Task { try await Self.readAll(theirs) }
        await Task.yield()
        reader.cancel()
        await #expect(throws: SessionError.cancelled) { try await reader.value }
      }
      try await ours.write([1, 2, 3])
      var iterator = theirs.inbound.makeAsyncIterator()
      #expect(try await iterator.next() == [1, 2, 3])
      let writer = Task { try await ours.write([UInt8](repeating: 1, count: 100_000_000)) }
      await eventually { ours.core.waitingBytes >= BulkWriter.limit }
      writer.cancel()
      await #expect(throws: SessionError.self) { try await writer.value }
      await #expect(throws: SessionError(.reset, "")) { try await ours.write([1]) }
    }
  }

  @Test("writes of several tasks do not mix") func writesDoNotMix() async throws {
    try await BulkTestBed.run { bed in
      let ours = try await bed.sender.openStream(named: "s")
      let theirs = try await bed.receiverEvents.nextStream()
      let reader = Task { try await Self.readAll(theirs) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for value in UInt8(1)...8 {
          group.addTask { try await ours.write([UInt8](repeating: value, count: 1_500_000)) }
        }
        try await group.waitForAll()
      }
      try await ours.finish()
      let bytes = try await reader.value
      #expect(bytes.count == 12_000_000)
      let borders = zip(bytes, bytes.dropFirst()).filter { $0 != $1 }.count
      #expect(borders == 7)
    }
  }

  @Test("releasing an unfinished stream resets it; releasing a finished one does not") func letGo() async throws {
    try await BulkTestBed.run { bed in
      do {
        let ours = try await bed.sender.openStream(named: "dropped")
        try await ours.write([1])
      }
      let dropped = try await bed.receiverEvents.nextStream()
      await #expect(throws: SessionError(.reset, "")) { try await Self.readAll(dropped) }
      do {
        let ours = try await bed.sender.openStream(named: "sent")
        try await ours.write(seededBytes(3_000_000, seed: 1))
        try await ours.finish()
      }
      let sent = try await bed.receiverEvents.nextStream()
      #expect(try await Self.readAll(sent).count == 3_000_000)
      try await sent.write([UInt8](repeating: 1, count: 3_000_000))
      try await sent.finish()
      await eventually { bed.sender.idleLinkCount == 1 }
    }
  }

  @Test("releasing a stream that was read to its end finishes it") func letGoAfterEnd() async throws {
    try await BulkTestBed.run { bed in
      let ours = try await bed.sender.openStream(named: "s")
      try await ours.finish()
      do {
        let theirs = try await bed.receiverEvents.nextStream()
        #expect(try await Self.readAll(theirs) == [])
      }
      #expect(try await Self.readAll(ours) == [])
    }
  }

  @Test("[STR-3] twenty-four streams run at once, and one more is refused locally") func many() async throws {
    try await BulkTestBed.run { bed in
      var streams: [PeerStream] = []
      for number in 0..<Limits.streams { streams.append(try await bed.sender.openStream(named: "\(number)")) }
      await #expect(throws: SessionError(.busy, "")) { try await bed.sender.openStream(named: "more") }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for stream in streams {
          let theirs = try await bed.receiverEvents.nextStream()
          group.addTask {
            try await stream.write(seededBytes(300_000, seed: 1))
            try await stream.finish()
          }
          group.addTask {
            let received = try await Self.readAll(theirs)
            #expect(received == seededBytes(300_000, seed: 1))
            try await theirs.finish()
          }
        }
        try await group.waitForAll()
      }
      _ = try await bed.sender.openStream(named: "again")
    }
  }

  @Test("names over 1,024 bytes or with NUL are refused") func names() async throws {
    try await BulkTestBed.run { bed in
      for name in [String(repeating: "n", count: 1_025), "a\0"] {
        await #expect(throws: SessionError(.invalidName, "")) { try await bed.sender.openStream(named: name) }
      }
      let ours = try await bed.sender.openStream(named: String(repeating: "n", count: 1_024))
      let theirs = try await bed.receiverEvents.nextStream()
      #expect(theirs.name.raw.utf8.count == 1_024)
      withExtendedLifetime(ours) {}
    }
  }

  @Test("if a control link was replaced, the idle bulk links are dropped") func reconnected() async throws {
    try await BulkTestBed.run { bed in
      try await bed.expectArrival([1])
      await eventually { bed.sender.idleLinkCount == 1 }
      bed.sender.reconnected()
      await eventually { bed.sender.linkCount == 0 && bed.receiver.linkCount == 0 }
      try await bed.expectArrival([2])
      #expect(bed.links.opened == 2)
    }
  }
}

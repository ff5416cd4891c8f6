import Crypto
import NIOCore
import PeerCore
import PeerDiscovery
import PeerTestKit
import PeerWire
import Testing

@testable import PeerSession

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

@Suite("Bulk links with a peer that breaks the rules", .timeLimit(.minutes(5))) struct HostileBulkTests {
  private static func offer(_ size: Int, id: TransferID = .random(), name: String = "x", modified: Int? = nil)
    -> Control.ResourceOffer
  { Control.ResourceOffer(id: id, name: UntrustedText(name), size: size, modified: modified) }

  private static func hash(_ bytes: [UInt8]) -> String { hexadecimal(SHA256.hash(data: bytes)) }

  /// Offers a resource and starts it at 0.
  private static func start(_ raw: RawPeer, _ offer: Control.ResourceOffer) async throws {
    try await raw.send(offer)
    let accept = try await raw.next(Control.ResourceAccept.self)
    #expect(accept == Control.ResourceAccept(id: offer.id, offset: 0, prefix: nil))
    try await raw.send(Control.ResourceStart(id: offer.id, offset: 0))
  }

  @Test("[RES-3] a wrong hash discards everything; the link stays usable after both CANCELs") func wrongHash()
    async throws
  {
    try await BulkTestBed.run { bed in
      let raw = try await bed.links.raw()
      let bad = Self.offer(3)
      try await Self.start(raw, bad)
      try await raw.send(.chunk, [1, 2, 3])
      try await raw.send(Control.ResourceEnd(id: bad.id, sha256: Self.hash([1, 2, 4])))
      let cancel = try await raw.next(Control.ResourceCancel.self)
      #expect(cancel.code == .hashMismatch)
      await eventually { bed.partials.isEmpty }
      #expect(bed.delivered.isEmpty)
      try await raw.send(Control.ResourceCancel(id: bad.id, code: .hashMismatch, message: ""))
      let good = Self.offer(3)
      try await Self.start(raw, good)
      try await raw.send(.chunk, [1, 2, 3])
      try await raw.send(Control.ResourceEnd(id: good.id, sha256: Self.hash([1, 2, 3])))
      #expect(try await raw.next(Control.ResourceDone.self).id == good.id)
      await raw.close()
    }
  }

  @Test("[RES-3] a file with more or fewer bytes than offered is discarded") func wrongSize() async throws {
    try await BulkTestBed.run { bed in
      for count in [2, 4, 100_000] {
        let raw = try await bed.links.raw()
        let offer = Self.offer(3)
        try await Self.start(raw, offer)
        let bytes = [UInt8](repeating: 1, count: count)
        for piece in stride(from: 0, to: count, by: 50_000) {
          try await raw.send(.chunk, Array(bytes[piece..<min(piece + 50_000, count)]))
        }
        try await raw.send(Control.ResourceEnd(id: offer.id, sha256: Self.hash(bytes)))
        #expect(try await raw.next(Control.ResourceCancel.self).code == .sizeMismatch)
        await #expect(throws: SessionError(.hashMismatch, "")) { try await bed.receiverEvents.result(of: offer.id) }
        #expect(bed.partials.isEmpty)
        await raw.close()
      }
      #expect(bed.delivered.isEmpty)
    }
  }

  @Test("an offer of the maximum size is refused because of the quota, and allocates nothing") func greatestSize()
    async throws
  {
    try await BulkTestBed.run { bed in
      let raw = try await bed.links.raw()
      try await raw.send(Self.offer(maximumControlInteger))
      #expect(try await raw.next(Control.ResourceCancel.self).code == .quota)
      #expect(bed.partials.isEmpty)
      await raw.close()
    }
  }

  @Test("[RES-6] a ninth concurrent offer is canceled with busy") func tooManyOffers() async throws {
    try await BulkTestBed.run(time: BulkTime(ManualClock())) { bed in
      var raws: [RawPeer] = []
      for _ in 0..<Limits.resources {
        let raw = try await bed.links.raw()
        try await Self.start(raw, Self.offer(10))
        raws.append(raw)
      }
      let raw = try await bed.links.raw()
      try await raw.send(Self.offer(10))
      #expect(try await raw.next(Control.ResourceCancel.self).code == .busy)
      await raws[0].close()
      await eventually { bed.receiver.linkCount == Limits.resources }
      try await Self.start(raw, Self.offer(10))
      for raw in raws + [raw] { await raw.close() }
    }
  }

  @Test("[STR-3] a 25th concurrent stream is reset with code 1") func tooManyStreams() async throws {
    try await BulkTestBed.run { bed in
      var raws: [RawPeer] = []
      for _ in 0..<Limits.streams {
        let raw = try await bed.links.raw()
        try await raw.send(Control.StreamOpen(id: .random(), name: UntrustedText("s")))
        raws.append(raw)
      }
      await bed.receiverEvents.wait { $0.streams.count == Limits.streams }
      let raw = try await bed.links.raw()
      try await raw.send(Control.StreamOpen(id: .random(), name: UntrustedText("s")))
      #expect(try await raw.next(Control.StreamReset.self).code == 1)
      #expect(await raw.next() == nil)
      for raw in raws { await raw.close() }
    }
  }

  @Test("an id is never used for two files, and a delivered file is not sent again") func usedIDs() async throws {
    try await BulkTestBed.run { bed in
      let raw = try await bed.links.raw()
      let first = Self.offer(3, name: "one")
      try await Self.start(raw, first)
      try await raw.send(.chunk, [1, 2, 3])
      try await raw.send(Control.ResourceEnd(id: first.id, sha256: Self.hash([1, 2, 3])))
      _ = try await raw.next(Control.ResourceDone.self)

      // The sender missed DONE and asks again.
      try await raw.send(first)
      let accept = try await raw.next(Control.ResourceAccept.self)
      #expect(accept.offset == 3)
      #expect(accept.prefix == Self.hash([1, 2, 3]))
      try await raw.send(Control.ResourceStart(id: first.id, offset: 3))
      try await raw.send(Control.ResourceEnd(id: first.id, sha256: Self.hash([1, 2, 3])))
      _ = try await raw.next(Control.ResourceDone.self)

      // Another file under the same id.
      try await raw.send(Self.offer(3, id: first.id, name: "two"))
      #expect(try await raw.next(Control.ResourceCancel.self).code == .refused)
      try await raw.send(first)
      _ = try await raw.next(Control.ResourceAccept.self)
      try await raw.send(Control.ResourceStart(id: first.id, offset: 0))
      #expect(try await raw.next(Control.ResourceCancel.self).code == .refused)

      #expect(bed.receiverEvents.finished.count == 1)
      #expect(bed.delivered == [first.id.text])
      #expect(try TemporaryDirectory.read(bed.inboxPath + "/" + first.id.text) == [1, 2, 3])
      await raw.close()
    }
  }

  @Test("a peer cannot reach the unfinished transfer of another peer") func othersPart() async throws {
    let directory = try TemporaryDirectory()
    let inbox = try await ResourceInbox.open(directory: directory.path + "/inbox", quota: .whole(1 << 30))
    let offer = Self.offer(1_000, name: "photo", modified: 77)
    let admission = try await inbox.admit(offer, .init(peer: peerID(1))) { false }
    let file = try #require(admission.file)
    let bytes = [UInt8](repeating: 1, count: 500)
    let hash = try file.write([ByteBuffer(bytes: bytes)], at: 0, after: SHA256())
    await inbox.storePartial(offer.id, written: 500, hash: hash)

    await #expect(throws: SessionError(.declined, "")) {
      try await inbox.admit(offer, .init(peer: peerID(2))) { false }
    }
    let other = Self.offer(1_000, name: "photo", modified: 77)
    let fresh = try await inbox.admit(other, .init(peer: peerID(2))) { false }
    #expect(fresh.offset == 0)
    for (name, size, modified) in [("photo", 1_000, nil), ("foto", 1_000, 77), ("photo", 999, 77)] {
      let different = Self.offer(size, name: name, modified: modified)
      #expect(try await inbox.admit(different, .init(peer: peerID(1))) { false }.offset == 0)
    }
    let resumed = try await inbox.admit(Self.offer(1_000, name: "photo", modified: 77), .init(peer: peerID(1))) {
      false
    }
    #expect(resumed.offset == 500)
    #expect(resumed.hash.text == Self.hash(bytes))
  }

  @Test("symbolic links in the inbox are not followed") func symbolicLinks() async throws {
    try await BulkTestBed.run { bed in
      let outside = try bed.directory.file("outside", [9, 9, 9])
      let offer = Self.offer(3)
      #expect(symlink(outside, bed.inboxPath + "/.partial/" + offer.id.text) == 0)
      let raw = try await bed.links.raw()
      try await Self.start(raw, offer)
      try await raw.send(.chunk, [1, 2, 3])
      try await raw.send(Control.ResourceEnd(id: offer.id, sha256: Self.hash([1, 2, 3])))
      _ = try await raw.next(Control.ResourceDone.self)
      #expect(try TemporaryDirectory.read(outside) == [9, 9, 9])
      var status = stat()
      #expect(lstat(bed.inboxPath + "/" + offer.id.text, &status) == 0)
      #expect(status.st_mode & S_IFMT == S_IFREG)
      await raw.close()
    }
  }

  @Test("an offer of the same id by a restarted sender takes over from a link that is dead") func takesOver()
    async throws
  {
    try await BulkTestBed.run { bed in
      let old = try await bed.links.raw()
      let offer = Self.offer(6)
      try await Self.start(old, offer)
      try await old.send(.chunk, [1, 2, 3])
      await bed.receiverEvents.wait { !$0.progress.isEmpty }
      let new = try await bed.links.raw()
      try await new.send(offer)
      let accept = try await new.next(Control.ResourceAccept.self)
      #expect(accept.offset == 3)
      try await new.send(Control.ResourceStart(id: offer.id, offset: 3))
      try await new.send(.chunk, [4, 5, 6])
      try await new.send(Control.ResourceEnd(id: offer.id, sha256: Self.hash([1, 2, 3, 4, 5, 6])))
      _ = try await new.next(Control.ResourceDone.self)
      #expect(await old.next() == nil)
      #expect(bed.receiverEvents.started.count == 1)
      await new.close()
    }
  }

  enum LinkState: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case idle
    case accepted
    case receiving
    case cancelling
    case delivered
    case stream
    case halfClosed

    var testDescription: String { rawValue }

    var allowed: Set<FrameType> {
      switch self {
      case .idle: [.close, .resourceOffer, .streamOpen, .resourceCancel]
      case .accepted: [.close, .resourceStart, .resourceCancel]
      case .receiving: [.close, .chunk, .resourceEnd, .resourceCancel]
      case .cancelling: [.close, .resourceStart, .chunk, .resourceEnd, .resourceCancel]
      case .delivered: [.close, .resourceOffer, .streamOpen, .resourceCancel]
      case .stream: [.close, .streamData, .streamFin, .streamReset]
      case .halfClosed: [.close, .streamReset]
      }
    }
  }

  @Test(
    "[FRM-4] a frame that is not allowed in a state closes only its link, with protocol-error",
    arguments: LinkState.allCases
  ) func anyFrameInAnyState(state: LinkState) async throws {
    try await BulkTestBed.run { bed in
      for type in FrameType.allCases {
        let raw = try await bed.links.raw()
        let id = TransferID.random()
        let offer = Self.offer(10, id: id)
        var streams: [PeerStream] = []
        switch state {
        case .idle: break
        case .accepted:
          try await raw.send(offer)
          _ = try await raw.next(Control.ResourceAccept.self)
        case .receiving: try await Self.start(raw, offer)
        case .cancelling:
          try await Self.start(raw, offer)
          try await raw.send(.chunk, [UInt8](repeating: 0, count: 11))
          _ = try await raw.next(Control.ResourceCancel.self)
        case .delivered:
          try await Self.start(raw, offer)
          try await raw.send(.chunk, [UInt8](repeating: 0, count: 10))
          try await raw.send(Control.ResourceEnd(id: id, sha256: Self.hash([UInt8](repeating: 0, count: 10))))
          _ = try await raw.next(Control.ResourceDone.self)
        case .stream, .halfClosed:
          try await raw.send(Control.StreamOpen(id: id, name: UntrustedText("s")))
          streams.append(try await bed.receiverEvents.nextStream())
          if state == .halfClosed { try await raw.send(.streamFin) }
        }
        let payload: [UInt8]
        switch type {
        case .resourceOffer: payload = Self.offer(10).encoded()
        case .resourceAccept: payload = Control.ResourceAccept(id: .random(), offset: 0, prefix: nil).encoded()
        case .resourceStart: payload = Control.ResourceStart(id: id, offset: 0).encoded()
        case .resourceEnd: payload = Control.ResourceEnd(id: id, sha256: Self.hash([])).encoded()
        case .resourceDone: payload = Control.ResourceDone(id: .random()).encoded()
        case .resourceCancel: payload = Control.ResourceCancel(id: id, code: .cancelled, message: "").encoded()
        case .streamOpen: payload = Control.StreamOpen(id: .random(), name: UntrustedText("s")).encoded()
        case .streamReset: payload = Control.StreamReset(id: id, code: 7, message: "").encoded()
        case .close: payload = Control.Close(.left, "").encoded()
        case .chunk, .streamData: payload = [1]
        case .streamFin: payload = []
        default: payload = Array("{}".utf8)
        }
        try await raw.send(type, payload)
        if state.allowed.contains(type) {
          // The frame itself is valid; the garbage after it closes the link.
          if ![.close, .streamReset].contains(type) {
            try await raw.send(.hello)
            #expect(try await raw.closeCode() == .protocolError, "\(type) in \(state)")
          }
        } else {
          #expect(try await raw.closeCode() == .protocolError, "\(type) in \(state)")
        }
        await raw.close()
        withExtendedLifetime(streams) {}
        await eventually { bed.receiver.linkCount == 0 }
      }
      // The peer is not affected.
      try await bed.expectArrival(seededBytes(300_000, seed: 1))
    }
  }

  @Test(
    "[FRM-4] payloads that do not decode close the link",
    arguments: [
      "", "{", "[]", "{}", #"{"id":"x","name":"","size":1}"#,
      #"{"id":"../../../../../../etc/pass","name":"","size":1}"#,
      #"{"id":"aaaaaaaaaaaaaaaaaaaaaaaaaa","name":"","size":-1}"#,
      #"{"id":"aaaaaaaaaaaaaaaaaaaaaaaaaa","name":"","size":9007199254740992}"#,
      #"{"id":"aaaaaaaaaaaaaaaaaaaaaaaaaa","name":"","size":1.5}"#,
      #"{"id":"aaaaaaaaaaaaaaaaaaaaaaaaaa","name":"a\u0000b","size":1}"#,
      #"{"id":"aaaaaaaaaaaaaaaaaaaaaaaaaa","name":7,"size":1}"#,
      #"{"id":"aaaaaaaaaaaaaaaaaaaaaaaaaa","name":"","size":1,"size":2}"#,
      #"{"id":"aaaaaaaaaaaaaaaaaaaaaaaaaa","name":""# + String(repeating: "n", count: 16_385) + #"","size":1}"#,
    ]
  ) func badOffers(json: String) async throws {
    try await BulkTestBed.run { bed in
      let raw = try await bed.links.raw()
      try await raw.send(.resourceOffer, Array(json.utf8))
      #expect(try await raw.closeCode() == .protocolError)
      #expect(bed.partials.isEmpty)
    }
  }

  @Test("framing errors close with their codes") func badFrames() async throws {
    try await BulkTestBed.run { bed in
      for (bytes, code): ([UInt8], CloseCode) in [
        ([0x50, 0x81, 0x80, 0x04], .tooLarge), ([0x50, 0x80, 0x00], .protocolError), ([0x60, 0x00], .unknownFrame),
        ([0x50, 0x00], .protocolError), ([0x51, 0x00], .protocolError), ([0x52, 0x01, 0x00], .protocolError),
      ] {
        let raw = try await bed.links.raw()
        try await raw.send(raw: bytes)
        #expect(try await raw.closeCode() == code)
      }
    }
  }

  @Test("seeded garbage after a good start closes at most its link") func garbage() async throws {
    try await BulkTestBed.run { bed in
      for seed in UInt64(1)...60 {
        var generator = SeededGenerator(seed: seed)
        let raw = try await bed.links.raw()
        if seed % 3 == 0 { try await Self.start(raw, Self.offer(1_000_000)) }
        if seed % 3 == 1 { try await raw.send(Control.StreamOpen(id: .random(), name: UntrustedText("s"))) }
        for _ in 0..<20 {
          let types = FrameType.allCases
          let type = types[Int.random(in: 0..<types.count, using: &generator)]
          let count = Int.random(in: 0...300, using: &generator)
          do { try await raw.send(type, seededBytes(count, seed: generator.next())) } catch { break }
        }
        await raw.close()
      }
      await eventually { bed.receiver.linkCount == 0 }
      try await bed.expectArrival(seededBytes(300_000, seed: 1))
    }
  }

  // MARK: A receiver that breaks the rules

  private static func send(_ script: @escaping @Sendable (RawPeer) async throws -> Void) async throws -> SessionError? {
    let directory = try TemporaryDirectory()
    let (raws, continuation) = AsyncStream.makeStream(of: RawPeer.self)
    let links = try await LoopbackLinks.listen { continuation.yield(try RawPeer($0)) }
    let inbox = try await ResourceInbox.open(directory: directory.path + "/inbox", quota: .whole(1))
    let endpoint = BulkEndpoint(peer: peerID(2), inbox: inbox, links: links, events: RecordedEvents())
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await endpoint.run() }
      let path = try directory.file("file", seededBytes(300_000, seed: 1))
      let transfer = try endpoint.sendResource(atPath: path, named: "file")
      var failure: SessionError?
      do {
        for await raw in raws {
          try await script(raw)
          break
        }
        _ = try await transfer.result()
      } catch let error as SessionError { failure = error }
      endpoint.close(SessionError(.left, ""))
      try await group.waitForAll()
      try await links.close()
      return failure
    }
  }

  @Test("wrong answers of a receiver end the transfer with an error", arguments: 0..<9) func wrongAnswers(which: Int)
    async throws
  {
    let error = try await Self.send { raw in
      let offer = try await raw.next(Control.ResourceOffer.self)
      let hash = Self.hash([])
      switch which {
      case 0: try await raw.send(Control.ResourceAccept(id: .random(), offset: 0, prefix: nil))
      case 1: try await raw.send(Control.ResourceAccept(id: offer.id, offset: 300_001, prefix: hash))
      case 2: try await raw.send(Control.ResourceDone(id: offer.id))
      case 3: try await raw.send(Control.ResourceStart(id: offer.id, offset: 0))
      case 4: try await raw.send(.chunk, [1])
      case 5: try await raw.send(offer)
      case 6:
        try await raw.send(Control.ResourceAccept(id: offer.id, offset: 0, prefix: nil))
        try await raw.send(Control.ResourceAccept(id: offer.id, offset: 0, prefix: nil))
      case 7: try await raw.send(Control.StreamOpen(id: .random(), name: UntrustedText("")))
      default: try await raw.send(.resourceAccept, Array("{}".utf8))
      }
      while let frame = await raw.next() {
        if frame.type == .resourceCancel {
          try await raw.send(Control.ResourceCancel(id: offer.id, code: .cancelled, message: ""))
        }
      }
    }
    #expect(error == SessionError(.protocolError, ""))
  }

  @Test("a receiver with a wrong partial file gets the whole file; one with a right one gets the rest") func prefixes()
    async throws
  {
    let bytes = seededBytes(300_000, seed: 1)
    for isRight in [true, false] {
      let error = try await Self.send { raw in
        let offer = try await raw.next(Control.ResourceOffer.self)
        let prefix = Self.hash(isRight ? Array(bytes[..<1_000]) : [])
        try await raw.send(Control.ResourceAccept(id: offer.id, offset: 1_000, prefix: prefix))
        let start = try await raw.next(Control.ResourceStart.self)
        #expect(start.offset == (isRight ? 1_000 : 0))
        var received: [UInt8] = []
        while let frame = await raw.next() {
          if frame.type == .resourceEnd {
            #expect(try Control.ResourceEnd.decode(frame).sha256 == Self.hash(bytes))
            break
          }
          #expect(frame.type == .chunk)
          received += frame.bytes
        }
        #expect(received == Array(bytes[start.offset...]))
        try await raw.send(Control.ResourceDone(id: offer.id))
      }
      #expect(error == nil)
    }
  }

  @Test("each code in a receiver's CANCEL is reported to the sender", arguments: Control.ResourceCode.allCases)
  func cancelCodes(code: Control.ResourceCode) async throws {
    let error = try await Self.send { raw in
      let offer = try await raw.next(Control.ResourceOffer.self)
      try await raw.send(Control.ResourceCancel(id: offer.id, code: code, message: "\u{1B}[2Jwhy"))
      let answer = try await raw.next(Control.ResourceCancel.self)
      #expect(answer.id == offer.id)
    }
    let expected: SessionError.Code =
      switch code {
      case .cancelled: .transferCancelled
      case .refused: .declined
      case .busy: .busy
      case .sourceChanged: .sourceChanged
      case .sourceUnreadable: .sourceUnreadable
      case .diskFull: .diskFull
      case .quota: .quota
      case .hashMismatch, .sizeMismatch: .hashMismatch
      case .ioError: .system
      }
    #expect(error?.code == expected)
    #expect(error?.message.utf8.contains(0x1B) == false)
  }
}

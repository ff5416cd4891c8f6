import FoundationEssentials
import PeerCore
import PeerSession
import Testing

@testable import WhiteboardKit

/// Watches broadcasts over real sessions, in which the broadcaster sends whatever a test wants.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BroadcastWatcherTests: BoardSuite {
  private static let size = FrameSize(width: 4, height: 2) ?? .fullHD
  private static let start = BroadcastRecord.start(BroadcastFormat(size: size, rate: 10, codec: .raw))

  /// Runs a broadcaster, which calls `script` with each stream and its number, and a viewer.
  private func withBroadcaster(
    _ script: @escaping @Sendable (PeerStream, Int) async throws -> Void,
    _ body: @escaping @Sendable (Session, PeerID) async throws -> Void
  ) async throws {
    func configuration(_ name: String, in room: BoardRoom) throws -> TransportConfiguration {
      try FileManager.default.createDirectory(
        atPath: room.path(name),
        withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700]
      )
      var configuration = TransportConfiguration(
        identity: .ephemeral(),
        displayName: name,
        inboxDirectory: room.path(name)
      )
      configuration.listen = PeerAddress(host: "127.0.0.1", port: 0)
      configuration.stepTimeout = .seconds(60)
      return configuration
    }
    try await withRoom { room in
      let (hosting, joining) = (try configuration("host", in: room), try configuration("viewer", in: room))
      try await PeerTransport.withTransport(hosting) { host in
        let session = try await host.host(.random(), admission: .anyone)
        try await PeerTransport.withTransport(joining) { viewer in
          let request = JoinRequest(
            session: session.id,
            addresses: [PeerAddress(host: "127.0.0.1", port: host.port)],
            peer: host.peerID,
            trust: .pinnedByLink
          )
          let joined = try await viewer.join(request) { _ in true }
          await withTaskGroup(of: Void.self) { group in
            group.addTask {
              await withDiscardingTaskGroup { streams in
                var number = 0
                for await event in session.events {
                  guard case .streamOpened(let stream) = event else { continue }
                  number += 1
                  streams.addTask { [number] in try? await script(stream, number) }
                }
              }
            }
            group.addTask { for await _ in joined.events {} }
            do { try await body(joined, host.peerID) } catch { Issue.record(error) }
            await joined.leave()
            await session.leave()
          }
        }
      }
    }
  }

  /// A picture of one color.
  private static func whole(_ number: UInt64, _ color: UInt8) -> BroadcastRecord {
    let pixels = [UInt8](repeating: color, count: size.area.pixelCount * 3)
    return .picture(BroadcastPicture(number: number, time: 0, content: .whole(pixels)))
  }

  private static func changes(_ number: UInt64, since base: UInt64, _ areas: PixelRect..., bytes: [UInt8]? = nil)
    -> BroadcastRecord
  {
    let parts = areas.map {
      BroadcastPicture.Part(area: $0, bytes: bytes ?? [UInt8](repeating: 0, count: $0.pixelCount * 3))
    }
    return .picture(BroadcastPicture(number: number, time: 0, content: .changes(since: base, parts)))
  }

  private static func describe(_ event: WatchedEvent) -> String {
    switch event {
    case .started(let format): "started \(format.size)"
    case .picture(let picture, let pixels):
      "\(picture.number) \(pixels.map { "\($0.pixels[0]) \($0.pixels[7])" } ?? "-")"
    case .paused: "paused"
    case .resumed: "resumed"
    case .failed(let notice): "failed \(notice.code)"
    case .finished(let notice): "finished \(notice.code)"
    }
  }

  @Test("[CST-5] [CST-6] [CST-10] a viewer gets all events in order, and confirms a picture when it asks for more")
  func events() async throws {
    let (confirmed, confirmations) = AsyncStream<UInt64>.makeStream()
    try await withBroadcaster { stream, _ in
      let records = [
        Self.start, Self.whole(1, 1), Self.changes(2, since: 1, PixelRect(x: 0, y: 0, width: 1, height: 1)),
        .error(BroadcastNotice(.sourceFailed, "no paper")), .pause(time: 1), .resume(time: 2), Self.whole(7, 3),
        .start(BroadcastFormat(size: Self.size, rate: 10, codec: .raw, region: [0, 0, 8, 4])), Self.whole(7, 4),
        .finish(BroadcastNotice(.finished)),
      ]
      // The bytes arrive in pieces that have nothing to do with the records; an unknown record is skipped.
      let bytes = [0x90, 3, 1, 2, 3] + records.flatMap(\.bytes)
      for start in stride(from: 0, to: bytes.count, by: 7) {
        try await stream.write(Array(bytes[start..<min(start + 7, bytes.count)]))
      }
      try await stream.finish()
      var reader = BroadcastReader(limit: BroadcastRecord.viewerLimit)
      for try await bytes in stream.inbound {
        reader.append(bytes)
        while case .seen(let number)? = try reader.next() { confirmations.yield(number) }
      }
    } _: { session, host in
      let watcher = try await BroadcastWatcher(
        BroadcastRequest(codecs: [.raw]),
        of: host,
        in: session,
        decoding: RawFrames()
      )
      var seen: [String] = []
      while let event = try await watcher.next() { seen.append(Self.describe(event)) }
      let (one, three, four) = (0x010101, 0x030303, 0x040404)
      #expect(
        seen == [
          "started 4x2", "1 \(one) \(one)", "2 0 \(one)", "failed source-failed", "paused", "resumed",
          "7 \(three) \(three)", "started 4x2", "7 \(four) \(four)", "finished finished",
        ]
      )
      #expect(await watcher.hasAnswer)
      #expect(try await watcher.next() == nil)
      // The session ends only after the confirmations have arrived, because its end discards them.
      var numbers: [UInt64] = []
      for await number in confirmed {
        numbers.append(number)
        if numbers.count == 4 { break }
      }
      #expect(numbers == [1, 2, 7, 7])
    }
  }

  private static let hostile: [(String, [BroadcastRecord])] = [
    ("a picture before START", [whole(1, 1)]),
    ("changes without a picture", [start, changes(2, since: 1, PixelRect(x: 0, y: 0, width: 1, height: 1))]),
    (
      "changes after a new START",
      [start, whole(1, 1), start, changes(2, since: 1, PixelRect(x: 0, y: 0, width: 1, height: 1))]
    ),
    (
      "changes of a picture that was skipped",
      [start, whole(1, 1), changes(9, since: 4, PixelRect(x: 0, y: 0, width: 1, height: 1))]
    ),
    ("an older picture", [start, whole(5, 1), whole(4, 1)]),
    ("a part outside", [start, whole(1, 1), changes(2, since: 1, PixelRect(x: 3, y: 0, width: 2, height: 1))]),
    (
      "a part far outside", [start, whole(1, 1), changes(2, since: 1, PixelRect(x: 0, y: 65_535, width: 1, height: 1))]
    ),
    (
      "more pixels than the picture",
      [
        start, whole(1, 1),
        changes(2, since: 1, PixelRect(x: 0, y: 0, width: 4, height: 2), PixelRect(x: 0, y: 0, width: 1, height: 1)),
      ]
    ),
    (
      "too few pixels",
      [start, whole(1, 1), changes(2, since: 1, PixelRect(x: 0, y: 0, width: 2, height: 1), bytes: [0, 0, 0])]
    ),
    (
      "a picture of another size", [start, .picture(BroadcastPicture(number: 1, time: 0, content: .whole([1, 2, 3])))]
    ),
    ("an encoding that was not asked for", [.start(BroadcastFormat(size: size, rate: 10, codec: .png))]),
    ("a size that was not asked for", [.start(BroadcastFormat(size: .fullHD, rate: 10, codec: .raw))]),
    ("a record of viewers", [start, whole(1, 1), .seen(1)]), ("a wish of viewers", [start, .wantWhole]),
  ]

  @Test("[CST-12] a viewer resets the stream of a broadcaster that breaks a rule", arguments: hostile.indices)
  func violations(index: Int) async throws {
    let (title, records) = Self.hostile[index]
    let reset = AsyncStream<UInt32?>.makeStream()
    try await withBroadcaster { stream, _ in
      try await stream.write(records.flatMap(\.bytes))
      // The viewer confirms pictures until it resets the stream.
      do { for try await _ in stream.inbound {} } catch {}
      reset.continuation.yield(stream.resetCode)
      reset.continuation.finish()
    } _: { session, host in
      var request = BroadcastRequest(maximumWidth: 100, codecs: [.raw])
      request.maximumHeight = 100
      let watcher = try await BroadcastWatcher(request, of: host, in: session, decoding: RawFrames())
      await #expect(throws: BroadcastError.self, "\(title)") { while try await watcher.next() != nil {} }
      #expect(try await watcher.next() == nil, "nothing follows an error")
      for await code in reset.stream { #expect(code == BroadcastRecord.violationCode, "\(title)") }
    }
  }

  @Test("[CST-11] a viewer asks again after not-broadcasting, and reports a broadcaster that breaks a rule")
  func waiting() async throws {
    try await withBroadcaster { stream, number in
      switch number {
      case 1: try await stream.write(BroadcastRecord.finish(BroadcastNotice(.notBroadcasting)).bytes)
      case 2: try await stream.write((Self.start.bytes + Self.whole(1, 1).bytes))
      default:
        let records = [Self.start, Self.whole(1, 9), .finish(BroadcastNotice(.finished))]
        try await stream.write(records.flatMap(\.bytes))
      }
      // The second stream breaks in the middle of a broadcast.
      if number == 2 { stream.reset(code: 0) } else { try await stream.finish() }
    } _: { session, _ in
      let (events, waits) = (Locked([String]()), Locked(0))
      let watching = Watching(BroadcastRequest(codecs: [.raw]), decoding: RawFrames())
      try await watching.run(in: session, waiting: { waits.withLock { $0 += 1 } }) { event in
        events.withLock { $0.append(Self.describe(event)) }
      }
      #expect(waits.withLock { $0 } >= 1)
      #expect(events.withLock { $0 }.last == "finished finished")
      #expect(events.withLock { $0 }.contains("1 \(0x090909) \(0x090909)"))
    }
    try await withBroadcaster { stream, _ in
      try await stream.write(Self.whole(1, 1).bytes)
    } _: { session, _ in
      let events = Locked([String]())
      let watching = Watching(BroadcastRequest(codecs: [.raw]), decoding: RawFrames())
      let (waits, source) = AsyncStream<Void>.makeStream()
      let task = Task {
        try await watching.run(in: session, waiting: { source.yield() }) { event in
          events.withLock { $0.append(Self.describe(event)) }
        }
      }
      for await _ in waits { break }
      task.cancel()
      _ = await task.result
      #expect(events.withLock { $0 } == ["failed malformed"])
    }
  }
}

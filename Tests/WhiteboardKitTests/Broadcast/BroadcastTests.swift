import PeerCore
import Testing

@testable import WhiteboardKit

/// A source whose pictures have one color, which the test changes.
actor ColorSource: FrameSource {
  private(set) var drawings = 0
  private var color: UInt32 = 0
  private var failure: String?
  private(set) var isAvailable = true
  private let signals = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

  init() { signals.continuation.yield() }

  struct Failure: Error, CustomStringConvertible { let description: String }

  func setAvailable(_ isAvailable: Bool) {
    self.isAvailable = isAvailable
    signals.continuation.yield()
  }

  func change(to color: UInt32) {
    self.color = color
    signals.continuation.yield()
  }

  func fail(_ message: String?) {
    failure = message
    signals.continuation.yield()
  }

  nonisolated func waitForChange() async -> Bool {
    for await _ in signals.stream { return true }
    return false
  }

  func draw(_ size: FrameSize, isWhole: Bool) throws -> FrameDrawing {
    drawings += 1
    if let failure { throw Failure(description: failure) }
    let area = isWhole ? size.area : PixelRect(x: 0, y: 0, width: 16, height: 16)
    return FrameDrawing(patches: [FramePatch(area: area, pixels: [UInt32](repeating: color, count: area.pixelCount))])
  }
}

/// A source whose first drawing waits until the test completes it.
private actor SlowSource: FrameSource {
  private var isFirst = true
  private let changes = AsyncStream<Void>.makeStream()
  private let begun = AsyncStream<Void>.makeStream()
  private let completed = AsyncStream<Void>.makeStream()

  init() { changes.continuation.yield() }

  var isAvailable: Bool { true }

  nonisolated func waitForChange() async -> Bool {
    for await _ in changes.stream { return true }
    return false
  }

  func draw(_ size: FrameSize, isWhole: Bool) async throws -> FrameDrawing {
    if isFirst {
      isFirst = false
      begun.continuation.yield()
      for await _ in completed.stream { break }
    }
    let pixels = [UInt32](repeating: 0, count: size.area.pixelCount)
    return FrameDrawing(patches: [FramePatch(area: size.area, pixels: pixels)])
  }

  nonisolated func waitForDrawing() async { for await _ in begun.stream { return } }

  nonisolated func completeDrawing() { completed.continuation.yield() }
}

/// The connection of a viewer in the same process.
final class TestViewer: ViewerConnection {
  private let received = AsyncStream<BroadcastRecord>.makeStream()
  private let sent = AsyncStream<BroadcastRecord>.makeStream()
  private let state = Locked((isFinished: false, reset: BroadcastError?.none))
  /// Whether the viewer accepts no records, as if its link were full.
  let isStuck: Bool

  init(isStuck: Bool = false) { self.isStuck = isStuck }

  var isFinished: Bool { state.withLock { $0.isFinished } }
  var resetReason: BroadcastError? { state.withLock { $0.reset } }

  func write(_ record: BroadcastRecord) async throws {
    if isStuck {
      // Ends only when the task is canceled.
      for await _ in AsyncStream<Void>.makeStream().stream {}
      throw CancellationError()
    }
    received.continuation.yield(record)
  }

  func read() async throws -> BroadcastRecord? {
    for await record in sent.stream { return record }
    return nil
  }

  func finish() async {
    state.withLock { $0.isFinished = true }
    received.continuation.finish()
  }

  func reset(because error: BroadcastError) { state.withLock { $0.reset = error } }

  func send(_ record: BroadcastRecord) { sent.continuation.yield(record) }

  func leave() { sent.continuation.finish() }

  func next() async -> BroadcastRecord? {
    for await record in received.stream { return record }
    return nil
  }

  /// Returns the next picture, and confirms it.
  func nextPicture() async -> BroadcastPicture? {
    while let record = await next() {
      guard case .picture(let picture) = record else { continue }
      send(.seen(picture.number))
      return picture
    }
    return nil
  }
}

@Suite struct BroadcastTests {
  private static let options: Broadcast.Options = {
    var options = Broadcast.Options()
    options.size = BroadcastTests.size(64, 48)
    options.viewerLimit = 2
    return options
  }()

  private static func size(_ width: Int, _ height: Int) -> FrameSize {
    FrameSize(width: width, height: height) ?? .fullHD
  }

  /// Each look at the clock is a second later, so that no picture waits for its time.
  private static func time() -> Broadcast.Time {
    let seconds = Locked(0)
    return Broadcast.Time(
      now: {
        seconds.withLock { count in
          count += 1
          return .seconds(count)
        }
      },
      wall: { 1_000 },
      sleep: { _ in await Task.yield() }
    )
  }

  private func withBroadcast(_ source: any FrameSource, _ body: (Broadcast) async throws -> Void) async throws {
    let broadcast = Broadcast(source, options: Self.options, coder: nil, time: Self.time())
    await broadcast.start()
    try await withThrowingTaskGroup { group in
      group.addTask { await broadcast.run() }
      try await body(broadcast)
      await broadcast.finish()
      try await group.waitForAll()
    }
  }

  private func withViewer(
    _ broadcast: Broadcast,
    _ viewer: TestViewer,
    _ request: BroadcastRequest = BroadcastRequest(),
    _ body: () async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup { group in
      group.addTask { await broadcast.serve(request, over: viewer) }
      try await body()
      viewer.leave()
      group.cancelAll()
      try await group.waitForAll()
    }
  }

  @Test("[CST-8] nothing is drawn while no viewer watches, and one picture for the first viewer") func noViewer()
    async throws
  {
    let source = ColorSource()
    try await withBroadcast(source) { broadcast in
      for color in 1...20 { await source.change(to: UInt32(color)) }
      #expect(await source.drawings == 0)
      let viewer = TestViewer()
      try await withViewer(broadcast, viewer) {
        guard case .start(let format)? = await viewer.next() else {
          Issue.record("no START")
          return
        }
        #expect(format.codec == .raw)
        let picture = try #require(await viewer.nextPicture())
        guard case .whole(let bytes) = picture.content else {
          Issue.record("the first picture is not whole")
          return
        }
        #expect(bytes == [UInt8](repeating: 0, count: 64 * 48 * 3).enumerated().map { $0.offset % 3 == 2 ? 20 : 0 })
        // The source may report its last change after the drawing that already shows it.
        #expect(await source.drawings <= 2)
      }
    }
  }

  @Test("[CST-7] a viewer whose link is full delays no other viewer") func stuckViewer() async throws {
    let source = ColorSource()
    try await withBroadcast(source) { broadcast in
      let (stuck, viewer) = (TestViewer(isStuck: true), TestViewer())
      try await withViewer(broadcast, stuck) {
        try await withViewer(broadcast, viewer) {
          var last: UInt64 = 0
          for color in 1...30 {
            await source.change(to: UInt32(color))
            let picture = try #require(await viewer.nextPicture())
            #expect(picture.number > last)
            if case .changes(let base, let parts) = picture.content {
              #expect(base == last)
              #expect(parts.map(\.area) == [PixelRect(x: 0, y: 0, width: 16, height: 16)])
            }
            last = picture.number
          }
          #expect(last >= 30)
        }
      }
    }
  }

  @Test("[CST-10] [CST-9] a broadcast that is paused and finished tells its viewers") func states() async throws {
    let source = ColorSource()
    let viewer = TestViewer()
    try await withBroadcast(source) { broadcast in
      try await withViewer(broadcast, viewer) {
        _ = try #require(await viewer.nextPicture())
        await broadcast.pause()
        #expect(await viewer.next() == .pause(time: 1_000))
        await source.change(to: 5)
        await broadcast.resume()
        #expect(await viewer.next() == .resume(time: 1_000))
        _ = try #require(await viewer.nextPicture())
        await broadcast.finish()
        #expect(await viewer.next() == .finish(BroadcastNotice(.finished)))
        #expect(await viewer.next() == nil)
        #expect(viewer.isFinished)
      }
      #expect(await broadcast.state == .finished)
      #expect(await !broadcast.isAvailable)
    }
  }

  @Test("[CST-9] a picture that is drawn when the broadcast is paused follows RESUME") func pauseDuringDrawing()
    async throws
  {
    let source = SlowSource()
    let viewer = TestViewer()
    try await withBroadcast(source) { broadcast in
      try await withViewer(broadcast, viewer) {
        await source.waitForDrawing()
        await broadcast.pause()
        source.completeDrawing()
        guard case .start? = await viewer.next() else {
          Issue.record("no START")
          return
        }
        #expect(await viewer.next() == .pause(time: 1_000))
        await broadcast.resume()
        #expect(await viewer.next() == .resume(time: 1_000))
        let picture = try #require(await viewer.nextPicture())
        #expect(picture.number == 1)
      }
    }
  }

  @Test("[CST-11] [CST-14] [CST-3] requests that cannot be served are answered with FINISH") func refusals()
    async throws
  {
    let source = ColorSource()
    let idle = Broadcast(source, options: Self.options, coder: nil, time: Self.time())
    let early = TestViewer()
    await idle.serve(BroadcastRequest(), over: early)
    guard case .finish(let notice)? = await early.next() else {
      Issue.record("no FINISH")
      return
    }
    #expect(notice.code == "not-broadcasting")
    try await withBroadcast(source) { broadcast in
      for (request, code) in [
        (BroadcastRequest(codecs: [.jpeg]), "unsupported"), (BroadcastRequest(maximumWidth: 63), "unsupported"),
      ] {
        let viewer = TestViewer()
        await broadcast.serve(request, over: viewer)
        guard case .finish(let notice)? = await viewer.next() else {
          Issue.record("no FINISH")
          return
        }
        #expect(notice.code == code)
        #expect(viewer.isFinished)
      }
      let malformed = TestViewer()
      await broadcast.serve(UntrustedText("{}"), over: malformed)
      guard case .finish(let notice)? = await malformed.next() else {
        Issue.record("no FINISH")
        return
      }
      #expect(notice.code == "malformed")
      let (first, second, third) = (TestViewer(), TestViewer(), TestViewer())
      try await withViewer(broadcast, first) {
        try await withViewer(broadcast, second) {
          _ = try #require(await first.nextPicture())
          _ = try #require(await second.nextPicture())
          await broadcast.serve(BroadcastRequest(), over: third)
          guard case .finish(let notice)? = await third.next() else {
            Issue.record("no FINISH")
            return
          }
          #expect(notice.code == "busy")
        }
      }
    }
  }

  @Test("[CST-10] a source that fails is reported to viewers and as an event, and the broadcast continues")
  func failure() async throws {
    let source = ColorSource()
    await source.fail("no paper")
    let viewer = TestViewer()
    try await withBroadcast(source) { broadcast in
      try await withViewer(broadcast, viewer) {
        #expect(await viewer.next() == .error(BroadcastNotice(.sourceFailed, "no paper")))
        for await event in broadcast.events {
          guard case .failed(let notice) = event else { continue }
          #expect(notice.message.raw == "no paper")
          break
        }
        await source.fail(nil)
        #expect(await viewer.nextPicture() != nil)
      }
    }
  }

  @Test("viewers keep the last picture while the source is not available, and get a notice") func availability()
    async throws
  {
    let source = ColorSource()
    let viewer = TestViewer()
    try await withBroadcast(source) { broadcast in
      try await withViewer(broadcast, viewer) {
        _ = try #require(await viewer.nextPicture())
        let drawings = await source.drawings
        await source.setAvailable(false)
        #expect(await !broadcast.isAvailable)
        var events = broadcast.events.makeAsyncIterator()
        while let event = await events.next(), event != .available(false) {}
        #expect(await viewer.next() == .error(BroadcastNotice(.sourceFailed, "The pictures are not available now.")))
        // A change that the source may have reported before is drawn before that.
        #expect(await source.drawings <= drawings + 1)
        await source.change(to: 9)
        await source.setAvailable(true)
        #expect(await events.next() == .available(true))
        guard case .whole? = await viewer.nextPicture()?.content else {
          Issue.record("the picture after that is not whole")
          return
        }
      }
    }
  }

  @Test("[CST-8] [CST-13] a flood of WANT-WHOLE gives no more pictures than the rate, and delays no other viewer")
  func wantWholeFlood() async throws {
    let source = ColorSource()
    let (flooder, viewer) = (TestViewer(), TestViewer())
    // The clock stands still, so that no answer is due.
    let time = Broadcast.Time(now: { .zero }, wall: { 1_000 }, sleep: { _ in try await Task.sleep(for: .seconds(600)) })
    let broadcast = Broadcast(source, options: Self.options, coder: nil, time: time)
    await broadcast.start()
    try await withThrowingTaskGroup { group in
      group.addTask { await broadcast.run() }
      try await withViewer(broadcast, flooder) {
        _ = try #require(await flooder.nextPicture())
        for _ in 0..<10_000 { flooder.send(.wantWhole) }
        try await withViewer(broadcast, viewer) { _ = try #require(await viewer.nextPicture()) }
        await broadcast.finish()
        // At the end, one picture is sent without waiting.
        var rest: [BroadcastRecord] = []
        while let record = await flooder.next() { rest.append(record) }
        #expect(rest.count <= 2)
        #expect(rest.last == .finish(BroadcastNotice(.finished)))
      }
      try await group.waitForAll()
    }
  }

  @Test("[CST-12] a viewer that violates a rule is disconnected") func violation() async throws {
    let source = ColorSource()
    let viewer = TestViewer()
    try await withBroadcast(source) { broadcast in
      viewer.send(.seen(9))
      await broadcast.serve(BroadcastRequest(), over: viewer)
      #expect(viewer.resetReason == .order(BroadcastRecord.Kind.seen))
      #expect(await broadcast.viewerCount == 0)
    }
  }

  @Test("a patch reports only the blocks that differ") func changedBlocks() {
    let size = Self.size(100, 100)
    var picture = FramePixels(size: size, color: 0xFFFFFF)
    var pixels = [UInt32](repeating: 0xFFFFFF, count: 100 * 100)
    pixels[40 * 100 + 70] = 0
    pixels[99 * 100 + 99] = 1
    let changed = picture.apply(FramePatch(area: size.area, pixels: pixels))
    #expect(
      changed == [
        PixelRect(x: 64, y: 32, width: 16, height: 16), PixelRect(x: 96, y: 96, width: 4, height: 4),
      ]
    )
    #expect(picture.part(PixelRect(x: 70, y: 40, width: 2, height: 1)) == [0, 0xFFFFFF])
    let outside = picture.apply(FramePatch(area: PixelRect(x: 90, y: 0, width: 11, height: 1), pixels: []))
    #expect(outside == nil)
  }
}

@Suite struct ViewerNotesTests {
  @Test("the number of viewers is reported at once, and then again only after the interval") func notes() {
    var notes = ViewerNotes()
    func change(_ count: Int) -> Bool { notes.changed(to: count) }
    func next() -> Int? { notes.next() }
    #expect(change(1))
    #expect(next() == 1)
    for count in 2...50 { #expect(!change(count)) }
    #expect(next() == 50)
    // Viewers that come and go within the interval are not reported.
    #expect(!change(51))
    #expect(!change(50))
    #expect(next() == nil)
    #expect(change(0))
    #expect(next() == 0)
    #expect(!change(3))
    notes.finished()
    #expect(next() == nil)
  }
}

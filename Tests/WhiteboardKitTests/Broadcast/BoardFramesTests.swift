import CommandLines
import PeerCore
import PeerTestKit
import Testing
import Whiteboard
import WhiteboardRendering
import WhiteboardSync
import WhiteboardTerminal

@testable import WhiteboardKit

/// The pictures of a real board.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardFramesTests: BoardSuite {
  private static let size = FrameSize(width: 640, height: 480) ?? .fullHD
  private static let region = Rectangle(Point(x: 0, y: 0), Point(x: 640, y: 480))

  /// Cairo rounds the edges of a line differently if it draws only a part of the picture.
  private static let rounding = 24

  /// Returns the greatest difference of a red, green or blue value.
  private static func difference(_ one: FramePixels, _ other: FramePixels) -> Int {
    zip(one.pixels, other.pixels).reduce(0) { worst, pair in
      let channels = [0, 8, 16].map { abs(Int(pair.0 >> $0 & 0xFF) - Int(pair.1 >> $0 & 0xFF)) }
      return max(worst, channels[0], channels[1], channels[2])
    }
  }

  /// A source of pictures to which the test passes each change of a board.
  private struct Followed {
    let host: ScriptedBoard
    let board: SharedBoard
    let frames: BoardFrames
    let changes: SharedBoard.Changes
    var picture = FramePixels(size: BoardFramesTests.size)

    init(_ host: ScriptedBoard, _ area: BroadcastArea = .region(BoardFramesTests.region)) async throws {
      self.host = host
      board = try #require(await host.sharedBoard)
      changes = board.changes
      frames = BoardFrames(board, BoardPainter(), area, board.changes)
      try #require(await frames.waitForChange())
    }

    /// Runs commands, and passes their changes to the source; ignores refused commands.
    func run(_ lines: [String]) async throws {
      for line in lines { _ = try? await host.perform(line) }
      try await host.perform("say end")
      let iterator = changes.makeAsyncIterator()
      while let change = await iterator.next() {
        if case .chat = change { return }
        _ = await frames.apply(change)
      }
    }

    func run(_ lines: String...) async throws { try await run(lines) }

    /// Draws the changes, and returns the drawn parts.
    mutating func draw(isWhole: Bool = false) async throws -> [PixelRect] {
      let drawing = try await frames.draw(BoardFramesTests.size, isWhole: isWhole)
      for patch in drawing.patches { try #require(picture.apply(patch) != nil) }
      return drawing.patches.map(\.area)
    }

    /// Returns the whole picture as a source draws it that did not follow the changes.
    func wholePicture() async throws -> FramePixels {
      var other = try await Followed(host)
      _ = try await other.draw(isWhole: true)
      return other.picture
    }

    func color(_ x: Int, _ y: Int) -> UInt32 { picture.part(PixelRect(x: x, y: y, width: 1, height: 1))[0] }
  }

  @Test("only the parts with changed objects are drawn") func changedParts() async throws {
    try await withHost(isKept: false) { host in
      var followed = try await Followed(host)
      #expect(try await followed.draw() == [Self.size.area])
      #expect(try await followed.draw() == [])
      let (near, other) = (
        PixelRect(x: 50, y: 60, width: 100, height: 80), PixelRect(x: 470, y: 380, width: 60, height: 40)
      )
      try await followed.run("rect 100,100 size=60,40 fill=#FF0000 as=one", "rect 500,400 size=60,40 as=two")
      var parts = try await followed.draw()
      #expect(parts.count == 2)
      #expect(followed.color(100, 100) == 0xFF0000)
      try await followed.run("style one fill=#0000FF")
      parts = try await followed.draw()
      #expect(parts.count == 1 && parts.allSatisfy { near.contains($0) })
      #expect(followed.color(100, 100) == 0x0000FF)
      try await followed.run("move one 300,100")
      parts = try await followed.draw()
      #expect(!parts.isEmpty && parts.allSatisfy { $0.intersection(other).isEmpty })
      #expect(followed.color(100, 100) == 0xFFFFFF && followed.color(300, 100) == 0x0000FF)
      try await followed.run("rect 900,900", "style two opacity=0.5")
      parts = try await followed.draw()
      #expect(parts.count == 1 && parts.allSatisfy { $0.contains(other) && $0.intersection(near).isEmpty })
      try await followed.run("delete two")
      parts = try await followed.draw()
      #expect(parts.count == 1 && parts.allSatisfy { $0.contains(other) })
      try await followed.run("set background #FFEEAA")
      #expect(try await followed.draw() == [Self.size.area])
      #expect(followed.color(500, 400) == 0xFFEEAA)
      #expect(try await followed.draw() == [])
    }
  }

  @Test("the drawn changes give the same picture as drawing everything", arguments: 1...6)
  func sameAsWhole(seed: UInt64) async throws {
    try await withHost(isKept: false) { host in
      var random = SeededGenerator(seed: seed)
      var followed = try await Followed(host)
      var (drawn, count) = (0, 0)
      func place() -> String { "\(random.below(700) - 30),\(random.below(540) - 30)" }
      func color() -> String { ["#FF0000", "#00AA44", "#3355FF", "#FFD43B", "#000000"][random.below(5)] }
      func name() -> String { "a\(random.below(max(count, 1)))" }
      func line() -> String {
        switch random.below(14) {
        case 0...3:
          count += 1
          let kind = ["rect", "ellipse", "note", "diamond"][random.below(4)]
          return "\(kind) \(place()) size=\(20 + random.below(200)),\(20 + random.below(150)) label=L\(count) "
            + "fill=\(color()) as=a\(count - 1)"
        case 4, 5:
          count += 1
          let pen = "color=\(color()) width=\(1 + random.below(12))"
          return "stroke \(place()) \(place()) \(place()) \(pen) as=a\(count - 1)"
        case 6:
          count += 1
          return "text \(place()) \"some words \(count)\" color=\(color()) as=a\(count - 1)"
        case 7: return "arrow \(name()) \(name())"
        case 8: return "move \(name()) \(place())"
        case 9: return "rotate \(name()) \(random.below(360))"
        case 10: return "scale \(name()) \(1 + random.below(3))"
        case 11: return "order \(name()) \(["front", "back", "forward"][random.below(3)])"
        case 12: return "delete \(name())"
        default: return "undo"
        }
      }
      for _ in 0..<15 {
        try await followed.run((0..<3).map { _ in line() })
        drawn += try await followed.draw().reduce(0) { $0 + $1.pixelCount }
      }
      let whole = try await followed.wholePicture()
      #expect(Self.difference(followed.picture, whole) <= Self.rounding, "seed \(seed)")
      #expect(Set(whole.pixels).count > 3)
      // Most drawings are of parts.
      #expect(drawn < 15 * Self.size.area.pixelCount)
    }
  }

  @Test("a text that gets another color because a note behind it moves is drawn again as a whole") func textOnNote()
    async throws
  {
    try await withHost(isKept: false) { host in
      var followed = try await Followed(host)
      try await followed.run("note 200,200 size=60,60 fill=#000000 as=note", "text 200,200 \"wider than the note\"")
      _ = try await followed.draw()
      try await followed.run("move note 500,400")
      _ = try await followed.draw()
      #expect(Self.difference(followed.picture, try await followed.wholePicture()) <= Self.rounding)
    }
  }

  @Test("[SYN-32] points of a stroke are drawn before they are committed, and are not drawn away when others are")
  func preview() async throws {
    try await withHost(isKept: false) { host in
      var followed = try await Followed(host)
      _ = try await followed.draw()
      try await followed.run("pen 100,100 120,100 width=8 color=#000000")
      let objects = await followed.board.objects
      let stroke = try #require(objects.first { $0.isFinished == false })
      let committed = try #require(stroke.ink?.count)
      let author = MemberID(await followed.board.configuration.identity.peerID)
      let points = try [160, 200, 240].map { try InkPoint(Point(x: $0, y: 100)) }
      func preview(_ first: Int) -> SharedBoard.Change {
        .preview(StrokePreview(stroke: stroke.id, member: author, first: first, points: points))
      }
      #expect(await followed.frames.apply(preview(committed)))
      let parts = try await followed.draw()
      #expect(parts.contains { $0.contains(PixelRect(x: 236, y: 98, width: 8, height: 4)) })
      #expect(followed.color(220, 100) == 0)
      // Only one more point is committed; the others stay visible.
      try await followed.run("pen 160,100")
      _ = try await followed.draw()
      #expect(followed.color(220, 100) == 0)
      // A preview after a gap is not drawn.
      #expect(await !followed.frames.apply(preview(committed + 100)))
      // The end of a stroke commits all its points.
      try await followed.run("lift")
      _ = try await followed.draw()
      #expect(followed.color(150, 100) == 0 && followed.color(220, 100) == 0xFFFFFF)
    }
  }

  // MARK: - Broadcasts of the board

  private func withPainter(_ body: (ScriptedBoard, SharedBoard) async throws -> Void) async throws {
    try await withHost(isKept: false) {
      $0.framePainter = BoardPainter()
    } _: { host in
      try await body(host, try #require(await host.sharedBoard))
    }
  }

  /// Serves a viewer in this process until `body` returns.
  private func withViewer(_ board: SharedBoard, _ body: (TestViewer) async throws -> Void) async throws {
    let broadcast = try #require(await board.broadcast)
    let viewer = TestViewer()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await broadcast.serve(BroadcastRequest(codecs: [.png, .raw]), over: viewer) }
      try await body(viewer)
      viewer.leave()
      try await group.waitForAll()
    }
  }

  @Test("[CST-13] a whole picture decodes to the picture that the changes gave, and to a drawing of the board")
  func wholeAfterChanges() async throws {
    try await withPainter { host, board in
      try await host.perform("broadcast start size=640x480 codec=png fps=60 region=0,0,640,480")
      try await withViewer(board) { viewer in
        var assembler = FrameAssembler(BroadcastRequest(codecs: [.png]), BoardPainter(), isDecoding: true)
        func next() async throws -> (BroadcastPicture, FramePixels) {
          while let record = await viewer.next() {
            guard case .picture(let picture, let pixels?) = try assembler.apply(record) else { continue }
            viewer.send(.seen(picture.number))
            return (picture, pixels)
          }
          throw CommandError.closed
        }
        for index in 0..<8 {
          try await host.perform("ellipse \(60 + 70 * index),\(60 + 45 * index) size=60,40 fill=#33AA55 label=\(index)")
        }
        var drawn = try await Followed(host)
        _ = try await drawn.draw(isWhole: true)
        var shown = try await next()
        while shown.1 != drawn.picture { shown = try await next() }
        try await drawn.run("ellipse 500,100 size=40,40 fill=#000000")
        _ = try await drawn.draw()
        let base = shown.0.number
        shown = try await next()
        guard case .changes(since: base, let parts) = shown.0.content else {
          Issue.record("the picture does not contain the changes since the last picture")
          return
        }
        #expect(parts.reduce(0) { $0 + $1.area.pixelCount } < Self.size.area.pixelCount / 10)
        #expect(Self.difference(shown.1, drawn.picture) == 0)
        viewer.send(.wantWhole)
        let whole = try await next()
        guard case .whole = whole.0.content else {
          Issue.record("the answer to WANT-WHOLE is not whole")
          return
        }
        #expect(Self.difference(whole.1, shown.1) == 0)
      }
    }
  }

  @Test("a broadcast can follow its own user, also by an id prefix") func followSelf() async throws {
    try await withPainter { host, board in
      let id = await board.configuration.identity.peerID.text
      for name in ["ADA", String(id.prefix(8))] {
        try await host.perform("view 100,100 200 150")
        try await host.perform("broadcast start size=200x150 follow=\(name)")
        try await withViewer(board) { viewer in
          func untilRegion(_ region: [Double]) async {
            while let record = await viewer.next() {
              if case .picture(let picture) = record { viewer.send(.seen(picture.number)) }
              if case .start(let format) = record, format.region == region { return }
            }
            Issue.record("the region \(region) is not shown")
          }
          await untilRegion([0, 25, 200, 175])
          try await host.perform("view 1000,500 200 150")
          await untilRegion([900, 425, 1_100, 575])
        }
        try await host.perform("broadcast finish")
      }
    }
  }

  @Test("a board whose source of pictures is not available is not broadcast") func unavailable() async throws {
    try await withPainter { _, board in
      let source = ColorSource()
      await source.setAvailable(false)
      let error = await #expect(throws: CommandError.self) { try await board.startBroadcast(source: source) }
      #expect(error?.code == .refused)
      #expect(await board.broadcast == nil)
      await source.setAvailable(true)
      try await board.startBroadcast(source: source)
    }
  }

  @Test("each broadcast is served to other programs, one after the other") func servedAgain() async throws {
    let count = Locked(0)
    let open = Locked(0)
    let configure: (inout BoardConfiguration) -> Void = {
      $0.framePainter = BoardPainter()
      $0.serveBroadcast = { broadcast, report in
        let number = count.withLock { count in
          count += 1
          return count
        }
        // The third attempt fails, as if another program had taken the port.
        struct Taken: Error, CustomStringConvertible { let description = "taken" }
        guard number != 3 else { throw Taken() }
        #expect(open.withLock { $0 } == 0)
        open.withLock { $0 += 1 }
        defer { open.withLock { $0 -= 1 } }
        await report(["\(number)"], nil)
        for await _ in broadcast.events {}
      }
    }
    try await withHost(isKept: false, configure: configure) { host in
      for number in [1, 2, 3, 4] {
        try await host.perform("broadcast start size=64x48")
        let isSeen = await host.sees { output in
          switch output {
          case .news(.note(let note)): note.message == "pictures: \(number)"
          case .news(.warning(let warning)): number == 3 && warning.code == "broadcast-failed"
          default: false
          }
        }
        #expect(isSeen)
        try await host.perform("broadcast finish")
      }
    }
  }
}

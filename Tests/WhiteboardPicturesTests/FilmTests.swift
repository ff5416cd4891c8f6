import PeerTestKit
import Testing
import Whiteboard
import WhiteboardRendering

@testable import WhiteboardPictures

@Suite("Films") struct FilmTests {
  // MARK: - Times

  @Test("a change is shown in the next frame, and changes of one frame share it") func frames() {
    let timeline = FilmTimeline(of: [0, 101, 150, 1_000], until: 1_000, speed: 1, rate: 10, longestPause: nil)
    #expect(timeline.frames.map(\.changes) == [1, 3, 4])
    #expect(timeline.frames.map(\.time) == [0, 200, 1_000])
    #expect(timeline.duration == 2_000)
  }

  @Test("a film begins with the board before the first change") func beginning() {
    let timeline = FilmTimeline(of: [500], until: 500, speed: 2, rate: 10, longestPause: nil)
    #expect(timeline.frames.map(\.changes) == [0, 1])
    #expect(timeline.frames.map(\.time) == [0, 300])
  }

  @Test("long pauses are cut, also at the beginning and at the end") func pauses() {
    let times: [Int64] = [60_000, 60_500, 3_600_000]
    let timeline = FilmTimeline(of: times, until: 9_999_999, speed: 1, rate: 10, longestPause: 2_000)
    #expect(timeline.frames.map(\.time) == [0, 2_000, 2_500, 4_500])
    #expect(timeline.duration == 6_500)
  }

  @Test("frames are in order, at most as often as the rate, and end with all changes", arguments: 0..<20)
  func anyTimes(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var time: Int64 = 0
    let times = (0..<200).map { _ in
      let most = random.chance(5) ? 30_000 : 120
      time += Int64(random.below(most))
      return time
    }
    let rate = 1 + random.below(50)
    let timeline = FilmTimeline(of: times, until: time, speed: 4, rate: rate, longestPause: 1_000)
    for (frame, next) in zip(timeline.frames, timeline.frames.dropFirst()) {
      #expect(frame.changes < next.changes, "seed \(seed)")
      #expect(next.time - frame.time >= 1_000 / Int64(rate), "seed \(seed)")
      // A pause ends at most a frame later.
      #expect(next.time - frame.time <= 1_000 + 2 * (1_000 / Int64(rate) + 1), "seed \(seed)")
    }
    #expect(timeline.frames.last?.changes == times.count, "seed \(seed)")
    #expect(timeline.frames.count >= 5, "seed \(seed)")
  }

  // MARK: - Files

  /// A picture to which frames are applied, as a film player applies them.
  struct Canvas {
    let width: Int
    let height: Int
    var pixels: [UInt32]

    init(_ width: Int, _ height: Int) {
      (self.width, self.height) = (width, height)
      pixels = Array(repeating: 0, count: width * height)
    }

    mutating func draw(_ frame: FilmFrame) {
      for row in 0..<frame.height {
        for column in 0..<frame.width {
          let pixel = frame.pixels[row * frame.width + column]
          let place = (frame.y + row) * width + frame.x + column
          if pixel & FilmFrame.changed != 0 { pixels[place] = pixel & 0xFF_FFFF }
        }
      }
    }
  }

  /// Returns frames with random rectangles of at most `colors` colors each, and the picture after each frame.
  static func film(_ random: inout SeededGenerator, _ width: Int, _ height: Int, colors: Int) -> [(
    frame: FilmFrame, canvas: Canvas
  )] {
    var canvas = Canvas(width, height)
    return (0..<8).map { number in
      let x = number == 0 ? 0 : random.below(width / 2) * 2
      let y = number == 0 ? 0 : random.below(height / 2) * 2
      let across = number == 0 ? width : 1 + random.below(width - x)
      let down = number == 0 ? height : 1 + random.below(height - y)
      let palette = (0..<colors).map { _ in UInt32(random.below(1 << 24)) }
      // Runs of a color are as long as in drawings.
      var (color, left) = (palette[0], 0)
      let pixels = (0..<across * down).map { place in
        if left == 0 {
          color = palette[random.below(colors)]
          left = 1 + random.below(40)
        }
        left -= 1
        let old = canvas.pixels[(y + place / across) * width + x + place % across]
        return number > 0 && old == color ? old : color | FilmFrame.changed
      }
      let frame = FilmFrame(x: x, y: y, width: across, height: down, pixels: pixels)
      canvas.draw(frame)
      return (frame, canvas)
    }
  }

  @Test("a GIF contains the pixels of each frame, and its time", arguments: 0..<12) func gif(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let (width, height) = (16 + random.below(150), 16 + random.below(90))
    let film = Self.film(&random, width, height, colors: [1, 2, 3, 4, 5, 16, 17, 200, 254, 255][Int(seed) % 10])
    var bytes: [UInt8] = []
    var encoder = try GIFEncoder(width: width, height: height) { bytes += $0 }
    for (number, shown) in film.enumerated() { try encoder.add(shown.frame, at: Int64(number) * 333) }
    try encoder.finish(at: 4_000)
    let read = try GIFReader.read(bytes)
    #expect(read.width == width && read.height == height, "seed \(seed)")
    #expect(read.delays == [33, 34, 33, 33, 34, 33, 33, 167], "seed \(seed)")
    #expect(read.canvases == film.map { $0.canvas.pixels }, "seed \(seed)")
  }

  @Test("a GIF with too many colors has similar colors", arguments: 0..<4) func reducedGIF(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let film = Self.film(&random, 120, 80, colors: 2_000)
    var bytes: [UInt8] = []
    var encoder = try GIFEncoder(width: 120, height: 80) { bytes += $0 }
    for (number, shown) in film.enumerated() { try encoder.add(shown.frame, at: Int64(number) * 100) }
    try encoder.finish(at: 800)
    let read = try GIFReader.read(bytes)
    let first = try #require(read.canvases.first)
    var sum = 0
    for (found, wanted) in zip(first, film[0].canvas.pixels) {
      for shift in [UInt32(16), 8, 0] { sum += abs(Int(found >> shift & 0xFF) - Int(wanted >> shift & 0xFF)) }
    }
    // Random colors fill the color space, and 255 colors are about 40 apart on each axis.
    #expect(sum / (3 * 120 * 80) < 15, "seed \(seed)")
    #expect(read.canvases.count == 8, "seed \(seed)")
  }

  @Test("an animated WebP contains the pixels of each frame, and its time", arguments: 0..<8)
  func webP(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let (width, height) = (16 + random.below(150), 16 + random.below(90))
    let film = Self.film(&random, width, height, colors: 300)
    var bytes: [UInt8] = []
    var encoder = try WebPEncoder(width: width, height: height) {
      bytes += $0
    } replace: { new, offset in
      bytes.replaceSubrange(offset..<offset + new.count, with: new)
    }
    for (number, shown) in film.enumerated() { try encoder.add(shown.frame, at: Int64(number) * 40) }
    try encoder.finish(at: 1_000)
    let read = try WebPReader.read(bytes)
    #expect(read.width == width && read.height == height, "seed \(seed)")
    #expect(read.durations == [40, 40, 40, 40, 40, 40, 40, 720], "seed \(seed)")
    #expect(read.canvases == film.map { $0.canvas.pixels }, "seed \(seed)")
  }

  @Test("a frame is shown for as long as it must be, even if the format has no number for that time") func longFrames()
    throws
  {
    var random = SeededGenerator(seed: 1)
    let film = Self.film(&random, 32, 16, colors: 3)
    let pixels = [film[0].canvas.pixels, film[1].canvas.pixels]
    var gif: [UInt8] = []
    var gifEncoder = try GIFEncoder(width: 32, height: 16) { gif += $0 }
    var webP: [UInt8] = []
    var webPEncoder = try WebPEncoder(width: 32, height: 16) {
      webP += $0
    } replace: { new, offset in
      webP.replaceSubrange(offset..<offset + new.count, with: new)
    }
    try gifEncoder.add(film[0].frame, at: 0)
    try gifEncoder.add(film[1].frame, at: 2 * 655_350 + 10)
    try gifEncoder.finish(at: 3 * 655_350 + 10)
    let readGIF = try GIFReader.read(gif)
    #expect(readGIF.delays == [65_535, 65_535, 1, 65_535])
    #expect(readGIF.canvases == [pixels[0], pixels[0], pixels[0], pixels[1]])
    try webPEncoder.add(film[0].frame, at: 0)
    try webPEncoder.add(film[1].frame, at: 20_000_000)
    try webPEncoder.finish(at: 20_000_100)
    let readWebP = try WebPReader.read(webP)
    #expect(readWebP.durations == [16_777_215, 3_222_785, 100])
    #expect(readWebP.canvases == [pixels[0], pixels[0], pixels[1]])
  }

  // MARK: - Drawing

  @Test("only the part of a frame that changed is drawn and returned") func changedPart() throws {
    let world = try PicturePageTests.World()
    let region = Rectangle(Point(x: -100, y: -100), Point(x: 100, y: 100))
    let painter = try #require(FilmPainter(width: 200, height: 200))
    try world.board.createDrawing(
      try PicturePageTests.ink([(-80, -80), (-60, -80)]),
      lineWidth: 4,
      color: 0xFF00_00FF
    )
    try painter.draw(world.picture(region), changedIn: nil)
    let first = try #require(painter.takeFrame())
    #expect(first.width == 200 && first.height == 200)
    #expect(painter.takeFrame() == nil, "nothing was drawn")
    let id = try world.board.createDrawing(
      try PicturePageTests.ink([(40, 40), (60, 40)]),
      lineWidth: 4,
      color: 0x0000_FFFF
    )
    let area = try #require(world.board.snapshot(id)?.bounds)
    try painter.draw(world.picture(region), changedIn: area)
    let second = try #require(painter.takeFrame())
    #expect((136...140).contains(second.x) && (136...140).contains(second.y))
    #expect(second.width <= 28 && second.height <= 8)
    // Drawing everything gives the same pixels.
    let other = try #require(FilmPainter(width: 200, height: 200))
    try other.draw(world.picture(region), changedIn: nil)
    var (canvas, whole) = (Canvas(200, 200), Canvas(200, 200))
    canvas.draw(first)
    canvas.draw(second)
    whole.draw(try #require(other.takeFrame()))
    #expect(canvas.pixels == whole.pixels)
  }
}

private enum ReadError: Error { case wrong(String) }

/// A reader of the GIF files that these tests write.
private struct GIFReader {
  var width = 0
  var height = 0
  /// The hundredths of a second for which each frame is shown.
  var delays: [Int] = []
  /// The picture after each frame.
  var canvases: [[UInt32]] = []

  static func read(_ bytes: [UInt8]) throws -> GIFReader {
    var (reader, position) = (GIFReader(), 0)
    func byte() throws -> Int {
      guard position < bytes.count else { throw ReadError.wrong("the file ends too early") }
      defer { position += 1 }
      return Int(bytes[position])
    }
    func number() throws -> Int { try byte() | byte() << 8 }
    func blocks() throws -> [UInt8] {
      var data: [UInt8] = []
      while case let count = try byte(), count > 0 { for _ in 0..<count { data.append(UInt8(try byte())) } }
      return data
    }
    guard bytes.starts(with: "GIF89a".utf8) else { throw ReadError.wrong("not a GIF") }
    position = 6
    (reader.width, reader.height) = (try number(), try number())
    position += 3
    var canvas = [UInt32](repeating: 0, count: reader.width * reader.height)
    var (transparent, delay) = (-1, 0)
    while true {
      switch try byte() {
      case 0x21:
        guard try byte() == 0xF9 else {
          _ = try blocks()
          continue
        }
        guard try byte() == 4, try byte() == 5 else { throw ReadError.wrong("a frame is not kept") }
        (delay, transparent) = (try number(), try byte())
        guard try byte() == 0 else { throw ReadError.wrong("the control block does not end") }
      case 0x2C:
        let (x, y, across, down) = (try number(), try number(), try number(), try number())
        let bits = try byte() & 7 + 1
        let colors = try (0..<1 << bits).map { _ in try UInt32(byte()) << 16 | UInt32(byte()) << 8 | UInt32(byte()) }
        let size = try byte()
        let indexes = try decompressed(try blocks(), bits: size)
        guard indexes.count == across * down else { throw ReadError.wrong("\(indexes.count) pixels") }
        for (place, index) in indexes.enumerated() where index != transparent {
          canvas[(y + place / across) * reader.width + x + place % across] = colors[index]
        }
        reader.canvases.append(canvas)
        reader.delays.append(delay)
      case 0x3B:
        guard position == bytes.count else { throw ReadError.wrong("bytes after the end") }
        return reader
      default: throw ReadError.wrong("an unknown block")
      }
    }
  }

  static func decompressed(_ bytes: [UInt8], bits: Int) throws -> [Int] {
    let (clear, end) = (1 << bits, 1 << bits + 1)
    var table: [[Int]] = []
    var (output, last, size, position) = ([Int](), [Int](), bits + 1, 0)
    while true {
      var code = 0
      for bit in 0..<size {
        guard position / 8 < bytes.count else { throw ReadError.wrong("the codes end too early") }
        code |= Int(bytes[position / 8] >> UInt8(position % 8) & 1) << bit
        position += 1
      }
      if code == clear {
        table = (0..<clear).map { [$0] } + [[], []]
        (last, size) = ([], bits + 1)
        continue
      }
      if code == end { return output }
      guard code < table.count || code == table.count && !last.isEmpty else { throw ReadError.wrong("code \(code)") }
      let found = code < table.count ? table[code] : last + [last[0]]
      if !last.isEmpty, table.count < 4_096 { table.append(last + [found[0]]) }
      if table.count == 1 << size, size < 12 { size += 1 }
      output += found
      last = found
    }
  }
}

/// A reader of the animated WebP files that these tests write.
private struct WebPReader {
  var width = 0
  var height = 0
  /// The milliseconds for which each frame is shown.
  var durations: [Int] = []
  /// The picture after each frame.
  var canvases: [[UInt32]] = []

  static func read(_ bytes: [UInt8]) throws -> WebPReader {
    func number(_ start: Int, _ count: Int) -> Int {
      (0..<count).reduce(0) { $0 | Int(bytes[start + $1]) << ($1 * 8) }
    }
    func name(_ start: Int) -> String { String(decoding: bytes[start..<start + 4], as: UTF8.self) }
    guard name(0) == "RIFF", name(8) == "WEBP", number(4, 4) == bytes.count - 8 else {
      throw ReadError.wrong("the head")
    }
    var (reader, position) = (WebPReader(), 12)
    var canvas: [UInt32] = []
    while position < bytes.count {
      let (length, start) = (number(position + 4, 4), position + 8)
      switch name(position) {
      case "VP8X":
        guard bytes[start] == 0x12 else { throw ReadError.wrong("not animated") }
        (reader.width, reader.height) = (number(start + 4, 3) + 1, number(start + 7, 3) + 1)
        canvas = Array(repeating: 0, count: reader.width * reader.height)
      case "ANIM": break
      case "ANMF":
        let (x, y) = (number(start, 3) * 2, number(start + 3, 3) * 2)
        let (across, down) = (number(start + 6, 3) + 1, number(start + 9, 3) + 1)
        guard bytes[start + 15] == 0 else { throw ReadError.wrong("a frame is not kept, or not lossless") }
        let picture = Array(bytes[start + 16..<start + length])
        let size = picture.count + 4
        let sizeBytes = (0..<4).map { UInt8(truncatingIfNeeded: size >> ($0 * 8)) }
        let head = Array("RIFF".utf8) + sizeBytes + Array("WEBP".utf8)
        let pixels = try PhotoDecoder.webPPixels(head + picture, in: (across, down))
        for (place, pixel) in pixels.enumerated() where pixel >> 24 != 0 {
          canvas[(y + place / across) * reader.width + x + place % across] = pixel & 0xFF_FFFF
        }
        reader.durations.append(number(start + 12, 3))
        reader.canvases.append(canvas)
      default: throw ReadError.wrong("an unknown chunk")
      }
      position = start + length + length % 2
    }
    return reader
  }
}

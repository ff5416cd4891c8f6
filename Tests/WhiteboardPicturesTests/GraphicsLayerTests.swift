import Testing
import Whiteboard
import WhiteboardRendering

@testable import WhiteboardPictures

@Suite("Photos in pixels") struct GraphicsLayerTests {
  /// A command of kitty's protocol.
  struct Command: Hashable {
    var keys: [String: String] = [:]
    var payload = ""
  }

  /// Parses written bytes into commands, and the remaining text.
  static func read(_ bytes: [UInt8]) throws -> (commands: [Command], rest: String) {
    var commands: [Command] = []
    var rest = ""
    var text = String(decoding: bytes, as: UTF8.self)[...]
    while let start = text.firstRange(of: "\u{1B}_G") {
      rest += text[..<start.lowerBound]
      let end = try #require(text.firstRange(of: "\u{1B}\\"))
      let body = text[start.upperBound..<end.lowerBound]
      let parts = body.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
      var command = Command(payload: parts.count > 1 ? String(parts[1]) : "")
      for pair in parts[0].split(separator: ",") {
        let sides = pair.split(separator: "=")
        command.keys[String(sides[0])] = String(sides[1])
      }
      commands.append(command)
      text = text[end.upperBound...]
    }
    return (commands, rest + text)
  }

  static func decode(base64: String) -> [UInt8] {
    let signs = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var (bits, count): (UInt32, UInt32) = (0, 0)
    var bytes: [UInt8] = []
    for sign in base64 where sign != "=" {
      bits = bits << 6 | UInt32(signs.firstIndex(of: sign) ?? 0)
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(bits >> count & 0xFF))
      }
    }
    return bytes
  }

  static let view = CellArea(x: 2, y: 1, width: 40, height: 12)

  static func photo(_ width: Int = 80, _ height: Int = 80) -> PhotoPixels {
    var state: UInt32 = 1
    return PhotoPixels(
      width: width,
      height: height,
      pixels: (0..<width * height).map { _ in
        state = state &* 1_664_525 &+ 1_013_904_223
        return state >> 8
      }
    )
  }

  static func place(_ number: UInt64, _ box: CellArea) throws -> GraphicsPlacement {
    let asset = try #require(AssetID(Array(repeating: UInt8(number), count: 32)))
    let object = ObjectID(Dot(Incarnation(1), number))
    return try #require(GraphicsPlacement(object: object, asset: asset, box: box, within: view))
  }

  @Test("kitty gets a photo once, in pieces, and the pieces are the photo") func transmission() throws {
    var layer = GraphicsLayer(.kitty, cellWidth: 8, cellHeight: 16)
    let photo = try TerminalPhoto(Self.photo(), for: .kitty)
    let place = try Self.place(1, CellArea(x: 5, y: 3, width: 10, height: 5))
    let bytes = layer.update(to: [place], photo: { _ in photo }).bytes
    let (commands, rest) = try Self.read(bytes)
    let pieces = commands.dropLast()
    #expect(pieces.count > 3)
    #expect(pieces.first?.keys == ["a": "t", "f": "100", "i": "1", "q": "2", "m": "1"])
    #expect(pieces.dropFirst().dropLast().allSatisfy { $0.keys == ["m": "1"] })
    #expect(pieces.last?.keys == ["m": "0"])
    #expect(pieces.allSatisfy { $0.payload.utf8.count <= 4096 })
    #expect(pieces.dropLast().allSatisfy { $0.payload.utf8.count % 4 == 0 })
    let png = Self.decode(base64: pieces.map(\.payload).joined())
    #expect(try PhotoDecoder.pixels(of: png, within: 100, 100) == Self.photo())
    #expect(rest == "\u{1B}[4;6H")
    #expect(
      commands.last?.keys == [
        "a": "p", "i": "1", "p": "1", "x": "0", "y": "0", "w": "80", "h": "80", "c": "10", "r": "5", "z": "-1073751823",
        "C": "1", "q": "2",
      ]
    )
    #expect(layer.update(to: [place], photo: { _ in photo }) == .init())
  }

  @Test("kitty moves, crops and removes a photo with few bytes") func moves() throws {
    var layer = GraphicsLayer(.kitty, cellWidth: 8, cellHeight: 16)
    let photo = try TerminalPhoto(Self.photo(), for: .kitty)
    let places = try [
      Self.place(1, CellArea(x: 5, y: 3, width: 10, height: 5)),
      Self.place(2, CellArea(x: 15, y: 3, width: 10, height: 5)),
    ]
    _ = layer.update(to: places, photo: { _ in photo })
    // Two columns of ten and one row of five are out of view.
    let moved = try Self.place(1, CellArea(x: 0, y: 0, width: 10, height: 5))
    let move = layer.update(to: [moved, places[1]], photo: { _ in photo })
    #expect(move.bytes.count < 80)
    #expect(move.overwritten.isEmpty)
    let (commands, rest) = try Self.read(move.bytes)
    #expect(rest == "\u{1B}[2;3H")
    let keys = try #require(commands.first?.keys)
    #expect([keys["p"], keys["x"], keys["y"], keys["w"], keys["h"]] == ["1", "16", "16", "64", "64"])
    #expect([keys["c"], keys["r"]] == ["8", "4"])

    let removal = layer.update(to: [places[1]], photo: { _ in photo }).bytes
    #expect(String(decoding: removal, as: UTF8.self) == "\u{1B}_Ga=d,d=i,i=1,p=1,q=2\u{1B}\\")
    // The photo is shown again without being sent again.
    #expect(layer.update(to: [moved, places[1]], photo: { _ in photo }).bytes.count < 200)
  }

  @Test("a photo with more pixels is sent again under its number") func finer() throws {
    var layer = GraphicsLayer(.kitty, cellWidth: 8, cellHeight: 16)
    let place = try Self.place(1, CellArea(x: 5, y: 3, width: 10, height: 5))
    let coarse = try TerminalPhoto(Self.photo(20, 20), for: .kitty)
    let fine = try TerminalPhoto(Self.photo(), for: .kitty)
    _ = layer.update(to: [place], photo: { _ in coarse })
    let commands = try Self.read(layer.update(to: [place], photo: { _ in fine }).bytes).commands
    #expect(commands.first?.keys["a"] == "t")
    #expect(commands.first?.keys["i"] == "1")
    #expect(commands.last?.keys["a"] == "p")
    #expect(commands.last?.keys["w"] == "80")
  }

  @Test("photos overlap as on the board, and only changed positions are sent") func order() throws {
    var layer = GraphicsLayer(.kitty, cellWidth: 8, cellHeight: 16)
    let photo = try TerminalPhoto(Self.photo(8, 8), for: .kitty)
    let places = try (1...3).map { try Self.place(UInt64($0), CellArea(x: 4 + $0, y: 3, width: 10, height: 5)) }
    _ = layer.update(to: [places[0], places[2]], photo: { _ in photo })
    let inserted = layer.update(to: places, photo: { _ in photo }).bytes
    #expect(try Self.read(inserted).commands.filter { $0.keys["a"] == "p" }.count == 2)
    let without = layer.update(to: [places[1], places[2]], photo: { _ in photo }).bytes
    #expect(try Self.read(without).commands.filter { $0.keys["a"] == "p" }.isEmpty)
    let swapped = layer.update(to: [places[2], places[1]], photo: { _ in photo }).bytes
    #expect(try Self.read(swapped).commands.map { $0.keys["p"] } == ["3"])
  }

  @Test("a terminal caches a limited number of photos that are out of view") func kept() throws {
    var layer = GraphicsLayer(.kitty, cellWidth: 8, cellHeight: 16)
    let photo = try TerminalPhoto(Self.photo(8, 8), for: .kitty)
    var forgotten = 0
    for number in 1...UInt64(GraphicsLayer.keptImages + 4) {
      let place = try Self.place(number, CellArea(x: 5, y: 3, width: 10, height: 5))
      let commands = try Self.read(layer.update(to: [place], photo: { _ in photo }).bytes).commands
      forgotten += commands.filter { $0.keys["d"] == "I" }.count
    }
    #expect(forgotten == 3)
  }

  @Test("sixels fill whole rows of six pixels from the top of the photo") func sixel() throws {
    var layer = GraphicsLayer(.sixel, cellWidth: 10, cellHeight: 20)
    let photo = try TerminalPhoto(Self.photo(), for: .sixel)
    let place = try Self.place(1, CellArea(x: 5, y: 3, width: 10, height: 5))
    let update = layer.update(to: [place], photo: { _ in photo })
    let text = String(decoding: update.bytes, as: UTF8.self)
    // 100 pixels are 16 rows of sixels and four more pixels.
    #expect(text.hasPrefix("\u{1B}[4;6H\u{1B}P0;1;0q\"1;1;100;96#"))
    #expect(text.hasSuffix("\u{1B}\\"))
    #expect(text.filter { $0 == "-" }.count == 16)
    #expect(update.overwritten == [place.visible])
    #expect(update.bytes.dropFirst(6).dropFirst().dropLast(2).allSatisfy { $0 >= 0x20 })
    #expect(layer.update(to: [place], photo: { _ in photo }) == .init())
  }

  @Test("only sixels under new text are sent again, and those of a moved photo are erased") func repainted() throws {
    var layer = GraphicsLayer(.sixel, cellWidth: 10, cellHeight: 20)
    let photo = try TerminalPhoto(Self.photo(), for: .sixel)
    let place = try Self.place(1, CellArea(x: 5, y: 3, width: 10, height: 6))
    let all = layer.update(to: [place], photo: { _ in photo }).bytes
    let cell = CellArea(x: 7, y: 4, width: 1, height: 1)
    let aside = CellArea(x: 30, y: 4, width: 1, height: 1)
    #expect(layer.update(to: [place], photo: { _ in photo }, repainted: [aside]) == .init())
    let part = layer.update(to: [place], photo: { _ in photo }, repainted: [cell, aside])
    // Three rows of 20 pixels are the first multiple of six pixels.
    #expect(part.overwritten == [CellArea(x: 7, y: 4, width: 1, height: 3)])
    #expect(String(decoding: part.bytes, as: UTF8.self).contains("\"1;1;10;60"))
    #expect(part.bytes.count < all.count / 8)

    let moved = try Self.place(1, CellArea(x: 6, y: 3, width: 10, height: 6))
    let move = layer.update(to: [moved], photo: { _ in photo })
    #expect(String(decoding: move.bytes, as: UTF8.self).hasPrefix("\u{1B}[0m\u{1B}[4;6H\u{1B}[10X"))
    #expect(move.overwritten == [place.visible, moved.visible])
  }

  @Test("a photo in front is drawn again if the one behind it changed") func overlapping() throws {
    var layer = GraphicsLayer(.sixel, cellWidth: 10, cellHeight: 18)
    let photo = try TerminalPhoto(Self.photo(), for: .sixel)
    let front = try Self.place(2, CellArea(x: 10, y: 3, width: 10, height: 5))
    _ = layer.update(to: [front], photo: { _ in photo })
    let behind = try Self.place(1, CellArea(x: 5, y: 3, width: 10, height: 5))
    let update = layer.update(to: [behind, front], photo: { _ in photo })
    #expect(update.overwritten.first == behind.visible)
    #expect(update.overwritten.last?.columns.lowerBound == 10)
  }

  @Test("photos that are too large, missing or rotated are drawn in cells") func forCells() throws {
    let layer = GraphicsLayer(.sixel, cellWidth: 100, cellHeight: 100)
    let place = try Self.place(1, CellArea(x: 2, y: 1, width: 40, height: 12))
    let photo = try TerminalPhoto(Self.photo(), for: .sixel)
    #expect(!layer.canShow(place, photo))
    #expect(!layer.canShow(place, nil))
    let kitty = GraphicsLayer(.kitty, cellWidth: 8, cellHeight: 16)
    #expect(!kitty.canShow(place, photo))
    #expect(kitty.pixels(of: place) == (320, 192))

    let member = try #require(MemberID(bytes: Array(repeating: 1, count: 32)))
    let board = Board(incarnation: Incarnation(1), member: member, wallClock: 1)
    let header = try PhotoHeader(format: .png, width: 200, height: 100)
    let asset = try #require(AssetID(Array(repeating: 1, count: 32)))
    let id = try board.createPhoto(try AssetReference(id: asset, byteCount: 1, header: header), at: Point(x: 0, y: 0))
    let viewport = Viewport(center: Point(x: 100, y: 0), columns: 40, rows: 12)
    let snapshot = try #require(board.snapshot(id))
    let shown = try #require(GraphicsPlacement(snapshot, in: viewport, at: (1, 1)))
    // 200 by 100 units are 25 by 6 cells; the middle of the view is 100 units to the right.
    #expect(shown.box == CellArea(x: -4, y: 4, width: 25, height: 6))
    #expect(shown.visible == CellArea(x: 1, y: 4, width: 20, height: 6))
    try board.rotate([id], by: .radians(1), about: Point(x: 0, y: 0))
    let turned = try #require(board.snapshot(id))
    #expect(GraphicsPlacement(turned, in: viewport) == nil)
  }
}

import Foundation
import Testing
import Whiteboard
import WhiteboardRendering

@testable import WhiteboardKit

@Suite("Drawings of Excalidraw in pictures") struct EmbeddedDrawingTests {
  /// Returns a file for the tests, which is a picture that contains a drawing.
  private func file(_ name: String) throws -> [UInt8] {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Cases")
    return try Array(Data(contentsOf: folder.appendingPathComponent(name)))
  }

  private func imported(_ bytes: [UInt8]) throws -> ImportedBoard? {
    try EmbeddedDrawing.document(in: bytes).map { try ImportedBoard(reading: $0) { _ in nil } }
  }

  @Test("pictures that Excalidraw exported with their scene contain its elements", arguments: ["png", "svg"])
  func read(format: String) throws {
    let board = try #require(try imported(file("scene.excalidraw.\(format)")))
    #expect(!board.objects.isEmpty)
    #expect(board.objects.map(\.content) == (try imported(file("scene.excalidraw.png")))?.objects.map(\.content))
  }

  private static let document = #"{"type":"excalidraw","elements":[],"appState":{"name":"żółw 😀 \\u0000"}}"#
  private static let json = Array(document.utf8)

  private func png(_ chunks: [(String, [UInt8])]) -> [UInt8] {
    var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    for (kind, data) in chunks {
      bytes += [0, 0, UInt8(data.count >> 8), UInt8(data.count & 0xFF)]
      bytes += Array(kind.utf8) + data
      bytes += [0, 0, 0, 0]
    }
    return bytes
  }

  private static let keyword = Array("application/vnd.excalidraw+json\0".utf8)

  @Test("all forms of text chunks are read") func chunks() throws {
    let plain = Array(#"{"type":"excalidraw","elements":[]}"#.utf8)
    let other = ("tEXt", Array("Software\0a program".utf8))
    #expect(try EmbeddedDrawing.document(in: png([other, ("tEXt", Self.keyword + plain)])) == plain)
    #expect(try EmbeddedDrawing.document(in: png([("iTXt", Self.keyword + [0, 0, 0, 0] + Self.json)])) == Self.json)
    let deflated = try #require(Data(base64Encoded: "eJyrViqpLEhVslJKrUhOzMlMKUosV9JRSs1JzU3NKylWsoqOrQUA3aYMYA=="))
    for (kind, beginning) in [("zTXt", [0]), ("iTXt", [1, 0, 0, 0])] as [(String, [UInt8])] {
      #expect(try EmbeddedDrawing.document(in: png([(kind, Self.keyword + beginning + deflated)])) == plain)
    }
    #expect(try EmbeddedDrawing.document(in: png([other, ("IEND", [])])) == nil)
    #expect(try EmbeddedDrawing.document(in: Array("<svg></svg>".utf8)) == nil)
    #expect(try EmbeddedDrawing.document(in: Self.json) == nil)
  }

  @Test("a drawing that is added to a picture is read unchanged") func roundTrip() throws {
    let picture = png([("IDAT", [1, 2, 3]), ("IEND", [])])
    let embedded = EmbeddedDrawing.embed(Self.document, in: picture, .png)
    #expect(try EmbeddedDrawing.document(in: embedded) == Self.json)
    #expect(embedded.starts(with: picture.dropLast(12)) && embedded.suffix(12) == picture.suffix(12))
    let svg = EmbeddedDrawing.embed(Self.document, in: Array("<svg>\n<rect/>\n</svg>\n".utf8), .svg)
    #expect(try EmbeddedDrawing.document(in: svg) == Self.json)
    #expect(String(decoding: svg, as: UTF8.self).hasSuffix("</metadata>\n<rect/>\n</svg>\n"))
  }

  @Test("a damaged drawing is an error, and never traps", arguments: ["png", "svg"]) func damage(format: String) throws
  {
    let whole = try file("scene.excalidraw.\(format)")
    for length in stride(from: 0, to: whole.count, by: 7) {
      _ = try? EmbeddedDrawing.document(in: Array(whole.prefix(length)))
    }
    var failures = 0
    for index in stride(from: 200, to: whole.count, by: 5) {
      var damaged = whole
      damaged[index] ^= 0x11
      do throws(EmbeddedDrawing.Damaged) { _ = try EmbeddedDrawing.document(in: damaged) } catch { failures += 1 }
    }
    #expect(failures > 10)
  }

  @Test("a drawing that would grow beyond the limit of a file is refused") func bomb() throws {
    let zeros = String(repeating: " ", count: 1_000_000)
    let picture = EmbeddedDrawing.embed(zeros, in: png([("IEND", [])]), .png)
    #expect(picture.count < 10_000)
    #expect(try EmbeddedDrawing.document(in: picture)?.count == zeros.utf8.count)
    #expect(throws: EmbeddedDrawing.Damaged.self) { try EmbeddedDrawing.document(in: picture, limit: 900_000) }
  }
}

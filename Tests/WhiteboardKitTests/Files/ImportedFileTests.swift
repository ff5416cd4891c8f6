import Foundation
import Testing
import Whiteboard
import WhiteboardRendering

extension ObjectDraft {
  /// The text of the object, or its label.
  fileprivate var label: String? {
    switch content {
    case .text(let text, _): text
    case .form(_, _, _, let label, _): label
    default: nil
    }
  }

  fileprivate var form: DrawingForm? { if case .form(let form, _, _, _, _) = content { form } else { nil } }
}

/// Small files of other programs, each with the expected objects and losses of its import.
@Suite("Files of Excalidraw") struct ImportedFileTests {
  private func imported(_ name: String, photo: @escaping ([UInt8]) -> [UInt8]? = { $0 }) throws -> ImportedBoard {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Cases")
    let bytes = try Array(Data(contentsOf: folder.appendingPathComponent(name)))
    return try ImportedBoard(reading: bytes, photo: photo) {
      AssetID(Array(repeating: UInt8($0.count % 251), count: 32))
    }
  }

  @Test(
    "every element becomes an object",
    arguments: [
      ("bound.excalidraw", 2), ("bound-arrow.excalidraw", 3), ("two-items.excalidrawlib", 3),
      ("version1.excalidrawlib", 2), ("v1.excalidraw", 4), ("bare-array.json", 1), ("copied.json", 1),
      ("pressure.excalidraw", 4), ("crop.excalidraw", 4), ("groups.excalidraw", 3), ("lines.excalidraw", 6),
      ("head.excalidraw", 1), ("squares.excalidraw", 6), ("draw.excalidraw", 1), ("dashed.excalidraw", 2),
      ("frame.excalidraw", 4), ("text.excalidraw", 9),
    ]
  ) func whole(name: String, count: Int) throws {
    let board = try imported(name)
    #expect(board.objects.count == count)
    #expect(board.warnings == [])
  }

  @Test("a frame has its name, and contains its elements") func frame() throws {
    let objects = try imported("frame.excalidraw").objects
    let frame = try #require(objects.firstIndex { $0.label == "Sprint one" })
    #expect(objects[frame].form == .frame)
    #expect(objects.filter { $0.frameIndex == frame }.count == 3)
  }

  @Test("texts keep their sides, their links, and signs that look like markup") func texts() throws {
    let texts = try imported("text.excalidraw").objects
    #expect(texts.prefix(3).map { $0.style?.alignment } == [.right, .center, .left])
    #expect(texts.contains { $0.label == "This <value> is &amp; not shown" })
    #expect(texts.contains { $0.link == "https://example.org" && $0.label == "Docs" })
  }

  @Test("a picture can be WebP, which the program converts or checks") func webP() throws {
    let pixel =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
    let png = try Array(#require(Data(base64Encoded: pixel)))
    var isWebP: [Bool] = []
    let board = try imported("webp.excalidraw") { picture in
      isWebP.append(PhotoHeader.isWebP(picture))
      return png
    }
    #expect(isWebP == [true] && board.objects.count == 1 && board.warnings == [])
  }

  @Test("ten thousand shapes are imported") func many() throws {
    let shapes = (0..<10_000).map { number in
      #"{"type":"rectangle","x":\#(number % 100 * 120),"y":\#(number / 100 * 90),"width":100,"height":70}"#
    }
    let text = #"{"type":"excalidraw","elements":[\#(shapes.joined(separator: ","))]}"#
    let board = try ImportedBoard(reading: Array(text.utf8)) { _ in nil }
    #expect(board.objects.count == 10_000 && board.warnings == [])
  }

  @Test(
    "what a board cannot show is reported",
    arguments: [("mixed.excalidraw", 3, 7), ("styles.excalidraw", 23, 2), ("far.excalidraw", 3, 1)]
  ) func losses(name: String, count: Int, warnings: Int) throws {
    let board = try imported(name)
    #expect(board.objects.count == count)
    #expect(board.warnings.count == warnings)
  }
}

import Foundation
import Testing
import Whiteboard
import WhiteboardRendering

/// Small files of other programs, each with the objects and the losses that an import of it has.
@Suite("Files of Excalidraw") struct ImportedFileTests {
  private func imported(_ name: String) throws -> ImportedBoard {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Cases")
    let bytes = try Array(Data(contentsOf: folder.appendingPathComponent(name)))
    return try ImportedBoard(reading: bytes) { AssetID(Array(repeating: UInt8($0.count % 251), count: 32)) }
  }

  @Test(
    "every element becomes an object",
    arguments: [
      ("bound.excalidraw", 2), ("bound-arrow.excalidraw", 3), ("two-items.excalidrawlib", 3),
      ("version1.excalidrawlib", 2), ("v1.excalidraw", 4), ("bare-array.json", 1), ("copied.json", 1),
      ("pressure.excalidraw", 4), ("crop.excalidraw", 4), ("groups.excalidraw", 3), ("lines.excalidraw", 6),
      ("head.excalidraw", 1), ("squares.excalidraw", 6), ("draw.excalidraw", 1), ("dashed.excalidraw", 2),
    ]
  ) func whole(name: String, count: Int) throws {
    let board = try imported(name)
    #expect(board.objects.count == count)
    #expect(board.warnings == [])
  }

  @Test(
    "what a board cannot show is reported",
    arguments: [("mixed.excalidraw", 4, 6), ("styles.excalidraw", 23, 2), ("far.excalidraw", 3, 1)]
  ) func losses(name: String, count: Int, warnings: Int) throws {
    let board = try imported(name)
    #expect(board.objects.count == count)
    #expect(board.warnings.count == warnings)
  }
}

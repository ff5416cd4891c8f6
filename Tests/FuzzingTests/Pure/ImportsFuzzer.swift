import Whiteboard
import WhiteboardRendering

/// Imports a file from a stranger: a board as JSON, or an Excalidraw drawing.
func fuzzImports(_ input: inout Input) {
  guard let imported = try? ImportedBoard(reading: input.rest(), hash: hash),
    let member = MemberID(bytes: [UInt8](repeating: 1, count: 32))
  else { return }
  insist(imported.warnings.allSatisfy { $0.unicodeScalars.allSatisfy { $0.value >= 0x20 } }, "a warning is one line")
  let board = Board(incarnation: Incarnation(1), member: member, wallClock: 1_700_000_000_000)
  guard let made = try? board.add(imported.objects, groups: imported.groups, settings: imported.settings) else {
    return
  }
  insist(board.objectIDs == made, "the imported objects are on the board, in their order")
  let export = BoardExport(of: board, id: "", name: "") { imported.photos[$0] }
  for format in [ExportFormat.svg, .text, .excalidraw] {
    insist(try !export.file(as: format, pages: nil).bytes.isEmpty, "a board can be written")
  }
  let written = BoardJSON.text(export)
  let again = try? ImportedBoard(reading: Array(written.utf8), hash: hash)
  insist(again.map { $0.objects.count == made.count } ?? false, "an exported board has the same number of objects")
}

/// Returns an identifier of a photo, which is cheaper to compute than a SHA-256.
private func hash(_ bytes: [UInt8]) -> AssetID? {
  var sum = [UInt8](repeating: 0, count: 32)
  for (index, byte) in bytes.enumerated() { sum[index % 32] = sum[index % 32] &* 31 &+ byte }
  return AssetID(sum)
}

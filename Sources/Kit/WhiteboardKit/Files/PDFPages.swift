import Crypto
import Dispatch
import FoundationEssentials
import PeerCore
import Whiteboard
import WhiteboardRendering

/// Reads the pages of a PDF as pictures, with the programs of poppler.
enum PDFPages {
  static let limit = 100
  private static let reader = ChildProgram(name: "pdfinfo", package: "poppler-utils")
  private static let painter = ChildProgram(name: "pdftoppm", package: "poppler-utils")
  /// The number of pixels per inch, unless a page is too large for this resolution.
  private static let resolution = 150.0
  /// The number of board units per inch, as in exported PDF files.
  private static let unitsPerInch = 96.0
  private static let pointsPerInch = 72.0
  /// The maximum length of a side, in pixels.
  private static let side = 8000.0
  /// The distance between pages, in board units, and the number of pages in a row.
  private static let (gap, columns) = (40.0, 10)
  /// The time in seconds after which no further page is drawn.
  private static let seconds = 300

  static func isPDF(_ bytes: [UInt8]) -> Bool { bytes.starts(with: "%PDF-".utf8) }

  /// Reads the pages of a PDF. Each page is in a frame named after the file, and the pages form rows. Blocks the thread
  /// until the pages are drawn.
  static func read(_ bytes: [UInt8], named name: String, _ converter: (any PhotoConverter)?, limit: Int = limit)
    throws(ConversionError)
    -> ImportedBoard
  {
    try ChildProgram.withFolder { (folder) throws(ConversionError) in
      do { try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/document.pdf")) } catch {
        throw ConversionError("there is no room for a temporary file")
      }
      let lines = try reader.run(["-l", "\(limit)", "document.pdf"], in: folder).split(separator: "\n")
      guard let line = lines.first(where: { $0.hasPrefix("Pages:") }),
        let count = Int(line.dropFirst("Pages:".count).filter { $0 != " " }), count > 0
      else { throw ConversionError("it has no pages") }
      var board = ImportedBoard()
      var corner = Point(x: 0, y: 0)
      var (height, missing) = (0.0, 0)
      let end = DispatchTime.now() + .seconds(seconds)
      let last = min(count, limit)
      for page in 1...last {
        guard DispatchTime.now() < end else {
          missing += last - page + 1
          break
        }
        guard let (asset, size) = try? picture(of: page, lines, in: folder, converter, &board) else {
          missing += 1
          continue
        }
        let center = Point(x: corner.x + size.width / 2, y: corner.y + size.height / 2)
        let label = "\(name), page \(page)"
        let frame = ObjectDraft.Content.form(
          .frame,
          size: size,
          points: [],
          label: label,
          lineWidth: ObjectDefaults.formLineWidth
        )
        var picture = ObjectDraft(.photo(asset, size: size), at: center)
        picture.frameIndex = board.objects.count
        board.objects += [ObjectDraft(frame, at: center), picture]
        height = max(height, size.height)
        corner.x += size.width + gap
        if board.objects.count % (2 * columns) == 0 { (corner, height) = (Point(x: 0, y: corner.y + height + gap), 0) }
      }
      guard !board.objects.isEmpty else { throw ConversionError("no page of it can be shown") }
      if count > limit { board.warnings.append("pages after page \(limit) are left out: \(count - limit)") }
      if missing > 0 { board.warnings.append("pages that cannot be drawn are left out: \(missing)") }
      return board
    }
  }

  private static func picture(
    of page: Int,
    _ lines: [Substring],
    in folder: String,
    _ converter: (any PhotoConverter)?,
    _ board: inout ImportedBoard
  ) throws -> (AssetReference, Size) {
    // For example: "Page    3 size: 595 x 842 pts (A4)".
    var longest = 1.0
    for line in lines where line.hasPrefix("Page ") {
      let words = line.split(separator: " ")
      guard words.count > 5, words[1] == "\(page)", words[2] == "size:" else { continue }
      longest = max(longest, Double(words[3]) ?? 0, Double(words[5]) ?? 0)
    }
    let resolution = min(resolution, side / longest * pointsPerInch)
    let picture = ["-png", "-r", "\(resolution)", "-f", "\(page)", "-l", "\(page)", "-singlefile"]
    try painter.run(picture + ["document.pdf", "page"], in: folder)
    let path = "\(folder)/page.png"
    let png = try FileReading.whole(path, limit: 256 << 20)
    try FileManager.default.removeItem(atPath: path)
    let bytes = try converter?.photo(of: png, mayCompress: true) ?? png
    let asset = try board.keep(bytes) { AssetID(Array(SHA256.hash(data: $0))) }
    let scale = unitsPerInch / resolution
    return (asset, Size(width: Double(asset.width) * scale, height: Double(asset.height) * scale))
  }
}

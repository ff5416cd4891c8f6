import Whiteboard
import WhiteboardRendering

/// Thumbnails of boards for board lists, as SVG. Text remains text, photos are drawn as frames, and long strokes are
/// simplified. If the SVG would exceed ``byteLimit``, objects at the back are omitted. A thumbnail depends only on the
/// objects and the background.
package enum Thumbnail {
  package static let byteLimit = 16 << 10
  /// The width, in pixels.
  static let width = 240.0
  /// The height, in pixels.
  static let height = 160.0
  static let pointsPerStroke = 64

  static let head = #"<svg xmlns="http://www.w3.org/2000/svg" width="240" height="160" viewBox=""#

  /// The number of objects in front that can be shown; no more shapes fit into ``byteLimit``.
  static let objectLimit = 256

  package static func svg(of state: BoardState) -> String {
    let view = View(showing: state)
    let opening =
      "\(head)\(number(view.x)) \(number(view.y)) \(number(view.width)) \(number(view.height))\">"
      + "<rect x=\"\(number(view.x))\" y=\"\(number(view.y))\" width=\"100%\" height=\"100%\" "
      + "fill=\"\(color(BoardSettings(of: state).background ?? 0xFFFF_FFFF))\"/>"
    let closing = "</svg>"
    var left = byteLimit - opening.utf8.count - closing.utf8.count
    var shapes: [String] = []
    // Objects in front are added first, since they matter most if there is no room for all objects.
    for snapshot in state.foremostSnapshots(objectLimit) {
      guard let shape = shape(snapshot, view), shape.utf8.count <= left else { continue }
      left -= shape.utf8.count
      shapes.append(shape)
    }
    return opening + shapes.reversed().joined() + closing
  }

  private static func shape(_ snapshot: ObjectSnapshot, _ view: View) -> String? {
    let center = snapshot.centerPosition
    let turned =
      "transform=\"translate(\(number(center.x)) \(number(center.y))) "
      + "rotate(\(number(snapshot.angle * 180 / .pi))) scale(\(number(snapshot.scale)))\""
    switch snapshot.kind {
    case .text:
      guard let text = snapshot.text, !text.isEmpty else { return nil }
      let words = XML.escaped(String(text.prefix(80)))
      return "<text \(turned) font-size=\"20\" text-anchor=\"middle\" "
        + "fill=\"\(color(snapshot.color ?? 0x0000_00FF))\">\(words)</text>"
    case .drawing:
      guard let points = snapshot.points, !points.isEmpty else { return nil }
      let step = max(1, (points.count + pointsPerStroke - 1) / pointsPerStroke)
      let shown = stride(from: 0, to: points.count, by: step).map { points[$0] }
      let list = shown.map { "\(number($0.x)),\(number($0.y))" }.joined(separator: " ")
      // Lines are at least one pixel wide, so that thin lines stay visible.
      let width = max(snapshot.lineWidth ?? 5, view.width / 240)
      return "<polyline \(turned) points=\"\(list)\" fill=\"none\" stroke-width=\"\(number(width))\" "
        + "stroke=\"\(color(snapshot.color ?? 0x0000_00FF))\"/>"
    default:
      let size = snapshot.size
      return "<rect \(turned) x=\"\(number(-size.width / 2))\" y=\"\(number(-size.height / 2))\" "
        + "width=\"\(number(size.width))\" height=\"\(number(size.height))\" " + "fill=\"#8888\" stroke=\"#888\"/>"
    }
  }

  /// The visible part of the board: all objects, centered, in the thumbnail's aspect ratio.
  private struct View {
    var x = -120.0
    var y = -80.0
    var width = Thumbnail.width
    var height = Thumbnail.height

    init(showing state: BoardState) {
      var area: (low: Point, high: Point)?
      state.forEachShownFrame { center, size, scale in
        // A circle around the object contains the object at any angle of rotation.
        let reach = scale * (size.width + size.height) / 2
        let (low, high) = area ?? (center, center)
        area = (
          Point(x: min(low.x, center.x - reach), y: min(low.y, center.y - reach)),
          Point(x: max(high.x, center.x + reach), y: max(high.y, center.y + reach))
        )
      }
      guard let (low, high) = area else { return }
      let scale = max((high.x - low.x) / Thumbnail.width, (high.y - low.y) / Thumbnail.height, 0.25)
      width = Thumbnail.width * scale
      height = Thumbnail.height * scale
      x = (low.x + high.x - width) / 2
      y = (low.y + high.y - height) / 2
    }
  }

  private static func number(_ value: Double) -> String {
    let rounded = (value * 10).rounded() / 10
    guard let whole = Int64(exactly: rounded) else { return "\(rounded)" }
    return "\(whole)"
  }

  private static func color(_ rgba: UInt32) -> String {
    let digits = String(rgba, radix: 16)
    return "#" + String(repeating: "0", count: 8 - digits.count) + digits
  }
}

extension Thumbnail {
  /// Returns whether a thumbnail contains only rectangles, lines and text, as ``svg(of:)`` writes it. Other
  /// SVG can contain scripts and load files, and some programs show the thumbnail in a browser.
  static func isOwn(_ picture: String) -> Bool {
    guard picture.utf8.count <= byteLimit else { return false }
    var form = ThumbnailForm(picture)
    return form.takePicture()
  }
}

/// Parses stored thumbnails as bytes, because a `Character` that begins with `<` can also contain combining scalars.
private struct ThumbnailForm {
  private static let attributes = [
    "transform", "points", "x", "y", "width", "height", "fill", "stroke", "stroke-width", "font-size", "text-anchor",
  ]

  private var rest: ArraySlice<UInt8>

  init(_ picture: String) { rest = Array(picture.utf8)[...] }

  mutating func takePicture() -> Bool {
    guard take(Thumbnail.head), takeValue(), take(">") else { return false }
    while !take("</svg>") { guard takeShape() else { return false } }
    return rest.isEmpty
  }

  private mutating func takeShape() -> Bool {
    if take("<text") {
      guard takeAttributes(), take(">") else { return false }
      rest = rest.drop { $0 != UInt8(ascii: "<") }
      return take("</text>")
    }
    return (take("<rect") || take("<polyline")) && takeAttributes() && take("/>")
  }

  private mutating func takeAttributes() -> Bool {
    while take(" ") { guard Self.attributes.contains(where: { take("\($0)=\"") }), takeValue() else { return false } }
    return true
  }

  /// Consumes an attribute value and its closing quote; rejects characters that occur only in URLs and entities.
  private mutating func takeValue() -> Bool {
    rest = rest.drop { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
      default: "#%.,() -+".utf8.contains(byte)
      }
    }
    return take("\"")
  }

  private mutating func take(_ word: String) -> Bool {
    guard rest.starts(with: word.utf8) else { return false }
    rest = rest.dropFirst(word.utf8.count)
    return true
  }
}

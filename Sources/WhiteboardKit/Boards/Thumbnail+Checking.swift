/// Validation of stored thumbnails, because a board's file may come from an untrusted source.
extension Thumbnail {
  /// Returns whether a thumbnail contains only rectangles, lines and text, as ``svg(of:background:)`` writes it.
  ///
  /// Other SVG can contain scripts and load files, and some programs show the thumbnail in a browser.
  static func isOwn(_ picture: String) -> Bool {
    guard picture.utf8.count <= byteLimit else { return false }
    var form = ThumbnailForm(picture)
    return form.takePicture()
  }
}

/// A parser for stored thumbnails.
///
/// It works on bytes, because a `Character` that begins with `<` can also contain combining scalars.
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

import PeerCore
import Whiteboard

/// A page as SVG: words stay text, strokes are paths, and photos are embedded files. The text depends only on the
/// picture. Text from other members is escaped, and the page loads no external files.
package struct SVGPage {
  private let picture: BoardPicture
  private var text = ""

  package static func svg(_ picture: BoardPicture) -> String {
    var page = SVGPage(picture: picture)
    page.write()
    return page.text
  }

  private init(picture: BoardPicture) { self.picture = picture }

  private mutating func write() {
    let region = picture.region
    let width = DecimalText.hundredths(max(region.greatest.x - region.least.x, 1))
    let height = DecimalText.hundredths(max(region.greatest.y - region.least.y, 1))
    let corner = "\(DecimalText.hundredths(region.least.x)) \(DecimalText.hundredths(region.least.y))"
    line(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" "
        + "viewBox=\"\(corner) \(width) \(height)\">"
    )
    if let background = picture.background { line("<rect \(Self.box(region)) fill=\"\(XML.color(background))\"/>") }
    // Browsers show one board unit as one pixel by default.
    drawGrid()
    let targets = picture.linkTargets
    for object in picture.objects(pixelsPerUnit: 1) where !object.marks.isEmpty {
      let snapshot = object.snapshot
      let opacity = snapshot.style.opacity
      let seen = opacity < 1 ? " opacity=\"\(DecimalText.hundredths(opacity))\"" : ""
      let name = targets.contains(snapshot.id) ? " id=\"\(Self.name(snapshot.id))\"" : ""
      let link = snapshot.link.flatMap { Self.link($0, targets) }
      if let link { line(link) }
      line("<g\(name) \(Self.transform(snapshot))\(seen)>")
      for mark in object.marks { draw(mark) }
      line("</g>")
      if link != nil { line("</a>") }
    }
    line("</svg>")
  }

  private static func name(_ id: ObjectID) -> String { "object-\(id)" }

  /// Returns the start tag of a link; nil if the link leads to an object that is not on the page.
  private static func link(_ link: String, _ targets: Set<ObjectID>) -> String? {
    guard let target = ObjectLink.target(of: link) else {
      let address = XML.escaped(link)
      return "<a href=\"\(address)\" target=\"_blank\" rel=\"noopener noreferrer\"><title>\(address)</title>"
    }
    return targets.contains(target) ? "<a href=\"#\(name(target))\">" : nil
  }

  private mutating func drawGrid() {
    guard let grid = BoardGrid(picture, pixelsPerUnit: 1) else { return }
    let (least, greatest) = (picture.region.least, picture.region.greatest)
    let columns = grid.positions(from: least.x, to: greatest.x).map {
      "M\(Self.text(Point(x: $0, y: least.y)))V\(DecimalText.hundredths(greatest.y))"
    }
    let rows = grid.positions(from: least.y, to: greatest.y).map {
      "M\(Self.text(Point(x: least.x, y: $0)))H\(DecimalText.hundredths(greatest.x))"
    }
    let color = PageColor(rgb: PageInk(paper: picture.background).plain, opacity: BoardGrid.opacity)
    line("<path fill=\"none\" \(Self.paint(color, "stroke")) d=\"\((columns + rows).joined())\"/>")
  }

  private mutating func line(_ line: String) {
    text += line
    text += "\n"
  }

  private mutating func draw(_ mark: PageMark) {
    switch mark {
    case .ink(let lines, let color): draw(lines, color)
    case .box(let area, let fill, let border):
      let paint = fill.map { Self.paint($0, "fill") } ?? "fill=\"none\""
      let edge = border.map { " stroke=\"\(XML.color($0.rgb))\"" } ?? ""
      line("<rect \(Self.box(area)) \(paint)\(edge)/>")
    case .area(let outline, let color):
      line("<path fill-rule=\"evenodd\" \(Self.paint(color, "fill")) d=\"\(Self.data(outline))\"/>")
    case .line(let form): draw(form)
    case .words(let words): draw(words)
    case .photo(let photo): draw(photo)
    }
  }

  // MARK: - Positions and colors

  /// The origin of the object's own coordinates is its center.
  private static func transform(_ snapshot: ObjectSnapshot) -> String {
    let center = snapshot.centerPosition
    var steps = ["translate(\(DecimalText.hundredths(center.x)) \(DecimalText.hundredths(center.y)))"]
    if snapshot.angle != 0 { steps.append("rotate(\(DecimalText.hundredths(snapshot.angle * 180 / .pi)))") }
    if snapshot.scale != 1 { steps.append("scale(\(factor(snapshot.scale)))") }
    return "transform=\"\(steps.joined(separator: " "))\""
  }

  /// Returns a scale with up to six decimals, since it can be less than a hundredth.
  private static func factor(_ scale: Double) -> String {
    let millionths = Int64((scale * 1e6).rounded())
    let (whole, rest) = millionths.quotientAndRemainder(dividingBy: 1_000_000)
    guard rest > 0 else { return "\(whole)" }
    let digits = String(rest)
    var decimals = String(repeating: "0", count: 6 - digits.count) + digits
    while decimals.hasSuffix("0") { decimals.removeLast() }
    return "\(whole).\(decimals)"
  }

  private static func box(_ area: Rectangle) -> String {
    "x=\"\(DecimalText.hundredths(area.least.x))\" y=\"\(DecimalText.hundredths(area.least.y))\" "
      + "width=\"\(DecimalText.hundredths(area.greatest.x - area.least.x))\" "
      + "height=\"\(DecimalText.hundredths(area.greatest.y - area.least.y))\""
  }

  /// The opacity applies to the whole element, so that a stroke that crosses itself is not darker at the crossing.
  private static func paint(_ color: PageColor, _ attribute: String) -> String {
    let seen = color.opacity < 1 ? " opacity=\"\(DecimalText.hundredths(color.opacity))\"" : ""
    return "\(attribute)=\"\(XML.color(color.rgb))\"\(seen)"
  }

  // MARK: - Photos

  /// If the file has an orientation, the page itself rotates the photo, because only some viewers apply the orientation
  /// in a file.
  private mutating func draw(_ photo: PagePhoto) {
    var place = Self.box(photo.box)
    if photo.orientation != .upright || !photo.view.isPlain {
      let transform = photo.transform(photo.orientation)
      let numbers = [transform.right, transform.down, transform.corner].map(Self.text)
      place = "width=\"1\" height=\"1\" transform=\"matrix(\(numbers.joined(separator: " ")))\""
    }
    let file = Base64.encode(PhotoHeader.upright(photo.file))
    let image =
      "<image \(place) preserveAspectRatio=\"none\" "
      + "href=\"data:image/\(photo.asset.format.name);base64,\(file)\"/>"
    guard photo.view.isCropped else { return line(image) }
    // An inner picture is clipped to its box.
    let (least, greatest) = (photo.box.least, photo.box.greatest)
    let sides = [least.x, least.y, greatest.x - least.x, greatest.y - least.y].map(DecimalText.hundredths)
    line("<svg \(Self.box(photo.box)) viewBox=\"\(sides.joined(separator: " "))\">\(image)</svg>")
  }

  // MARK: - Words

  private static func font(_ face: PageFace) -> String {
    let size = DecimalText.hundredths(BoardPicture.fontSize * face.factor)
    let weight = face.isBold ? " font-weight=\"bold\"" : ""
    let slant = face.isItalic ? " font-style=\"italic\"" : ""
    return "font-family=\"\(face.families)\" font-size=\"\(size)\" xml:space=\"preserve\"\(weight)\(slant)"
  }

  private mutating func draw(_ words: PageWords) {
    let width = words.width
    let (x, anchor) = Self.anchor(words, width)
    line(
      "<text x=\"\(DecimalText.hundredths(x))\" "
        + "y=\"\(DecimalText.hundredths(words.corner.y + PageWords.baseline * words.face.factor))\" "
        + "\(Self.font(words.face))\(anchor) \(Self.paint(words.color, "fill"))>"
        + "\(XML.escaped(words.text))</text>"
    )
  }

  /// Returns the position of a row, and the attributes for its side and direction.
  private static func anchor(_ words: PageWords, _ width: Double) -> (x: Double, attributes: String) {
    // The start of a row from right to left is its right side.
    let direction = words.isRightToLeft ? " direction=\"rtl\" unicode-bidi=\"embed\"" : ""
    switch words.alignment {
    case .left: return (words.corner.x, (words.isRightToLeft ? " text-anchor=\"end\"" : "") + direction)
    case .center: return (words.corner.x + width / 2, " text-anchor=\"middle\"" + direction)
    case .right: return (words.corner.x + width, (words.isRightToLeft ? "" : " text-anchor=\"end\"") + direction)
    }
  }

  // MARK: - Strokes

  private mutating func draw(_ lines: [PageLine], _ color: PageColor) {
    line("<g fill=\"none\" stroke-linecap=\"round\" stroke-linejoin=\"round\" " + "\(Self.paint(color, "stroke"))>")
    for part in lines {
      line("<path stroke-width=\"\(DecimalText.hundredths(part.width))\" d=\"\(Self.data(part))\"/>")
    }
    line("</g>")
  }

  /// The group has the opacity, so that a line and its ends are not darker where they overlap.
  private mutating func draw(_ form: PageOutline) {
    line("<g fill=\"none\" stroke-linecap=\"round\" stroke-linejoin=\"round\" \(Self.paint(form.color, "stroke"))>")
    let width = "stroke-width=\"\(DecimalText.hundredths(form.width))\""
    let lengths = form.dashes.map(DecimalText.hundredths).joined(separator: " ")
    let dashes = lengths.isEmpty ? "" : " stroke-dasharray=\"\(lengths)\""
    line("<path \(width)\(dashes) d=\"\(Self.data(form.outline))\"/>")
    for end in form.ends {
      let paint = end.isClosed ? "stroke=\"none\" fill=\"\(XML.color(form.color.rgb))\"" : width
      line("<path \(paint) d=\"\(Self.data(end))\"/>")
    }
    line("</g>")
  }

  private static func data(_ outline: Outline) -> String {
    var data = "M\(text(outline.start))"
    for piece in outline.pieces {
      switch piece {
      case .line(let end): data += "L\(text(end))"
      case .curve(let first, let second, let end): data += "C\(text(first)) \(text(second)) \(text(end))"
      }
    }
    return data + (outline.isClosed ? "Z" : "")
  }

  private static func data(_ line: PageLine) -> String {
    // A dot becomes a line of length zero with round ends.
    guard !line.pieces.isEmpty else { return "M\(text(line.start))h0" }
    var data = "M\(text(line.start))"
    for piece in line.pieces {
      switch piece {
      case .line(let end): data += "L\(text(end))"
      case .curve(let control, let end): data += "Q\(text(control)) \(text(end))"
      }
    }
    return data
  }

  private static func text(_ point: Point) -> String {
    "\(DecimalText.hundredths(point.x)) \(DecimalText.hundredths(point.y))"
  }
}

package enum XML {
  /// Returns text from other members escaped for XML, without control characters, invisible characters
  /// (``InvisibleText``), and characters that XML does not allow.
  package static func escaped(_ text: String) -> String {
    var result = ""
    InvisibleText.scan(text) { scalar, isInvisible in
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\t", "\n": result += " "
      default:
        let isControl =
          scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) || (0xFFFE...0xFFFF).contains(scalar.value)
        if !isControl, !isInvisible { result.unicodeScalars.append(scalar) }
      }
    }
    return result
  }

  package static func color(_ rgb: UInt32) -> String {
    let digits = String(rgb & 0xFF_FFFF, radix: 16)
    return "#" + String(repeating: "0", count: 6 - digits.count) + digits
  }
}

package enum DecimalText {
  /// Returns a number with at most two decimals, formatted the same on every machine.
  package static func hundredths(_ value: Double) -> String {
    guard value.isFinite else { return "0" }
    let hundredths = Int64((min(max(value, -1e12), 1e12) * 100).rounded())
    let (whole, rest) = hundredths.magnitude.quotientAndRemainder(dividingBy: 100)
    let sign = hundredths < 0 ? "-" : ""
    guard rest > 0 else { return "\(sign)\(whole)" }
    let (tenth, last) = rest.quotientAndRemainder(dividingBy: 10)
    return "\(sign)\(whole).\(tenth)\(last == 0 ? "" : "\(last)")"
  }
}

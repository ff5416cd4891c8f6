import Whiteboard
import WhiteboardRendering

/// A page as SVG: words stay words, strokes are paths, photos are the files that were put on the board.
///
/// A pure function of the picture: one picture, one text. Whatever others wrote is escaped, and nothing in
/// it asks for anything from elsewhere.
package struct SVGPage {
  private let picture: BoardPicture
  private let ink: PageInk
  private var text = ""

  /// The page of a picture, as one document of XML that ends with a line feed.
  package static func svg(_ picture: BoardPicture) -> String {
    var page = SVGPage(picture: picture, ink: PageInk(on: picture.background))
    page.write()
    return page.text
  }

  private init(picture: BoardPicture, ink: PageInk) {
    self.picture = picture
    self.ink = ink
  }

  private mutating func write() {
    let region = picture.region
    let width = XML.number(max(region.greatest.x - region.least.x, 1))
    let height = XML.number(max(region.greatest.y - region.least.y, 1))
    let corner = "\(XML.number(region.least.x)) \(XML.number(region.least.y))"
    line(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" "
        + "viewBox=\"\(corner) \(width) \(height)\">"
    )
    if let background = picture.background {
      line(
        "<rect x=\"\(XML.number(region.least.x))\" y=\"\(XML.number(region.least.y))\" "
          + "width=\"\(width)\" height=\"\(height)\" fill=\"\(XML.color(background))\"/>"
      )
    }
    for item in picture.items where item.snapshot.bounds.touches(region) { draw(item) }
    line("</svg>")
  }

  private mutating func line(_ line: String) {
    text += line
    text += "\n"
  }

  private mutating func draw(_ item: BoardCanvas.Item) {
    let snapshot = item.snapshot
    switch snapshot.kind {
    case .text: draw(words: snapshot)
    case .drawing: draw(stroke: snapshot)
    case .photo: draw(photo: snapshot)
    case .game:
      if let game = item.game {
        draw(GamePanel.label(game, isASCII: false, naming: picture.name), snapshot)
      }
    default: draw(frame: "?", snapshot)
    }
  }

  /// Where an object's own coordinates are, which have its centre in the middle.
  private func transform(_ snapshot: ObjectSnapshot) -> String {
    let center = snapshot.centerPosition
    var steps = ["translate(\(XML.number(center.x)) \(XML.number(center.y)))"]
    if snapshot.angle != 0 { steps.append("rotate(\(XML.number(snapshot.angle * 180 / .pi)))") }
    if snapshot.scale != 1 { steps.append("scale(\(Self.factor(snapshot.scale)))") }
    return "transform=\"\(steps.joined(separator: " "))\""
  }

  /// A scale, to six decimals: it may be less than a hundredth.
  private static func factor(_ scale: Double) -> String {
    let millionths = Int64((scale * 1e6).rounded())
    let (whole, rest) = millionths.quotientAndRemainder(dividingBy: 1_000_000)
    guard rest > 0 else { return "\(whole)" }
    let digits = String(rest)
    var decimals = String(repeating: "0", count: 6 - digits.count) + digits
    while decimals.hasSuffix("0") { decimals.removeLast() }
    return "\(whole).\(decimals)"
  }

  // MARK: - Words

  private mutating func draw(words snapshot: ObjectSnapshot) {
    let lines = PageText.lines(of: snapshot)
    guard !lines.isEmpty else { return }
    let paint = ink.paint(snapshot.color, "fill")
    line("<g \(transform(snapshot)) \(paint)\(Self.font)>")
    let left = -Double(PageText.columns(lines)) * PageText.column / 2
    let top = -Double(lines.count) * PageText.row / 2
    for (row, words) in lines.enumerated() {
      write(words, x: left, top: top + Double(row) * PageText.row)
    }
    line("</g>")
  }

  private static let font =
    " font-family=\"\(PageText.fonts)\" font-size=\"\(XML.number(PageText.fontSize))\" "
    + "xml:space=\"preserve\""

  private mutating func write(_ words: String, x: Double, top: Double, _ look: String = "") {
    let shown = XML.escaped(words)
    guard shown.contains(where: { $0 != " " }) else { return }
    line(
      "<text x=\"\(XML.number(x))\" y=\"\(XML.number(top + PageText.baseline))\"\(look)>"
        + "\(shown)</text>"
    )
  }

  // MARK: - Strokes

  private mutating func draw(stroke snapshot: ObjectSnapshot) {
    let lines = snapshot.inkLines
    guard !lines.isEmpty else { return }
    let width = snapshot.lineWidth ?? ObjectDefaults.lineWidth
    let paths = lines.flatMap { SVGStroke.paths($0, width: width) }
    let look =
      "fill=\"none\" stroke-linecap=\"round\" stroke-linejoin=\"round\" "
      + ink.paint(snapshot.color, "stroke")
    guard let first = paths.first, paths.count == 1 else {
      line("<g \(transform(snapshot)) \(look)>")
      for path in paths {
        line("<path stroke-width=\"\(XML.number(path.width))\" d=\"\(path.data)\"/>")
      }
      line("</g>")
      return
    }
    line(
      "<path \(transform(snapshot)) \(look) stroke-width=\"\(XML.number(first.width))\" "
        + "d=\"\(first.data)\"/>"
    )
  }

  // MARK: - Photos

  private mutating func draw(photo snapshot: ObjectSnapshot) {
    guard let asset = snapshot.asset, let bytes = picture.photo(asset.id) else {
      draw(frame: "photo", snapshot)
      return
    }
    line(
      "<image \(transform(snapshot)) \(box(snapshot)) preserveAspectRatio=\"none\" "
        + "href=\"data:image/\(asset.format.name);base64,\(Base64.encode(bytes))\"/>"
    )
  }

  private func box(_ snapshot: ObjectSnapshot) -> String {
    let size = snapshot.size
    return "x=\"\(XML.number(-size.width / 2))\" y=\"\(XML.number(-size.height / 2))\" "
      + "width=\"\(XML.number(size.width))\" height=\"\(XML.number(size.height))\""
  }

  /// What stands for something that cannot be shown.
  private mutating func draw(frame words: String, _ snapshot: ObjectSnapshot) {
    line("<g \(transform(snapshot))\(Self.font)>")
    line("<rect \(box(snapshot)) fill=\"#dddddd\" stroke=\"#888888\"/>")
    let width = Double(CharacterWidth.columns(words)) * PageText.column
    write(words, x: -width / 2, top: -PageText.row / 2, " fill=\"#444444\"")
    line("</g>")
  }

  // MARK: - Games

  /// Letters in rows, each on its own ground: a panel of paper with a border.
  private mutating func draw(_ label: Label, _ snapshot: ObjectSnapshot) {
    let width = Double(label.width) * PageText.column
    let height = Double(label.height) * PageText.row
    let (left, top) = (-width / 2, -height / 2)
    line("<g \(transform(snapshot))\(Self.font)>")
    line(
      "<rect x=\"\(XML.number(left - 8))\" y=\"\(XML.number(top - 6))\" "
        + "width=\"\(XML.number(width + 16))\" height=\"\(XML.number(height + 12))\" rx=\"6\" "
        + "fill=\"#ffffff\" stroke=\"#888888\"/>"
    )
    for (row, spans) in label.lines.enumerated() {
      var x = left
      let y = top + Double(row) * PageText.row
      for span in spans {
        let columns = Double(CharacterWidth.columns(span.text))
        if let ground = span.style.background.rgb {
          line(
            "<rect x=\"\(XML.number(x))\" y=\"\(XML.number(y))\" "
              + "width=\"\(XML.number(columns * PageText.column))\" "
              + "height=\"\(XML.number(PageText.row))\" fill=\"\(XML.color(ground))\"/>"
          )
        }
        write(span.text, x: x, top: y, Self.look(span.style))
        x += columns * PageText.column
      }
    }
    line("</g>")
  }

  private static func look(_ style: CellStyle) -> String {
    let isDim = style.attributes.contains(.dim)
    let fill = style.foreground.rgb ?? (isDim ? 0x666666 : 0)
    let weight = style.attributes.contains(.bold) ? " font-weight=\"bold\"" : ""
    return " fill=\"\(XML.color(fill))\"\(weight)"
  }
}

extension BoardPicture {
  /// What to call a member.
  package func name(_ member: MemberID) -> String {
    names[member] ?? String(member.description.prefix(8))
  }
}

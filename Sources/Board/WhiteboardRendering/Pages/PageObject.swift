import PeerCore
import Whiteboard

package struct PageObject: Hashable, Sendable {
  /// The object, whose center, scale and angle determine where the marks are on the page.
  package let snapshot: ObjectSnapshot
  package let bounds: Rectangle
  package let marks: [PageMark]
}

/// One visible part of an object, in the object's own board units relative to its center.
package enum PageMark: Hashable, Sendable {
  /// Lines with round ends and corners; overlapping lines are as transparent as a single line.
  case ink([PageLine], PageColor)
  /// A rectangle, optionally filled and with a border of one unit.
  case box(Rectangle, fill: PageColor?, border: PageColor?)
  /// The area inside a closed outline, by the even-odd rule.
  case area(Outline, PageColor)
  case line(PageOutline)
  case words(PageWords)
  case photo(PagePhoto)
}

/// The line of a form, with round ends and corners; overlapping parts are as transparent as a single line.
package struct PageOutline: Hashable, Sendable {
  package let outline: Outline
  /// The marks at the ends: a closed mark is filled, and any other mark is a line without gaps.
  package let ends: [Outline]
  /// The width of the line in board units.
  package let width: Double
  /// The lengths of dashes and gaps in board units; empty for a line without gaps.
  package let dashes: [Double]
  package let color: PageColor
}

extension String {
  /// Whether the first letter of the text belongs to a script that is written from right to left.
  package var isRightToLeft: Bool {
    for scalar in unicodeScalars {
      switch scalar.value {
      case 0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF: return true
      default: break
      }
      switch scalar.properties.generalCategory {
      case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: return false
      default: break
      }
    }
    return false
  }
}

package struct PageFace: Hashable, Sendable {
  /// The size relative to letters of the size ``BoardPicture/letter``.
  package var factor = 1.0
  package var typeface = Typeface.plain
  package var isBold = false
  package var isItalic = false

  /// The font families, the most suitable first.
  package var families: String {
    switch typeface {
    case .plain: "DejaVu Sans Mono, Menlo, Consolas, monospace"
    case .hand: "Comic Shanns Mono, Comic Mono, Comic Neue, Comic Sans MS, Chalkboard, cursive"
    case .code: "Liberation Mono, Courier New, Courier, monospace"
    }
  }
}

/// One row of text, in columns of the size ``BoardPicture/letter`` times the factor of the face.
package struct PageWords: Hashable, Sendable {
  /// The text, with `�` in place of characters that are not printable.
  package let text: String
  package let corner: Point
  package let color: PageColor
  package let face: PageFace
  /// The side to which letters are aligned if they are narrower than their columns.
  package let alignment: TextAlignment
  package let isRightToLeft: Bool
  package let width: Double
  /// The distance of the baseline from the top of a row, in board units at the factor 1.
  package static let baseline = 12.0

  package init?(
    _ text: String,
    _ corner: Point,
    _ color: PageColor,
    _ face: PageFace = PageFace(),
    width: Double? = nil,
    alignment: TextAlignment = .left,
    isRightToLeft: Bool = false
  ) {
    let shown = Self.shown(text)
    guard shown.contains(where: { $0 != " " }) else { return nil }
    self.text = shown
    self.corner = corner
    self.color = color
    self.face = face
    self.width = width ?? Double(CharacterWidth.columns(shown)) * BoardPicture.letter.width * face.factor
    self.alignment = alignment
    self.isRightToLeft = isRightToLeft
  }

  /// Returns a line of text that contains only characters that fonts, XML and graphics libraries accept. Invisible
  /// characters are removed, and other unsafe characters become `�`.
  private static func shown(_ line: String) -> String {
    var scalars = String.UnicodeScalarView()
    InvisibleText.scan(line) { scalar, isInvisible in
      if isInvisible { return }
      // Keep format characters, because some of them join letters or emoji.
      if scalar.isSafe || scalar.properties.generalCategory == .format {
        scalars.append(scalar)
      } else {
        scalars.append(scalar == "\t" ? " " : "\u{FFFD}")
      }
    }
    return String(scalars)
  }
}

package struct PagePhoto: Hashable, Sendable {
  package let asset: AssetReference
  package let file: [UInt8]
  /// The orientation of the pixels, as stored in the file.
  package let orientation: PhotoOrientation
  package let box: Rectangle
  package let view: PhotoView

  /// Returns the transform from a unit square to the area of the whole picture, for pixels in the given orientation.
  /// The part of the picture that is shown fills the box.
  package func transform(_ orientation: PhotoOrientation) -> PageTransform {
    let origin = view.place(inBox: Point(x: 0, y: 0))
    let end = view.place(inBox: Point(x: 1, y: 1))
    let width = (box.greatest.x - box.least.x) / (end.x - origin.x)
    let height = (box.greatest.y - box.least.y) / (end.y - origin.y)
    let start = Point(x: box.least.x - origin.x * width, y: box.least.y - origin.y * height)
    let (right, down, corner): ((Double, Double), (Double, Double), (Double, Double)) =
      switch orientation {
      case .upright: ((1, 0), (0, 1), (0, 0))
      case .mirrored: ((-1, 0), (0, 1), (1, 0))
      case .halfTurn: ((-1, 0), (0, -1), (1, 1))
      case .flipped: ((1, 0), (0, -1), (0, 1))
      case .transposed: ((0, 1), (1, 0), (0, 0))
      case .quarterTurn: ((0, 1), (-1, 0), (1, 0))
      case .transversed: ((0, -1), (-1, 0), (1, 1))
      case .quarterTurnBack: ((0, -1), (1, 0), (0, 1))
      }
    return PageTransform(
      right: Point(x: right.0 * width, y: right.1 * height),
      down: Point(x: down.0 * width, y: down.1 * height),
      corner: Point(x: start.x + corner.0 * width, y: start.y + corner.1 * height)
    )
  }
}

/// The transform of a unit square, as a matrix.
package struct PageTransform: Hashable, Sendable {
  /// The vector of the square's upper side.
  package let right: Point
  /// The vector of the square's left side.
  package let down: Point
  package let corner: Point
}

// MARK: - Objects as marks

extension BoardPicture {
  /// Each object is computed when it is requested. Lines are at least 0.7 pixels wide; `pixelsPerUnit` is the number of
  /// pixels per board unit.
  package func objects(pixelsPerUnit: Double) -> some Sequence<PageObject> {
    let leastWidth = 0.7 / pixelsPerUnit
    let grounds = PageGrounds(items, paper: background)
    return shownIndexes.lazy.map {
      var marks = marks(items[$0], grounds.ink(onItem: $0), leastWidth: leastWidth)
      if items[$0].snapshot.id == frame { marks.removeAll { if case .area = $0 { false } else { true } } }
      return PageObject(snapshot: items[$0].snapshot, bounds: bounds[$0], marks: marks)
    }
  }

  package func name(_ member: MemberID) -> String { names[member] ?? member.shortText }

  private func marks(_ item: BoardCanvas.Item, _ ink: PageInk, leastWidth: Double) -> [PageMark] {
    let snapshot = item.snapshot
    switch snapshot.kind {
    case .drawing:
      let width = max(snapshot.lineWidth ?? ObjectDefaults.lineWidth, leastWidth / snapshot.scale)
      if let outline = snapshot.outline { return form(snapshot, outline, width, ink) }
      let lines = PageLine.lines(of: snapshot, width: width) + PageLine.preview(of: item, width: width)
      return lines.isEmpty ? [] : [.ink(lines, ink.color(snapshot.color))]
    case .text: return text(snapshot, ink)
    case .photo:
      guard let asset = snapshot.asset, let file = photo(asset.id) else {
        return Self.placeholder("photo: not here", snapshot.size)
      }
      let orientation = PhotoHeader.orientation(of: file)
      let box = Self.box(snapshot.size)
      let view = PhotoView(snapshot)
      return [.photo(PagePhoto(asset: asset, file: file, orientation: orientation, box: box, view: view))]
    case .game: return item.game.map { panel(GamePanel.label($0, isASCII: false, naming: name), ink) } ?? []
    default: return Self.placeholder("?", snapshot.size)
    }
  }

  private static func box(_ size: Size) -> Rectangle {
    Rectangle(Point(x: -size.width / 2, y: -size.height / 2), Point(x: size.width / 2, y: size.height / 2))
  }

  /// Returns the marks of a text object, with the same line breaks as on a terminal.
  private func text(_ snapshot: ObjectSnapshot, _ ink: PageInk) -> [PageMark] {
    guard let layout = TextLayout(snapshot) else { return [] }
    let fill = PageColor(fill: snapshot.style.fill)
    let ground = fill.map { [PageMark.box(layout.box, fill: $0, border: nil)] } ?? []
    return ground + Self.words(layout, snapshot.style, ink.over(fill).color(snapshot.color))
  }

  private static func words(_ layout: TextLayout, _ style: ObjectStyle, _ color: PageColor) -> [PageMark] {
    let face = PageFace(
      factor: layout.letter.width / letter.width,
      typeface: style.typeface,
      isBold: style.isBold,
      isItalic: style.isItalic
    )
    return layout.lines.enumerated().compactMap { row, line in
      let isRightToLeft = line.isRightToLeft
      var corner = layout.corner(ofRow: row)
      let width = layout.width(ofRow: row)
      // A right-to-left row is on the right, unless the object has another alignment.
      let isOnRight = isRightToLeft && style.alignment == .left
      if isOnRight { corner.x = layout.box.greatest.x - width }
      let alignment = isOnRight ? .right : style.alignment
      return PageWords(
        line,
        corner,
        color,
        face,
        width: width,
        alignment: alignment,
        isRightToLeft: isRightToLeft
      ).map { .words($0) }
    }
  }

  private func form(_ snapshot: ObjectSnapshot, _ outline: Outline, _ width: Double, _ ink: PageInk) -> [PageMark] {
    let (style, isFrame) = (snapshot.style, snapshot.form == .frame)
    let fill = outline.isClosed ? PageColor(fill: style.fill) : nil
    var marks = fill.map { [PageMark.area(outline, $0)] } ?? []
    if snapshot.form != .note {
      let width = isFrame && width == ObjectDefaults.formLineWidth ? width / 2 : width
      let ends = snapshot.endMarks
      // The line of a frame is outside its area, so that it does not cover a picture of the same size.
      let around = Size(width: snapshot.size.width + width, height: snapshot.size.height + width)
      let line = PageOutline(
        outline: isFrame ? Outline(.frame, around) : outline.shortened(style, marks: ends),
        ends: ends,
        width: width,
        dashes: style.lineStyle.dashes.map { $0 * width },
        color: ink.lineColor(snapshot.color ?? (isFrame ? Self.frameColor : nil), around: fill)
      )
      marks.append(.line(line))
    }
    guard let label = TextLayout(snapshot) else { return marks }
    let isOnLine = snapshot.form?.hasPoints == true
    // The line would make the letters illegible.
    if isOnLine { marks.append(.box(label.box, fill: PageColor(rgb: background ?? 0xFFFFFF), border: nil)) }
    // The name of a frame is above its fill.
    let letters = isOnLine ? PageInk(paper: background) : isFrame ? ink : ink.over(fill)
    return marks + Self.words(label, style, letters.color(style.textColor ?? (isFrame ? Self.frameColor : nil)))
  }

  /// The color of the thin line and the name of a frame without a color of its own.
  private static let frameColor: UInt32 = 0x7F7F_7FFF

  /// Returns a box in place of an object that cannot be shown, with `words` in it if they fit.
  package static func placeholder(_ words: String, _ size: Size) -> [PageMark] {
    let ground = PageMark.box(box(size), fill: PageColor(rgb: 0x444444), border: nil)
    let room = Double(CharacterWidth.columns(words)) * letter.width
    guard room <= size.width, size.height >= letter.height,
      let words = PageWords(words, Point(x: -room / 2, y: -letter.height / 2), PageColor(rgb: 0xFFFFFF))
    else { return [ground] }
    return [ground, .words(words)]
  }

  private func panel(_ label: Label, _ ink: PageInk) -> [PageMark] {
    let size = Self.size(columns: label.width, rows: label.height)
    let (left, top) = (-size.width / 2, -size.height / 2)
    let margin = 2 * Self.panelMargin
    var marks = [
      PageMark.box(
        Self.box(Size(width: size.width + margin, height: size.height + margin)),
        fill: background.map { PageColor(rgb: $0) },
        border: PageColor(rgb: 0x888888)
      )
    ]
    for (row, line) in label.lines.enumerated() {
      var x = left
      let y = top + Double(row) * Self.letter.height
      for span in line {
        let end = x + Double(CharacterWidth.columns(span.text)) * Self.letter.width
        if let ground = span.style.background.rgb {
          let area = Rectangle(Point(x: x, y: y + 0.5), Point(x: end, y: y + Self.letter.height - 0.5))
          marks.append(.box(area, fill: PageColor(rgb: ground), border: nil))
        }
        let isBold = span.style.attributes.contains(.bold)
        PageWords(span.text, Point(x: x, y: y), Self.color(span.style, ink), PageFace(isBold: isBold)).map {
          marks.append(.words($0))
        }
        x = end
      }
    }
    return marks
  }

  /// If the cell has a background color, the letter keeps its color, because the two colors were chosen together.
  private static func color(_ style: CellStyle, _ ink: PageInk) -> PageColor {
    guard let rgb = style.foreground.rgb else {
      return PageColor(rgb: ink.plain, opacity: style.attributes.contains(.dim) ? 0.6 : 1)
    }
    return style.background.rgb == nil ? ink.color(rgb << 8 | 0xFF) : PageColor(rgb: rgb)
  }
}

package struct PageColor: Hashable, Sendable {
  package let rgb: UInt32
  package let opacity: Double

  package init(rgb: UInt32, opacity: Double = 1) {
    self.rgb = rgb & 0xFF_FFFF
    self.opacity = opacity
  }

  init?(fill: UInt32?) {
    guard let fill, fill & 0xFF > 0 else { return nil }
    self.init(rgb: fill >> 8, opacity: Double(fill & 0xFF) / 255)
  }

  /// Returns the color `0xRRGGBB` that is seen when this color is over another color.
  func blended(with ground: UInt32) -> UInt32 {
    [16, 8, 0].reduce(UInt32(0)) { result, shift in
      let (own, other) = (Double(rgb >> UInt32(shift) & 0xFF), Double(ground >> UInt32(shift) & 0xFF))
      return result << 8 | UInt32((own * opacity + other * (1 - opacity)).rounded())
    }
  }
}

/// The colors of a page: the colors of the board, adapted to be visible on the fills below an object.
package struct PageInk: Hashable, Sendable {
  /// The color `0xRRGGBB` for objects without a color: black on a light background, white on a dark background.
  package let plain: UInt32
  private let paper: UInt32
  /// Whether a photo is below the object, so that its contrast is not known.
  private var isOnPhoto = false

  /// The minimum contrast between an object and the background, as defined by WCAG.
  private static let leastContrast = 1.2

  /// Creates the colors for a background `0xRRGGBB`; nil is treated as white.
  package init(paper: UInt32?) {
    self.paper = (paper ?? 0xFFFFFF) & 0xFF_FFFF
    plain = Self.luminance(self.paper) > 0.179 ? 0x000000 : 0xFFFFFF
  }

  /// Returns the colors on a fill, which may be translucent.
  func over(_ fill: PageColor?) -> PageInk { fill.map { PageInk(paper: $0.blended(with: paper)) } ?? self }

  func overPhoto() -> PageInk {
    var ink = self
    ink.isOnPhoto = true
    return ink
  }

  /// Colors with too little contrast to the background become ``plain``. Black becomes ``plain`` too, because terminals
  /// also show it in their default text color.
  package func color(_ rgba: UInt32?) -> PageColor {
    guard let rgba else { return PageColor(rgb: plain) }
    let isPlain = !isOnPhoto && (rgba >> 8 == 0 || !isVisible(rgba >> 8))
    return PageColor(rgb: isPlain ? plain : rgba >> 8, opacity: Double(rgba & 0xFF) / 255)
  }

  /// Returns the color of the line around a fill; a light line stays light if the line or the fill can be seen.
  func lineColor(_ rgba: UInt32?, around fill: PageColor?) -> PageColor {
    guard let rgba, let fill, rgba >> 8 != 0 else { return color(rgba) }
    let inside = over(fill)
    guard isVisible(inside.paper) || inside.isVisible(rgba >> 8) else { return color(rgba) }
    return PageColor(rgb: rgba >> 8, opacity: Double(rgba & 0xFF) / 255)
  }

  private func isVisible(_ rgb: UInt32) -> Bool { Self.contrast(rgb, paper) >= Self.leastContrast }

  private static func contrast(_ one: UInt32, _ other: UInt32) -> Double {
    let (first, second) = (luminance(one), luminance(other))
    return (max(first, second) + 0.05) / (min(first, second) + 0.05)
  }

  /// Returns the approximate luminance of a color; squares replace the exact sRGB curve.
  private static func luminance(_ rgb: UInt32) -> Double {
    func square(_ shift: UInt32) -> Double {
      let channel = Double(rgb >> shift & 0xFF) / 255
      return channel * channel
    }
    return 0.2126 * square(16) + 0.7152 * square(8) + 0.0722 * square(0)
  }
}

/// The background below each object, with the fills and photos on it. A text is on the fill below its center. A drawing
/// is on a fill only if its whole box is on the fill, because the other parts would not be visible.
struct PageGrounds {
  private let items: [BoardCanvas.Item]
  private let paper: PageInk
  /// The indexes of the items that cover part of a square, from back to front; the indexes of large items are in
  /// `large`.
  private var squares: [Square: [Int]] = [:]
  private var large: [Int] = []

  private struct Square: Hashable {
    static let side = 512.0
    let column: Int
    let row: Int
  }

  private static func square(_ place: Point) -> Square {
    let side = Square.side
    return Square(column: Int((place.x / side).rounded(.down)), row: Int((place.y / side).rounded(.down)))
  }

  init(_ items: [BoardCanvas.Item], paper: UInt32?) {
    self.items = items
    self.paper = PageInk(paper: paper)
    for (index, item) in items.enumerated() where item.snapshot.kind == .photo || item.snapshot.fillColor != nil {
      let bounds = item.snapshot.bounds
      let (first, last) = (Self.square(bounds.least), Self.square(bounds.greatest))
      let (columns, rows) = (last.column - first.column + 1, last.row - first.row + 1)
      guard columns < 16, rows < 16 else {
        large.append(index)
        continue
      }
      for column in first.column...last.column {
        for row in first.row...last.row { squares[Square(column: column, row: row), default: []].append(index) }
      }
    }
  }

  func ink(onItem index: Int) -> PageInk {
    let snapshot = items[index].snapshot
    let center = snapshot.bounds.center
    let places = snapshot.kind == .drawing ? snapshot.bounds.corners : [center]
    // Only the frontmost opaque item, and the items in front of it, are seen.
    var covers: [PageColor] = []
    var ink = paper
    for cover in Self.merged(squares[Self.square(center)] ?? [], large, before: index) {
      let other = items[cover].snapshot
      guard places.allSatisfy({ other.isNear($0, within: 0) }) else { continue }
      guard let color = other.fillColor else {
        ink = paper.overPhoto()
        break
      }
      covers.append(color)
      if color.opacity == 1 { break }
    }
    return covers.reversed().reduce(ink) { $0.over($1) }
  }

  private static func merged(_ one: [Int], _ other: [Int], before limit: Int) -> [Int] {
    let one = one.prefix { $0 < limit }
    let other = other.prefix { $0 < limit }
    return other.isEmpty ? one.reversed() : (one + other).sorted(by: >)
  }
}

extension ObjectSnapshot {
  fileprivate var fillColor: PageColor? {
    guard kind == .text || outline?.isClosed == true, let fill = PageColor(fill: style.fill) else { return nil }
    return PageColor(rgb: fill.rgb, opacity: fill.opacity * style.opacity)
  }
}

/// A smooth line of constant width.
package struct PageLine: Hashable, Sendable {
  /// The width of the line in board units.
  package let width: Double
  package let start: Point
  /// The segments of the line; empty for a dot.
  package let pieces: [InkCurve.Piece]

  package init(width: Double, start: Point, pieces: [InkCurve.Piece]) {
    self.width = width
    self.start = start
    self.pieces = pieces
  }

  /// Returns the visible parts of a drawing as lines around its center, without scale and rotation. A part whose pen
  /// pressure is constant or unknown is one line. Otherwise it is several consecutive lines.
  static func lines(of snapshot: ObjectSnapshot, width: Double) -> [PageLine] {
    snapshot.inkLines.flatMap { lines($0.points, $0.pressures, width) }
  }

  /// Returns the points of an unfinished stroke that are not committed yet, in the same coordinates. They begin at the
  /// last committed point.
  static func preview(of item: BoardCanvas.Item, width: Double) -> [PageLine] {
    guard !item.preview.isEmpty else { return [] }
    let center = item.inkCenter ?? item.snapshot.centerPosition
    let points = (item.snapshot.ink ?? []).suffix(1) + item.preview
    return lines(points.map { $0.point - center }, points.map(\.pressure), width)
  }

  private static func lines(_ points: [Point], _ pressures: [UInt8], _ width: Double) -> [PageLine] {
    guard let curve = InkCurve(points) else { return [] }
    var lines: [PageLine] = []
    var start = curve.start
    var first = 0
    // A dot has no segments. The pressure at its only point determines its width.
    repeat {
      let level = level(pressures, curve.targets, first)
      let end =
        (first..<curve.pieces.count).first { Self.level(pressures, curve.targets, $0) != level } ?? curve.pieces.count
      let pieces = Array(curve.pieces[first..<end])
      lines.append(PageLine(width: width * InkCurve.breadth(atPressure: level), start: start, pieces: pieces))
      start = pieces.last?.end ?? start
      first = end
    } while first < curve.pieces.count
    return lines
  }

  /// Returns the pen pressure of a segment, rounded to a few levels to keep lines long.
  private static func level(_ pressures: [UInt8], _ targets: [Int], _ piece: Int) -> UInt8 {
    let pressure = pressures[piece < targets.count ? targets[piece] : 0]
    return pressure == 0 ? 0 : max(1, pressure / 12 * 12)
  }
}

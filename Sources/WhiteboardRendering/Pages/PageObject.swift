import Whiteboard

/// An object as it shows on a page: what every kind of page follows, so that all show the same.
package struct PageObject: Hashable, Sendable {
  /// The object, by whose centre, scale and angle the marks lie on the page.
  package let snapshot: ObjectSnapshot
  /// The marks of the object, from back to front.
  package let marks: [PageMark]
}

/// A part of what shows of an object, in the object's own board units from its centre on.
package enum PageMark: Hashable, Sendable {
  /// Lines with round ends and corners; where they lie over each other they show through as one.
  case ink([PageLine], PageColor)
  /// A rectangle, and a line around it that is one unit broad.
  case box(Rectangle, fill: PageColor?, border: PageColor?)
  /// Words in a row of letters.
  case words(PageWords)
  /// A photo.
  case photo(PagePhoto)
}

/// Words in one row: each column is one of ``BoardPicture/letter``.
package struct PageWords: Hashable, Sendable {
  /// The words, with `�` for what is no letter.
  package let text: String
  /// The top left of the row.
  package let corner: Point
  /// Their colour.
  package let color: PageColor
  /// Whether they are bold.
  package let isBold: Bool

  /// Words of others as they show; nil if there is nothing to see.
  init?(_ text: String, _ corner: Point, _ color: PageColor, isBold: Bool = false) {
    let shown = Self.shown(text)
    guard shown.contains(where: { $0 != " " }) else { return nil }
    self.text = shown
    self.corner = corner
    self.color = color
    self.isBold = isBold
  }

  /// A line without what no font shows, and at which a file of XML or a graphics library gives up.
  private static func shown(_ line: String) -> String {
    var scalars = String.UnicodeScalarView()
    InvisibleText.scan(line) { scalar, isInvisible in
      if isInvisible { return }
      // What joins letters or emoji is a format character too.
      if TerminalText.isSafe(scalar) || scalar.properties.generalCategory == .format {
        scalars.append(scalar)
      } else {
        scalars.append(scalar == "\t" ? " " : "\u{FFFD}")
      }
    }
    return String(scalars)
  }
}

/// A photo whose file is here.
package struct PagePhoto: Hashable, Sendable {
  /// Which photo.
  package let asset: AssetReference
  /// Its file, as it was put on the board.
  package let file: [UInt8]
  /// How its pixels lie, as the file says.
  package let orientation: PhotoOrientation
  /// The box of the object.
  package let box: Rectangle

  /// From a square of one unit, which pixels fill that lie so, to the box.
  package func transform(_ orientation: PhotoOrientation) -> PageTransform {
    let (width, height) = (box.greatest.x - box.least.x, box.greatest.y - box.least.y)
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
      corner: Point(x: box.least.x + corner.0 * width, y: box.least.y + corner.1 * height)
    )
  }
}

/// The transform of a unit square: a matrix.
package struct PageTransform: Hashable, Sendable {
  /// The vector of its upper side.
  package let right: Point
  /// The vector of its left side.
  package let down: Point
  /// The position of its top left corner.
  package let corner: Point
}

// MARK: - Objects as marks

extension BoardPicture {
  /// The objects that are on the page, from back to front, each made as it is asked for.
  ///
  /// No line is thinner than 0.7 pixels, of which a page has so many for each board unit.
  package func objects(pixelsPerUnit: Double) -> some Sequence<PageObject> {
    let leastWidth = 0.7 / pixelsPerUnit
    return items.lazy.filter { $0.pageBounds.touches(region) }.map {
      PageObject(snapshot: $0.snapshot, marks: marks($0, leastWidth: leastWidth))
    }
  }

  /// Returns the display name of a member.
  package func name(_ member: MemberID) -> String { names[member] ?? member.shortText }

  private func marks(_ item: BoardCanvas.Item, leastWidth: Double) -> [PageMark] {
    let snapshot = item.snapshot
    let ink = PageInk(paper: background)
    switch snapshot.kind {
    case .drawing:
      let width = snapshot.lineWidth ?? ObjectDefaults.lineWidth
      let lines = PageLine.lines(of: snapshot, width: max(width, leastWidth / snapshot.scale))
      return lines.isEmpty ? [] : [.ink(lines, ink.color(snapshot.color))]
    case .text:
      return Self.words(snapshot, ink.color(snapshot.color))
    case .photo:
      guard let asset = snapshot.asset, let file = photo(asset.id) else {
        return Self.placeholder("photo: not here", snapshot.size)
      }
      let orientation = PhotoHeader.orientation(of: file)
      let box = Self.box(snapshot.size)
      return [.photo(PagePhoto(asset: asset, file: file, orientation: orientation, box: box))]
    case .game:
      return item.game.map {
        panel(GamePanel.label($0, isASCII: false, naming: name), ink)
      } ?? []
    default:
      return Self.placeholder("?", snapshot.size)
    }
  }

  private static func box(_ size: Size) -> Rectangle {
    Rectangle(
      Point(x: -size.width / 2, y: -size.height / 2),
      Point(x: size.width / 2, y: size.height / 2)
    )
  }

  /// A text, in the lines that a terminal would have.
  private static func words(_ snapshot: ObjectSnapshot, _ color: PageColor) -> [PageMark] {
    let lines = lines(of: snapshot)
    let left = -Double(columns(lines)) * letter.width / 2
    let top = -Double(lines.count) * letter.height / 2
    return lines.enumerated().compactMap { row, line in
      PageWords(line, Point(x: left, y: top + Double(row) * letter.height), color)
        .map { .words($0) }
    }
  }

  /// A box that stands for what cannot be shown, with words in it where there is room.
  package static func placeholder(_ words: String, _ size: Size) -> [PageMark] {
    let ground = PageMark.box(box(size), fill: PageColor(rgb: 0x444444), border: nil)
    let room = Double(CharacterWidth.columns(words)) * letter.width
    guard room <= size.width, size.height >= letter.height,
      let words = PageWords(
        words,
        Point(x: -room / 2, y: -letter.height / 2),
        PageColor(rgb: 0xFFFFFF)
      )
    else { return [ground] }
    return [ground, .words(words)]
  }

  /// A panel of cells on paper, in a frame.
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
          let area = Rectangle(
            Point(x: x, y: y + 0.5),
            Point(x: end, y: y + Self.letter.height - 0.5)
          )
          marks.append(.box(area, fill: PageColor(rgb: ground), border: nil))
        }
        let isBold = span.style.attributes.contains(.bold)
        PageWords(span.text, Point(x: x, y: y), Self.color(span.style, ink), isBold: isBold)
          .map { marks.append(.words($0)) }
        x = end
      }
    }
    return marks
  }

  /// The colour of a cell's letter; what stands on a colour of its own was chosen to be seen there.
  private static func color(_ style: CellStyle, _ ink: PageInk) -> PageColor {
    guard let rgb = style.foreground.rgb else {
      return PageColor(rgb: ink.plain, opacity: style.attributes.contains(.dim) ? 0.6 : 1)
    }
    return style.background.rgb == nil ? ink.color(rgb << 8 | 0xFF) : PageColor(rgb: rgb)
  }
}

import PeerTestKit
import Testing
import Whiteboard
import WhiteboardRendering

@testable import WhiteboardPictures

@Suite("Pages of a board") struct PicturePageTests {
  struct World {
    let board: Board
    var files: [AssetID: [UInt8]] = [:]

    init() throws {
      let member = try #require(MemberID(bytes: Array(repeating: 1, count: 32)))
      board = Board(incarnation: Incarnation(1), member: member, wallClock: 1_700_000_000_000)
    }

    @discardableResult mutating func photo(_ bytes: [UInt8], at center: Point) throws -> ObjectID {
      let id = try #require(AssetID(Array(repeating: UInt8(files.count + 1), count: 32)))
      files[id] = bytes
      let header = try PhotoHeader(reading: bytes)
      let reference = try AssetReference(id: id, byteCount: bytes.count, header: header)
      return try board.createPhoto(reference, at: center)
    }

    func picture(_ region: Rectangle? = nil, background: UInt32? = 0xFFFFFF) -> BoardPicture {
      let items = board.snapshots.map { BoardCanvas.Item($0, game: board.gameView($0.id, for: board.member)) }
      return BoardPicture(
        items: items,
        region: region ?? BoardPicture.region(around: items) ?? Rectangle(Point(x: 0, y: 0), Point(x: 1, y: 1)),
        background: background,
        names: [board.member: "Ada"],
        photo: { [files] in files[$0] }
      )
    }
  }

  /// A page whose pixels can be read at points of the board.
  struct Page {
    let pixels: PhotoPixels
    let picture: BoardPicture
    let scale: Double

    init(_ picture: BoardPicture, scale: Double = 1) throws {
      let png = try PicturePage.png(picture, scale: scale).bytes
      pixels = try PhotoDecoder.pixels(of: png, within: 10_000, 10_000)
      self.picture = picture
      self.scale = scale
    }

    func name(_ x: Double, _ y: Double) -> String {
      let column = Int((x - picture.region.least.x) * scale)
      let row = Int((y - picture.region.least.y) * scale)
      return Pictures.name(pixels.pixels[row * pixels.width + column])
    }

    /// Returns the number of pixels of a color in a part of the board.
    func count(_ wanted: String, _ x: ClosedRange<Double>, _ y: ClosedRange<Double>) -> Int {
      var count = 0
      for row in stride(from: y.lowerBound, through: y.upperBound, by: 1 / scale) {
        for column in stride(from: x.lowerBound, through: x.upperBound, by: 1 / scale) where name(column, row) == wanted
        { count += 1 }
      }
      return count
    }
  }

  static let region = Rectangle(Point(x: -100, y: -100), Point(x: 100, y: 100))

  static func ink(_ points: [(Double, Double)], pressure: [UInt8] = []) throws -> [InkPoint] {
    try points.enumerated().map { index, point in
      try InkPoint(Point(x: point.0, y: point.1), pressure: pressure.isEmpty ? 0 : pressure[index])
    }
  }

  @Test("a stroke has its color, width and round ends, and its erased parts are not drawn") func stroke() throws {
    let world = try World()
    let id = try world.board.createDrawing(try Self.ink([(-80, 0), (80, 0)]), lineWidth: 20, color: 0xFF00_00FF)
    try world.board.erase(id, spans: [4...8])
    let page = try Page(world.picture(Self.region))
    #expect(page.pixels.width == 200 && page.pixels.height == 200)
    #expect(page.name(-60, 0) == "r" && page.name(-60, 8) == "r" && page.name(-60, 12) == "w")
    // Beside the round end, where a square end would have a corner.
    #expect(page.name(-88, 0) == "r" && page.name(-88, 8) == "w")
    // The stroke is erased from a quarter to a half of its length. Only its round ends reach into this gap.
    #expect(page.name(-20, 0) == "w" && page.name(20, 0) == "r")
  }

  /// The pictures have red and green above blue and white.
  @Test("only the part of a photo is drawn, and it is mirrored", arguments: ["plain.png", "upright.jpg", "turned"])
  func part(name: String) throws {
    var world = try World()
    let bytes = name == "turned" ? try Pictures.jpeg(.halfTurn) : try Pictures.bytes(name)
    let id = try world.photo(bytes, at: Point(x: 0, y: 0))
    try world.board.crop(id, to: Rectangle(Point(x: 0.5, y: 0), Point(x: 1, y: 1)))
    try world.board.flip([id], .vertically)
    let size = try #require(world.board.snapshot(id)?.size)
    #expect(size.width == 100)
    let (x, y) = (try #require(world.board.snapshot(id)).centerPosition.x, size.height / 4)
    let page = try Page(world.picture(Self.region))
    // The half-turned picture has white and blue above green and red.
    let (above, below) = name == "turned" ? ("r", "b") : ("w", "g")
    #expect(page.name(x, -y) == above && page.name(x, y) == below)
    #expect(page.name(x - 45, -y) == above && page.name(x + 45, y) == below)
    #expect(page.name(x - 55, y) == "w" && page.name(x + 49, 0) != "k")
    let svg = SVGPage.svg(world.picture(Self.region))
    #expect(svg.contains("<svg x=\"") && svg.contains("transform=\"matrix("))
  }

  @Test("a line is thinner where the pressure is lower, and translucent ink is even") func pressure() throws {
    let world = try World()
    try world.board.createDrawing(
      try Self.ink([(-80, 0), (0, 0), (80, 0)], pressure: [255, 255, 1]),
      lineWidth: 20,
      color: 0x0000_FF80
    )
    let page = try Page(world.picture(Self.region))
    #expect(page.name(-60, 8) != "w" && page.name(70, 8) == "w" && page.name(70, 2) != "w")
    #expect(page.name(-40, 0) == page.name(0, 0) && page.name(-40, 0).hasPrefix("("))
  }

  @Test("plain ink is black on light paper and white on dark, and no ink has the paper's color") func plainInk() throws
  {
    let world = try World()
    let colors: [UInt32?] = [nil, 0xFF, 0xFFFF_FFFF, 0xFAFA_FAFF, 0x0A0A_0AFF]
    for (row, color) in colors.enumerated() {
      let y = Double(row) * 30 - 60
      try world.board.createDrawing(try Self.ink([(-80, y), (80, y)]), lineWidth: 10, color: color)
    }
    let light = try Page(world.picture(Self.region))
    let dark = try Page(world.picture(Self.region, background: 0x101010))
    for row in 0..<5 {
      let y = Double(row) * 30 - 60
      #expect(light.name(0, y) == "k", "\(row)")
      #expect(dark.name(0, y) == "w", "\(row)")
    }
    #expect(light.name(0, 90) == "w" && dark.name(0, 90) == "k")
  }

  @Test("text is drawn at its position on the board, in its scale") func words() throws {
    let world = try World()
    let id = try world.board.createText("WWWW", at: Point(x: 0, y: 0), color: 0x0000_FFFF)
    let page = try Page(world.picture(Self.region))
    #expect(page.count("b", -40...40, -8...8) > 20)
    #expect(page.count("w", -99...98, -99 ... -10) == 198 * 90)
    try world.board.scale([id], by: 3, about: Point(x: 0, y: 0))
    try world.board.rotate([id], by: .degrees(90), about: Point(x: 0, y: 0))
    let turned = try Page(world.picture(Self.region))
    #expect(turned.count("b", -24...24, 40...90) > 50)
    #expect(turned.count("b", 26...98, -90...90) == 0)
  }

  @Test("a long text is wrapped") func lines() throws {
    let world = try World()
    try world.board.createText(
      "one two three four five six seven eight nine ten eleven twelve\nthirteen \u{0}\u{FFFF}\u{202E}漢",
      at: Point(x: 0, y: 0)
    )
    let page = try Page(world.picture(Self.region))
    for row in [-24.0, -8, 8, 24] { #expect(page.count("k", -99...98, (row - 6)...(row + 6)) > 10, "\(row)") }
    #expect(page.count("k", -99...98, 34...98) == 0)
  }

  @Test("letters keep their width, unless they are wider than the columns of their row") func lettersFit() throws {
    func row(_ text: String, _ alignment: TextAlignment = .left) throws -> Page {
      let world = try World()
      let id = try world.board.createText(text, at: Point(x: 0, y: 0), color: 0x0000_FFFF)
      try world.board.restyle([id], [.typeface(.hand), .isAutoWidth(true), .alignment(alignment)])
      return try Page(world.picture(Self.region), scale: 4)
    }
    let wide = try row("WWWWWWWW")
    #expect(wide.count("w", -98 ... -33, -8...8) == wide.count("w", 33...98, -8...8))
    #expect(wide.count("b", -31 ... -24, -8...8) > 0 && wide.count("b", 24...31, -8...8) > 0)
    let sides: [(TextAlignment, ClosedRange<Double>, ClosedRange<Double>)] = [
      (.left, -32 ... -16, 8...32), (.center, -8...8, 24...32), (.right, 16...32, -32 ... -8),
    ]
    for (alignment, here, nowhere) in sides {
      let page = try row("iiiiiiii", alignment)
      #expect(page.count("b", here, -8...8) > 0, "\(alignment)")
      #expect(page.count("b", nowhere, -8...8) == 0, "\(alignment)")
    }
  }

  @Test("a row from right to left is on the right, and its letters are joined") func rightToLeft() throws {
    let world = try World()
    try world.board.createText("מ\nabcdefghij", at: Point(x: 0, y: 0))
    let page = try Page(world.picture(Self.region), scale: 4)
    let marks = try #require(world.picture().objects(pixelsPerUnit: 1).first { _ in true }?.marks)
    guard case .words(let first) = marks.first else {
      Issue.record("\(marks)")
      return
    }
    #expect(first.isRightToLeft && first.alignment == .right)
    let (left, top) = (first.corner.x, first.corner.y)
    #expect(page.count("k", left...(left + 8), (top + 1)...(top + 15)) > 0)
    #expect(page.count("k", (left - 60)...(left - 2), (top + 1)...(top + 14)) == 0)
    let fonts = PageFonts()
    func width(_ text: String) throws -> Double {
      let words = PageWords(text, Point(x: 0, y: 0), PageColor(rgb: 0), isRightToLeft: true)
      return fonts.line(try #require(words)).width
    }
    #expect(fonts.warning == nil)
    #expect(try width("لا") < width("ل") + width("ا"))
  }

  @Test("photos are rotated, upright and drawn in order", arguments: [false, true]) func photos(isPNG: Bool) throws {
    var world = try World()
    let bytes = isPNG ? try Pictures.bytes("plain.png") : try Pictures.jpeg(.quarterTurn)
    let id = try world.photo(bytes, at: Point(x: 0, y: 0))
    let page = try Page(world.picture(Self.region), scale: 0.5)
    let corners = [(-50.0, -30.0), (50, -30), (-50, 30), (50, 30)]
    #expect(corners.map { page.name($0.0, $0.1) }.joined() == (isPNG ? "rgbw" : "brwg"))
    #expect(page.name(0, -90) == "w")
    try world.board.rotate([id], by: .degrees(180), about: Point(x: 0, y: 0))
    let turned = try Page(world.picture(Self.region), scale: 0.5)
    #expect(corners.map { turned.name($0.0, $0.1) }.joined() == (isPNG ? "wbgr" : "gwrb"))
  }

  @Test("a missing or damaged photo is a gray box, and the page is drawn") func missingPhoto() throws {
    var world = try World()
    try world.photo(try Pictures.bytes("plain.png"), at: Point(x: 0, y: 0))
    let id = try #require(world.files.keys.first)
    let broken = Array(try Pictures.bytes("plain.png").prefix(60))
    for bytes in [nil, broken, [1, 2, 3]] as [[UInt8]?] {
      world.files[id] = bytes
      let page = try Page(world.picture(Self.region))
      #expect(page.name(-50, -30) == "(444444)")
      #expect(try PicturePage.pdf([world.picture(Self.region)]).bytes.count > 500)
    }
  }

  @Test("objects in front cover those behind") func order() throws {
    let world = try World()
    for color in [0xFF00_00FF, 0x00FF_00FF] as [UInt32] {
      try world.board.createDrawing(try Self.ink([(-50, 0), (50, 0)]), lineWidth: 20, color: color)
    }
    #expect(try Page(world.picture(Self.region)).name(0, 0) == "g")
  }

  @Test("games are panels with the colors of their marks") func games() throws {
    let world = try World()
    let id = try world.board.createConnectFour(at: Point(x: 0, y: 0))
    try world.board.game(id).play("4")
    let page = try Page(world.picture(), scale: 3)
    #expect(page.count("(e5484d)", -60...60, -60...60) > 20)
  }

  @Test("a page can be limited to a number of pixels on each side") func fits() throws {
    let world = try World()
    for (width, height) in [(300.0, 100.0), (100, 300), (128, 128), (127.3, 1), (20, 10)] {
      let picture = world.picture(Rectangle(Point(x: 0, y: 0), Point(x: width, y: height)))
      let png = try PicturePage.png(picture, scale: nil, longestSide: 128).bytes
      let pixels = try PhotoDecoder.pixels(of: png, within: 10_000, 10_000)
      #expect(max(pixels.width, pixels.height) == min(128, Int(max(width, height)) * 2))
    }
  }

  @Test("the error for a page with too many pixels names a scale that works") func tooLarge() throws {
    let world = try World()
    try world.board.createDrawing(try Self.ink([(-50, 0), (50, 0)]))
    let wide = world.picture(Rectangle(Point(x: -20_000, y: 0), Point(x: 20_000, y: 10)))
    let error = #expect(throws: PicturePageError.self) { try PicturePage.png(wide, scale: 2) }
    guard case .tooLarge(80_000, 20, let fitting) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(error?.description.contains("use a scale of at most 0.819") == true)
    #expect(try PicturePage.png(wide, scale: fitting).bytes.count > 100)
    for scale in [0, -1, .nan, .infinity] {
      #expect(throws: PicturePageError.self) { try PicturePage.png(wide, scale: scale) }
    }
    let flat = world.picture(Rectangle(Point(x: 0, y: 0), Point(x: 10, y: 0)))
    #expect(throws: PicturePageError.empty) { try PicturePage.pdf([flat]) }
    #expect(try PicturePage.pdf([wide]).bytes.count > 500)
  }

  @Test("without a scale, a PNG has 2 pixels for each unit, or as many as fit") func defaultScale() throws {
    let world = try World()
    try world.board.createDrawing(try Self.ink([(-50, 0), (50, 0)]))
    let small = try PicturePage.png(world.picture(Self.region), scale: nil)
    #expect(try PhotoHeader(reading: small.bytes).width == 400 && small.warnings == [])
    let sides = [(40_000.0, 10.0), (9_000, 9_000), (60_000_000, 20), (60_000_000, 60_000_000)]
    for (width, height) in sides {
      let file = try PicturePage.png(
        world.picture(Rectangle(Point(x: 0, y: 0), Point(x: width, y: height))),
        scale: nil
      )
      #expect(file.warnings.count == 1 && file.warnings[0].contains("the board is large"), "\(width)")
    }
  }

  @Test("a few objects far away are named and left out, if the page would be too large otherwise") func strays() throws
  {
    let world = try World()
    for x in 0..<4 { try world.board.createText("near", at: Point(x: Double(x) * 300, y: 0)) }
    var near = world.picture()
    near.isWhole = true
    let far = try world.board.createText("far", at: Point(x: 5, y: 30_000_000))
    try world.board.createText("also far", at: Point(x: -2_000_000, y: 0))
    var whole = world.picture()
    #expect(whole.withoutStrays() == nil)
    whole.isWhole = true
    #expect(near.withoutStrays() == nil && whole.withoutStrays()?.picture.region == near.region)
    for file in try [PicturePage.png(whole, scale: nil), PicturePage.png(whole, scale: 3), PicturePage.pdf([whole])] {
      #expect(file.warnings.count == 1)
      #expect(
        file.warnings[0].hasPrefix("2 objects are far from the others and are not in the picture: \(far) at 5,30000000")
      )
    }
    #expect(try PicturePage.png(whole, scale: 1).bytes == PicturePage.png(near, scale: 1).bytes)
    // Objects that are all far from each other are all shown.
    for x in 1..<20 { try world.board.createText("spread", at: Point(x: Double(x) * 100_000, y: 0)) }
    var spread = world.picture()
    spread.isWhole = true
    #expect(spread.withoutStrays() == nil)
    #expect(try PicturePage.png(spread, scale: nil).warnings.count == 1)
  }

  @Test("a PDF has a page for each frame, of the frame's size, without its line and name") func framePages() throws {
    let world = try World()
    for (x, size) in [(0.0, Size(width: 400, height: 300)), (1_000, Size(width: 200, height: 800))] {
      try world.board.createForm(.frame, at: Point(x: x, y: 0), size: size, label: "Name")
    }
    let frames = world.picture().frames
    #expect(frames.map(\.region.center.x) == [0, 1_000])
    #expect(frames.flatMap { $0.objects(pixelsPerUnit: 1).flatMap(\.marks) } == [])
    let text = String(decoding: try PicturePage.pdf(frames).bytes, as: UTF8.self)
    let boxes = text.ranges(of: "/MediaBox [ ").map { box in
      text[box.upperBound...].prefix { $0 != "]" }.split(separator: " ").compactMap { Double($0) }
    }
    #expect(boxes == [[0, 0, 300, 225], [0, 0, 150, 600]])
  }

  @Test(
    "a PDF on paper is upright or sideways as the picture, which fits between the margins",
    arguments: PaperSize.allCases
  )
  func paper(paper: PaperSize) throws {
    let world = try World()
    try world.board.createText("hello", at: Point(x: 0, y: 0))
    let (short, long) = paper.sides
    func box(_ width: Double, _ height: Double) throws -> [Double] {
      let region = Rectangle(Point(x: -width / 2, y: -height / 2), Point(x: width / 2, y: height / 2))
      let text = String(decoding: try PicturePage.pdf([world.picture(region)], on: paper).bytes, as: UTF8.self)
      let box = try #require(text.firstRange(of: "/MediaBox [ "))
      return text[box.upperBound...].prefix { $0 != "]" }.split(separator: " ").compactMap { Double($0) }
    }
    for (width, height) in [(200.0, 300.0), (20, 20), (1_000_000, 2_000_000)] {
      #expect(try zip(box(width, height), [0, 0, short, long]).allSatisfy { abs($0 - $1) < 0.01 })
    }
    #expect(try zip(box(50_000, 300), [0, 0, long, short]).allSatisfy { abs($0 - $1) < 0.01 })
  }

  @Test("[BRD-55] a PDF has links to addresses and to objects of the same page") func links() throws {
    let world = try World()
    let ids = try (0..<3).map { try world.board.createText("\($0)", at: Point(x: Double($0) * 500, y: 0)) }
    try world.board.setLink("https://example.org/a(b)'c", of: [ids[0]])
    try world.board.setLink("#\(ids[0])", of: [ids[1]])
    try world.board.setLink("#99-aaaaaaaaaaaac", of: [ids[2]])
    try world.board.restyle([ids[0]], [.opacity(0.5)])
    let text = String(decoding: try PicturePage.pdf([world.picture()]).bytes, as: UTF8.self)
    #expect(text.contains("/URI (https://example.org/a%28b%29%27c)"))
    #expect(text.ranges(of: "/Subtype /Link").count == 2)
    let part = world.picture(Rectangle(Point(x: 400, y: -50), Point(x: 1_600, y: 50)))
    #expect(!String(decoding: try PicturePage.pdf([part]).bytes, as: UTF8.self).contains("/Subtype /Link"))
    // An object in two frames is a target on both pages.
    for _ in 1...2 {
      try world.board.createForm(.frame, at: Point(x: 250, y: 0), size: Size(width: 900, height: 300))
    }
    let pages = String(decoding: try PicturePage.pdf(world.picture().frames).bytes, as: UTF8.self)
    #expect(pages.ranges(of: "/Subtype /Link").count == 4)
  }

  @Test("a PDF contains a JPEG unchanged, and text as text") func pdf() throws {
    var world = try World()
    let jpeg = try Pictures.jpeg(.quarterTurn)
    try world.photo(jpeg, at: Point(x: 0, y: 0))
    try world.photo(try Pictures.bytes("half.png"), at: Point(x: 50, y: 50))
    try world.board.createText("hello", at: Point(x: 0, y: 0))
    let pdf = try PicturePage.pdf([world.picture()]).bytes
    #expect(pdf.starts(with: "%PDF".utf8))
    let text = String(decoding: pdf, as: UTF8.self)
    #expect(text.contains("/DCTDecode") && text.contains("/Font") && text.contains("%%EOF"))
    #expect(pdf.firstRange(of: jpeg) != nil)
  }

  @Test("objects of any position, size and angle are drawn or omitted", arguments: 1...6) func hostile(seed: UInt64)
    throws
  {
    var random = SeededGenerator(seed: seed)
    var world = try World()
    let photo = try Pictures.bytes("upright.jpg")
    for _ in 0..<30 {
      let reach = [100.0, 10_000, 33_000_000][random.below(3)]
      func place() -> Point {
        Point(x: .random(in: -reach...reach, using: &random), y: .random(in: -reach...reach, using: &random))
      }
      let id: ObjectID
      switch random.below(4) {
      case 0: id = try world.board.createText("one two\nthree \u{FFFE}", at: place())
      case 1: id = try world.photo(photo, at: place())
      case 2: id = try world.board.createConnectFour(at: place())
      default:
        id = try world.board.createDrawing(
          try (0..<5).map { _ in try InkPoint(place(), pressure: UInt8(random.below(2) * 9)) },
          lineWidth: .random(in: 0.1...1_024, using: &random),
          color: UInt32(random.below(1 << 32))
        )
      }
      guard let center = world.board.snapshot(id)?.centerPosition else { continue }
      let factor = [0.001, 0.5, 3, 1_000][random.below(4)]
      try world.board.scale([id], by: factor, about: center)
      try world.board.rotate([id], by: .radians(Double(random.below(7))), about: center)
    }
    for scale in [0.1, 1, 4] { _ = try PicturePage.png(world.picture(Self.region), scale: scale) }
    #expect(try PicturePage.pdf([world.picture()]).bytes.count > 500)
    #expect(try PicturePage.pdf([world.picture(Self.region)]).bytes.count > 500)
  }
}

import PeerTestKit
import Testing
import Whiteboard
import WhiteboardRendering

@testable import WhiteboardPictures

@Suite("Forms on pages") struct FormPageTests {
  private typealias Page = PicturePageTests.Page

  private func world() throws -> PicturePageTests.World { try PicturePageTests.World() }

  @Test("the smallest rectangles have four corners", arguments: [4.0, 8, 10, 16, 20]) func squares(side: Double) throws
  {
    let world = try world()
    try world.board.createForm(
      .rectangle,
      at: Point(x: 0, y: 0),
      size: Size(width: side, height: side),
      lineWidth: 1,
      color: 0xFF00_00FF
    )
    let page = try Page(world.picture(PicturePageTests.region), scale: 4)
    let half = side / 2
    for (x, y) in [(-half, -half), (half, -half), (-half, half), (half, half), (0, half), (half, 0)] {
      #expect(page.name(x, y) == "r", "\(x), \(y)")
    }
    #expect(page.name(0, 0) == "w" && page.name(half - 1, half - 1) == "w" && page.name(half + 1, half + 1) == "w")
  }

  @Test("dashes and dots leave gaps, also if the line begins far outside the page") func dashes() throws {
    func row(_ style: LineStyle, from start: Double) throws -> [String] {
      let world = try world()
      let id = try world.board.createForm(
        .line,
        at: Point(x: 0, y: 0),
        points: [Point(x: start, y: 0), Point(x: 90, y: 0)],
        lineWidth: 10,
        color: 0xFF00_00FF
      )
      try world.board.restyle([id], [.lineStyle(style)])
      let page = try Page(world.picture(PicturePageTests.region))
      return stride(from: -85.0, to: 80, by: 5).map { page.name($0, 0.5) }
    }
    #expect(try row(.solid, from: -90).allSatisfy { $0 == "r" })
    // Dashes of 4 and gaps of 3 line widths; dots every 2 line widths.
    let dashed = try row(.dashed, from: -90)
    #expect(Array(dashed[0...5]) == ["r", "r", "r", "r", "r", "r"] && dashed[8...11].allSatisfy { $0 == "w" })
    #expect(try row(.dashed, from: -90 - 70 * 1_000) == dashed)
    let dotted = try row(.dotted, from: -90)
    #expect(dotted.count { $0 == "r" } > 5 && dotted.count { $0 == "w" } > 5)
    #expect(try row(.dotted, from: -90 - 70 * 1_000) == dotted)
  }

  @Test("the opacity is that of the object as a whole, and fills are below lines") func opacity() throws {
    let world = try world()
    let size = Size(width: 100, height: 100)
    let id = try world.board.createForm(
      .rectangle,
      at: Point(x: 0, y: 0),
      size: size,
      lineWidth: 20,
      color: 0xFF00_00FF
    )
    try world.board.restyle([id], [.fill(0x0000_FFFF)])
    var page = try Page(world.picture(PicturePageTests.region))
    #expect(page.name(0, 0) == "b" && page.name(45, 0) == "r" && page.name(55, 0) == "r" && page.name(65, 0) == "w")
    try world.board.restyle([id], [.opacity(0.5)])
    page = try Page(world.picture(PicturePageTests.region))
    // The fill does not shine through the line.
    #expect(page.name(45, 0) == page.name(55, 0) && page.name(45, 0).hasPrefix("(ff7"))
    #expect(page.name(0, 0).hasSuffix("ff)"))
  }

  @Test("a triangle at the end of a line has a sharp tip at the end", arguments: [false, true]) func tips(
    isCurved: Bool
  )
    throws
  {
    let world = try world()
    let id = try world.board.createForm(
      .line,
      at: Point(x: 0, y: 0),
      points: [Point(x: -80, y: 0), Point(x: 0, y: 0), Point(x: 80, y: 0)],
      lineWidth: 10,
      color: 0xFF00_00FF
    )
    try world.board.restyle([id], [.start(.triangle), .end(.triangle), .isCurved(isCurved)])
    let page = try Page(world.picture(PicturePageTests.region), scale: 4)
    for side in [-1.0, 1] {
      #expect(page.name(side * 81, 0) == "w" && page.name(side * 78, 3) == "w" && page.name(side * 76, 0) == "r")
      #expect(page.name(side * 50, 8) == "r" && page.name(side * 20, 0) == "r")
    }
  }

  @Test("a form that is larger than the numbers of the library fills the page") func large() throws {
    let world = try world()
    let board = world.board
    let size = Size(width: 30_000_000, height: 30_000_000)
    let id = try board.createForm(
      .ellipse,
      at: Point(x: 14_999_950, y: 0),
      size: size,
      lineWidth: 20,
      color: 0xFF00_00FF
    )
    try board.restyle([id], [.fill(0x0000_FFFF)])
    for style in LineStyle.allCases {
      try board.restyle([id], [.lineStyle(style)])
      for scale in [0.5, 4] {
        let page = try Page(world.picture(PicturePageTests.region), scale: scale)
        #expect(page.name(50, 0) == "b" && page.name(-90, 0) == "w", "\(style) \(scale)")
      }
    }
    #expect(try PicturePage.pdf([world.picture(PicturePageTests.region)]).bytes.count > 500)
  }

  @Test("a picture of all forms and styles, to be looked at") func gallery() throws {
    let world = try world()
    let board = world.board
    func add(_ form: DrawingForm, _ column: Int, _ row: Int, _ label: String, _ style: (inout ObjectStyle) -> Void)
      throws
    {
      var own = ObjectStyle(form: form)
      style(&own)
      try board.createForm(
        form,
        at: Point(x: Double(column) * 180, y: Double(row) * 110),
        size: Size(width: 140, height: 80),
        points: form.hasPoints ? [Point(x: -70, y: -30), Point(x: 0, y: 30), Point(x: 70, y: -30)] : [],
        label: label,
        lineWidth: 3,
        color: [0x1E1E_1EFF, 0x3060_C0FF, 0xE548_4DFF][column % 3],
        style: own
      )
    }
    for (row, form) in DrawingForm.allCases.enumerated() {
      for (column, line) in LineStyle.allCases.enumerated() {
        try add(form, column, row, column == 1 ? form.name : "") {
          $0.lineStyle = line
          $0.isCurved = column == 2
          if column > 0, !form.hasPoints { $0.fill = column == 1 ? 0xA5D8_FFFF : 0xB2F2_BB80 }
        }
      }
      let end = LineEnd.allCases[row % 5]
      try add(form, 3, row, "one two three four five six") {
        ($0.start, $0.end, $0.typeface) = (end, end, Typeface.allCases[row % 3])
        ($0.opacity, $0.alignment, $0.isBold) = (0.5, TextAlignment.allCases[row % 3], row % 2 == 0)
        if !form.hasPoints { $0.fill = 0x2F9E_44FF }
      }
    }
    for (row, face) in Typeface.allCases.enumerated() {
      let id = try board.createText("\(face.name): The quick brown fox", at: Point(x: 760, y: Double(row) * 110))
      let size = StyleChange.textSize(16 + 8 * Double(row))
      try board.restyle([id], [.typeface(face), size, .isItalic(row == 1), .fill(0xFFD8_A8FF), .isAutoWidth(true)])
    }
    let picture = world.picture()
    Attachment.record(try PicturePage.png(picture, scale: 1.5).bytes, named: "forms.png")
    Attachment.record(try PicturePage.pdf([picture]).bytes, named: "forms.pdf")
    Attachment.record(Array(SVGPage.svg(picture).utf8), named: "forms.svg")
    #expect(picture.items.count == 4 * DrawingForm.allCases.count + 3)
  }
}

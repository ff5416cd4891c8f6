import PeerCore
import Testing
import Whiteboard
import WhiteboardRendering

@testable import WhiteboardPictures

/// The same board as SVG and as PNG: each has every mark at its position and in its color.
@Suite("PNG and SVG pages agree") struct PageAgreementTests {
  private func world() throws -> PicturePageTests.World {
    var world = try PicturePageTests.World()
    let board = world.board
    for (row, color) in [nil, 0xFFFF_FFFF, 0x3060_C0FF].enumerated() as EnumeratedSequence<[UInt32?]> {
      let y = Double(row) * 40 - 300
      try board.createDrawing(
        try PicturePageTests.ink([(-200, y), (-190, y + 6), (-180, y), (100, y)], pressure: [9, 9, 90, 200]),
        lineWidth: 20,
        color: color
      )
    }
    let text = try board.createText("one\ntwo\nthree\nfour", at: Point(x: -100, y: -60))
    try board.object(text)?.scale(to: 2)
    try world.photo(try Pictures.jpeg(.quarterTurn), at: Point(x: 0, y: 150))
    let lost = try world.photo(try Pictures.bytes("plain.png"), at: Point(x: 250, y: 150))
    if let asset = board.snapshot(lost)?.asset?.id { world.files[asset] = nil }
    let game = try board.createConnectFour(at: Point(x: 200, y: -100))
    try board.game(game).play("4")
    let box = try board.createForm(.rectangle, at: Point(x: -300, y: 150), label: "Login", lineWidth: 6)
    try board.restyle([box], [.fill(0x3060_C0FF), .lineStyle(.dashed)])
    try board.createForm(
      .arrow,
      at: Point(x: -300, y: 250),
      points: [Point(x: -80, y: 0), Point(x: 80, y: 0)],
      lineWidth: 6
    )
    return world
  }

  @Test("every mark is on both pages", arguments: [0xFFFFFF, 0x181818] as [UInt32]) func marks(paper: UInt32) throws {
    let picture = try world().picture(background: paper)
    let svg = SVGPage.svg(picture)
    let page = try PicturePageTests.Page(picture, scale: 2)
    let objects = Array(picture.objects(pixelsPerUnit: 2))
    #expect(objects.count == 9)
    func count(_ element: String) -> Int { svg.split(separator: "<\(element) ").count - 1 }
    var (lines, boxes, words, photos) = (0, 1, 0, 0)
    for object in objects {
      let center = object.snapshot.centerPosition
      for mark in object.marks {
        switch mark {
        case .ink(let parts, let color):
          lines += parts.count
          #expect(svg.contains("stroke=\"\(XML.color(color.rgb))\""))
          for part in parts {
            let place = Point(x: center.x + part.start.x, y: center.y + part.start.y)
            #expect(page.rgb(place) == color.rgb)
          }
        case .box(let area, let fill, _):
          boxes += 1
          guard let fill else { continue }
          #expect(svg.contains("fill=\"\(XML.color(fill.rgb))\""))
          let corner = Point(x: center.x + area.least.x + 1, y: center.y + area.least.y + 1)
          #expect(page.rgb(corner) == fill.rgb)
        case .words(let row):
          words += 1
          #expect(svg.contains("fill=\"\(XML.color(row.color.rgb))\""))
          #expect(svg.contains(">\(row.text)</text>"))
        case .area(let outline, let color):
          lines += 1
          #expect(svg.contains("fill=\"\(XML.color(color.rgb))\""))
          let corner = Point(x: center.x + outline.start.x + 5, y: center.y + outline.start.y + 5)
          #expect(page.rgb(corner) == color.rgb)
        case .line(let form):
          lines += 1 + form.ends.count
          #expect(svg.contains("stroke=\"\(XML.color(form.color.rgb))\""))
          let start = Point(x: center.x + form.outline.start.x, y: center.y + form.outline.start.y)
          #expect(page.rgb(start) == form.color.rgb)
        case .photo:
          photos += 1
          // The colors of the file (red, green, blue and white), rotated by a quarter turn.
          let names = [(-30.0, 110.0), (30, 110), (-30, 190), (30, 190)].map { page.name($0.0, $0.1) }
          #expect(names == ["b", "r", "w", "g"])
        }
      }
    }
    #expect(lines >= 6 && boxes >= 3 && words >= 8 && photos == 1)
    #expect(count("path") == lines && count("rect") == boxes)
    #expect(count("text") == words && count("image") == photos)
    // The page rotates the sideways file, and sets its orientation to upright.
    #expect(svg.contains("matrix(0 133.33 -200 0 100 -66.66)"))
    #expect(svg.contains(Base64.encode(try Pictures.jpeg(.upright))))
  }
}

extension PicturePageTests.Page {
  fileprivate func rgb(_ place: Point) -> UInt32 {
    let column = Int((place.x - picture.region.least.x) * scale)
    let row = Int((place.y - picture.region.least.y) * scale)
    return pixels.pixels[row * pixels.width + column]
  }
}

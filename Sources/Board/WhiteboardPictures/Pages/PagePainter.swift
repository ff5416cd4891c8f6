import CCairo
import CTurboJPEG
import Glibc
import Whiteboard
import WhiteboardRendering

struct PagePainter {
  let picture: BoardPicture
  let page: OpaquePointer
  /// The number of pixels, or of PDF points, for each board unit.
  let scale: Double
  let isPDF: Bool
  let fonts: PageFonts
  /// The objects on the page to which links on the page lead; only a PDF has links.
  private let targets: Set<ObjectID>

  init(_ picture: BoardPicture, on page: OpaquePointer, scale: Double, isPDF: Bool, fonts: PageFonts) {
    self.picture = picture
    self.page = page
    self.scale = scale
    self.isPDF = isPDF
    self.fonts = fonts
    targets = isPDF ? picture.linkTargets : []
  }

  /// Draws the picture; if `area` is given, draws only the objects that touch this part of the board.
  func paint(touching area: Rectangle? = nil) throws(PicturePageError) {
    if let background = picture.background {
      set(PageColor(rgb: background))
      cairo_paint(page)
    }
    cairo_scale(page, scale, scale)
    cairo_translate(page, -picture.region.least.x, -picture.region.least.y)
    drawGrid()
    for object in picture.objects(pixelsPerUnit: scale) where area?.touches(object.bounds) ?? true {
      let opacity = object.snapshot.style.opacity
      markLinks(of: object)
      cairo_save(page)
      if opacity < 1 { beginGroup(object.bounds) }
      for mark in object.marks {
        cairo_save(page)
        draw(mark, of: object.snapshot)
        cairo_restore(page)
      }
      if opacity < 1 {
        cairo_pop_group_to_source(page)
        cairo_paint_with_alpha(page, opacity)
      }
      cairo_restore(page)
      try PicturePage.check(cairo_status(page))
    }
  }

  /// Adds the link of an object to a PDF, and the target of links that lead to the object.
  private func markLinks(of object: PageObject) {
    guard isPDF else { return }
    let id = object.snapshot.id
    func text(_ number: Double) -> String { DecimalText.hundredths(number) }
    // Each page has its own targets.
    func name(_ target: ObjectID) -> String { "\(picture.frame.map { "\($0)/" } ?? "")\(target)" }
    if targets.contains(id) {
      let corner = object.bounds.least
      mark(CAIRO_TAG_DEST, "name='\(name(id))' x=\(text(corner.x)) y=\(text(corner.y))")
    }
    guard let link = object.snapshot.link else { return }
    let (least, greatest) = (object.bounds.least, object.bounds.greatest)
    let sides = [least.x, least.y, greatest.x - least.x, greatest.y - least.y].map(text)
    let area = "rect=[\(sides.joined(separator: " "))]"
    if let target = ObjectLink.target(of: link) {
      if targets.contains(target) { mark(CAIRO_TAG_LINK, "dest='\(name(target))' \(area)") }
    } else {
      // cairo writes the address into the file as it is, so replace the characters that would end the address.
      let address = link.replacing("(", with: "%28").replacing(")", with: "%29").replacing("'", with: "%27")
      mark(CAIRO_TAG_LINK, "uri='\(address)' \(area)")
    }
  }

  private func mark(_ tag: String, _ attributes: String) {
    cairo_tag_begin(page, tag, attributes)
    cairo_tag_end(page, tag)
  }

  /// Begins to draw an object that is transparent as a whole; the group is as large as the object on the page.
  private func beginGroup(_ bounds: Rectangle) {
    // Letters and lines of one pixel can extend a little beyond the object.
    let (margin, region) = (16 / scale, picture.region)
    let least = Point(x: max(bounds.least.x - margin, region.least.x), y: max(bounds.least.y - margin, region.least.y))
    let greatest = Point(
      x: min(bounds.greatest.x + margin, region.greatest.x),
      y: min(bounds.greatest.y + margin, region.greatest.y)
    )
    cairo_rectangle(page, least.x, least.y, max(greatest.x - least.x, 0), max(greatest.y - least.y, 0))
    cairo_clip(page)
    cairo_push_group(page)
  }

  private func drawGrid() {
    guard let grid = BoardGrid(picture, pixelsPerUnit: scale) else { return }
    let (least, greatest) = (picture.region.least, picture.region.greatest)
    for x in grid.positions(from: least.x, to: greatest.x) {
      cairo_move_to(page, x, least.y)
      cairo_line_to(page, x, greatest.y)
    }
    for y in grid.positions(from: least.y, to: greatest.y) {
      cairo_move_to(page, least.x, y)
      cairo_line_to(page, greatest.x, y)
    }
    set(PageColor(rgb: PageInk(paper: picture.background).plain, opacity: BoardGrid.opacity))
    cairo_set_line_width(page, 1 / scale)
    cairo_stroke(page)
  }

  private func draw(_ mark: PageMark, of snapshot: ObjectSnapshot) {
    // Strokes and forms can exceed cairo's coordinates, so they use board coordinates.
    switch mark {
    case .ink(let lines, let color): PageStroke(lines, of: snapshot, picture.region, scale).draw(on: page, color)
    case .area(let outline, let color): shape(snapshot).fill(outline, on: page, color)
    case .line(let form): shape(snapshot).draw(form, on: page)
    case .box, .words, .photo:
      enter(snapshot)
      drawInside(mark, of: snapshot)
    }
  }

  private func shape(_ snapshot: ObjectSnapshot) -> PageShape { PageShape(snapshot, picture.region, scale) }

  func drawInside(_ mark: PageMark, of snapshot: ObjectSnapshot) {
    switch mark {
    case .ink, .area, .line: break  // These marks use board coordinates.
    case .box(let area, let fill, let border): draw(area, fill: fill, border: border)
    case .words(let words): draw(words, of: snapshot)
    case .photo(let photo): draw(photo, of: snapshot)
    }
  }

  /// Sets the object's own coordinates, whose origin is its center.
  private func enter(_ snapshot: ObjectSnapshot) {
    cairo_translate(page, snapshot.centerPosition.x, snapshot.centerPosition.y)
    cairo_rotate(page, snapshot.angle)
    cairo_scale(page, snapshot.scale, snapshot.scale)
  }

  private func draw(_ area: Rectangle, fill: PageColor?, border: PageColor?) {
    let (width, height) = (area.greatest.x - area.least.x, area.greatest.y - area.least.y)
    if let fill {
      set(fill)
      cairo_rectangle(page, area.least.x, area.least.y, width, height)
      cairo_fill(page)
    }
    if let border {
      set(border)
      cairo_rectangle(page, area.least.x, area.least.y, width, height)
      cairo_set_line_width(page, 1)
      cairo_stroke(page)
    }
  }

  func set(_ color: PageColor) { color.set(on: page) }
}

extension PageColor {
  func set(on page: OpaquePointer, isCovering: Bool = false) {
    func channel(_ shift: UInt32) -> Double { Double(rgb >> shift & 0xFF) / 255 }
    cairo_set_source_rgba(page, channel(16), channel(8), channel(0), isCovering ? 1 : opacity)
  }
}

extension PagePainter {
  /// The maximum letter size in pixels that is requested from a font.
  private static let largestLetter = 8_000.0

  /// Draws a row of words, unless its letters are too large. Letters keep their own width. If the row would be wider
  /// than its columns, all letters become narrower.
  func draw(_ words: PageWords, of snapshot: ObjectSnapshot) {
    let factor = words.face.factor
    guard BoardPicture.fontSize * factor * snapshot.scale * scale <= Self.largestLetter else { return }
    let (line, width) = fonts.line(words)
    let room = words.width / factor
    let share = width > room ? room / width : 1
    let offset =
      switch words.alignment {
      case .left: 0.0
      case .center: (room - width * share) / 2
      case .right: room - width * share
      }
    cairo_translate(page, words.corner.x, words.corner.y)
    cairo_scale(page, factor, factor)
    cairo_translate(page, offset, PageWords.baseline)
    cairo_scale(page, share, 1)
    cairo_move_to(page, 0, 0)
    set(words.color)
    pango_cairo_show_layout_line(page, line)
  }
}

extension PagePainter {
  /// Draws a photo in its box, or a gray box with a note if the photo cannot be shown.
  func draw(_ photo: PagePhoto, of snapshot: ObjectSnapshot) {
    guard let (image, orientation) = image(photo, snapshot) else {
      for mark in BoardPicture.placeholder("photo: cannot be shown", snapshot.size) { drawInside(mark, of: snapshot) }
      return
    }
    guard snapshot.size.width > 0, snapshot.size.height > 0 else { return }
    let (across, down) = (Double(image.width), Double(image.height))
    let place = photo.transform(orientation)
    if photo.view.isCropped {
      let (least, greatest) = (photo.box.least, photo.box.greatest)
      cairo_rectangle(page, least.x, least.y, greatest.x - least.x, greatest.y - least.y)
      cairo_clip(page)
    }
    var matrix = cairo_matrix_t(
      xx: place.right.x / across,
      yx: place.right.y / across,
      xy: place.down.x / down,
      yy: place.down.y / down,
      x0: place.corner.x,
      y0: place.corner.y
    )
    cairo_transform(page, &matrix)
    cairo_set_source_surface(page, image.surface, 0, 0)
    guard !isPDF else { return cairo_paint(page) }
    // Do not blend the edges of the photo with the area around it.
    cairo_pattern_set_extend(cairo_get_source(page), CAIRO_EXTEND_PAD)
    cairo_rectangle(page, 0, 0, across, down)
    cairo_fill(page)
  }

  /// Returns the picture to draw, and the orientation of its pixels; nil if the picture cannot be decoded.
  private func image(_ photo: PagePhoto, _ snapshot: ObjectSnapshot) -> (CairoImage, PhotoOrientation)? {
    let (bytes, asset) = (photo.file, photo.asset.id)
    switch try? PictureFormat(of: bytes) {
    case .png:
      guard let image = try? CairoImage(png: bytes) else { return nil }
      if isPDF { image.attach(Array(asset.description.utf8), as: CAIRO_MIME_TYPE_UNIQUE_ID) }
      return (image, photo.orientation)
    case .jpeg:
      if isPDF, let image = embedded(bytes, asset) { return (image, photo.orientation) }
      fallthrough
    case .webP:
      func most(_ side: Double) -> Int {
        Int(min(max((side * snapshot.scale * scale * (isPDF ? 3 : 1)).rounded(.up), 1), 16_384))
      }
      let part = photo.view.part
      let pixels = try? PhotoDecoder.pixels(
        of: bytes,
        within: most(snapshot.size.width / (part.greatest.x - part.least.x)),
        most(snapshot.size.height / (part.greatest.y - part.least.y)),
        on: picture.background ?? 0xFFFFFF
      )
      return pixels.flatMap(CairoImage.init).map { ($0, .upright) }
    case nil: return nil
    }
  }

  private func embedded(_ bytes: [UInt8], _ asset: AssetID) -> CairoImage? {
    guard (try? PhotoDecoder.header(bytes)) != nil, let library = tjInitDecompress() else { return nil }
    defer { tjDestroy(library) }
    guard let info = try? PhotoDecoder.jpegInfo(bytes, library), !info.isCMYK,
      // The pixels are never accessed, so they take no memory.
      let image = CairoImage(width: info.width, height: info.height, hasOpacity: false),
      image.attach(bytes, as: CAIRO_MIME_TYPE_JPEG),
      image.attach(Array(asset.description.utf8), as: CAIRO_MIME_TYPE_UNIQUE_ID)
    else { return nil }
    return image
  }
}

extension CairoImage {
  convenience init?(_ photo: PhotoPixels) {
    self.init(width: photo.width, height: photo.height, hasOpacity: false)
    guard let data = cairo_image_surface_get_data(surface) else { return nil }
    let stride = Int(cairo_image_surface_get_stride(surface)) / 4
    data.withMemoryRebound(to: UInt32.self, capacity: stride * height) { start in
      for row in 0..<height {
        for column in 0..<width { start[row * stride + column] = photo.pixels[row * width + column] }
      }
    }
    cairo_surface_mark_dirty(surface)
  }

  /// Attaches an encoding of the picture. In a PDF, cairo writes this encoding instead of the pixels.
  @discardableResult func attach(_ bytes: [UInt8], as type: String) -> Bool {
    guard let copy = malloc(max(bytes.count, 1)) else { return false }
    copy.copyMemory(from: bytes, byteCount: bytes.count)
    let status = cairo_surface_set_mime_data(
      surface,
      type,
      copy.assumingMemoryBound(to: UInt8.self),
      UInt(bytes.count),
      { free($0) },
      copy
    )
    guard status == CAIRO_STATUS_SUCCESS else {
      free(copy)
      return false
    }
    return true
  }
}

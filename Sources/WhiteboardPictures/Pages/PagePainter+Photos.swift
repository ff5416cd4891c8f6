import CCairo
import CTurboJPEG
import Glibc
import Whiteboard
import WhiteboardRendering

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

  /// Returns the picture to draw, and the orientation of its pixels; nil if it cannot be decoded.
  private func image(_ photo: PagePhoto, _ snapshot: ObjectSnapshot) -> (CairoImage, PhotoOrientation)? {
    let (bytes, asset) = (photo.file, photo.asset.id)
    switch try? PictureFormat(of: bytes) {
    case .png:
      guard let image = try? CairoImage(png: bytes) else { return nil }
      if isPDF { image.attach(Array(asset.description.utf8), as: CAIRO_MIME_TYPE_UNIQUE_ID) }
      return (image, .upright)
    case .jpeg:
      if isPDF, let image = embedded(bytes, asset) { return (image, photo.orientation) }
      fallthrough
    case .webP:
      func most(_ side: Double) -> Int {
        Int(min(max((side * snapshot.scale * scale * (isPDF ? 3 : 1)).rounded(.up), 1), 16_384))
      }
      let pixels = try? PhotoDecoder.pixels(
        of: bytes,
        within: most(snapshot.size.width),
        most(snapshot.size.height),
        on: picture.background ?? 0xFFFFFF
      )
      return pixels.flatMap(CairoImage.init).map { ($0, .upright) }
    case nil: return nil
    }
  }

  /// Returns a JPEG that is embedded in the PDF unchanged; nil if that is not possible.
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

  /// In a PDF, cairo writes this encoding instead of the pixels.
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

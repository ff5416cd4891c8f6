import WhiteboardRendering

/// A writer that renders boards as PNG and PDF files.
///
/// It needs libraries that only some of the programs link.
package struct CairoPages: PageWriter {
  package init() {}

  /// Returns the picture as a PNG with `scale` pixels for each board unit.
  package func png(_ picture: BoardPicture, scale: Double) throws(ExportError) -> [UInt8] {
    do throws(PicturePageError) { return try PicturePage.png(picture, scale: scale) } catch {
      throw .page(error.description)
    }
  }

  package func pdf(_ picture: BoardPicture) throws(ExportError) -> [UInt8] {
    do throws(PicturePageError) { return try PicturePage.pdf(picture) } catch { throw .page(error.description) }
  }
}

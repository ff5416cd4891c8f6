import WhiteboardExport
import WhiteboardPictures
import WhiteboardRendering

/// What makes `.png` and `.pdf` of a board: the libraries behind it are this program's alone.
struct CairoPages: PageWriter {
  func png(_ picture: BoardPicture, scale: Double) throws(ExportError) -> [UInt8] {
    do throws(PicturePageError) {
      return try PicturePage.png(picture, scale: scale)
    } catch {
      throw .page(error.description)
    }
  }

  func pdf(_ picture: BoardPicture) throws(ExportError) -> [UInt8] {
    do throws(PicturePageError) {
      return try PicturePage.pdf(picture)
    } catch {
      throw .page(error.description)
    }
  }
}

import WhiteboardKit
import WhiteboardPictures

/// A converter that turns WebP files into photos.
///
/// Only this program uses the WebP library.
struct WebPPhotos: PhotoConverter {
  func photo(ofWebP bytes: [UInt8]) throws(PhotoConversionError) -> [UInt8] {
    do throws(PictureError) { return try BoardPhoto.file(of: bytes) } catch {
      throw PhotoConversionError(error.description)
    }
  }
}

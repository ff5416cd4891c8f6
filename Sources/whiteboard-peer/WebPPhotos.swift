import WhiteboardNode
import WhiteboardPictures

/// What makes photos of WebP files: the libraries behind it are this program's alone.
struct WebPPhotos: PhotoConverter {
  func photo(ofWebP bytes: [UInt8]) throws(PhotoConversionError) -> [UInt8] {
    do throws(PictureError) {
      return try BoardPhoto.file(of: bytes)
    } catch {
      throw PhotoConversionError(error.description)
    }
  }
}

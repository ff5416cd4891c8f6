import Whiteboard

/// The reason why a photo's file cannot be shown.
package enum PictureError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Its header says why.
  case photo(PhotoError)
  /// A picture that moves.
  case isAnimated
  /// The data after the header is damaged or unsupported; the value is the library's message.
  case undecodable(String)
  /// There is no memory for it.
  case outOfMemory

  package var description: String {
    switch self {
    case .photo(.unknownFormat): "this is neither JPEG nor PNG nor WebP"
    case .photo(.malformed): "the picture's header is damaged"
    case .photo(.truncated): "the file breaks off before the end of its picture"
    case .photo(.tooManyPixels):
      "the picture has no pixels, or more than \(BoardLimits.photoPixels / 1_000_000) million"
    case .photo(.tooManyBytes):
      "the file is empty, or larger than \(BoardLimits.photoBytes >> 20) MiB"
    case .isAnimated: "this is a moving picture; only still ones can be shown"
    case .undecodable(let words): "the picture cannot be decoded: \(words)"
    case .outOfMemory: "there is no memory for this picture"
    }
  }
}

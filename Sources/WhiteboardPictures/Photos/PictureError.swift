import Whiteboard

/// The reason why a photo's file cannot be shown.
package enum PictureError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The header is not valid, or exceeds a limit; the value is the reason.
  case photo(PhotoError)
  case isAnimated
  /// The data after the header is damaged or unsupported; the value is the library's message.
  case undecodable(String)
  case outOfMemory

  package var description: String {
    switch self {
    case .photo(.unknownFormat): "this is not a JPEG, PNG or WebP picture"
    case .photo(.malformed): "the picture's header is damaged"
    case .photo(.truncated): "the file is cut off before the end of its picture"
    case .photo(.tooManyPixels):
      "the picture has no pixels, or more than \(BoardLimits.photoPixels / 1_000_000) million"
    case .photo(.tooManyBytes): "the file is empty, or larger than \(BoardLimits.photoBytes >> 20) MiB"
    case .isAnimated: "this is an animated picture; only still pictures can be shown"
    case .undecodable(let words): "the picture cannot be decoded: \(words)"
    case .outOfMemory: "there is not enough memory for this picture"
    }
  }
}

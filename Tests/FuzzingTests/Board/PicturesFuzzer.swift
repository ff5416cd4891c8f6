import Whiteboard
import WhiteboardPictures
import WhiteboardRendering

/// Decodes a file that claims to be a photo.
func fuzzPictures(_ input: inout Input) {
  let (width, height) = (Int(input.byte()), Int(input.byte()))
  let bytes = input.rest()
  let orientation = PhotoHeader.orientation(of: bytes)
  insist(
    PhotoHeader.orientation(of: PhotoHeader.upright(bytes)) == .upright,
    "a file is upright after its orientation was set so"
  )
  guard let size = try? PhotoSize.read(bytes) else {
    insist((try? PhotoDecoder.pixels(of: bytes, within: width, height)) == nil, "a file without a size has no pixels")
    return
  }
  insist(size.width * size.height <= BoardLimits.photoPixels, "a size is within the limit")
  // Large pictures take a long time and find no other faults.
  guard size.width * size.height <= 1 << 20, let photo = try? PhotoDecoder.pixels(of: bytes, within: width, height)
  else { return }
  let wanted = PhotoPixels.size(of: (size.width, size.height), within: (max(width, 1), max(height, 1)))
  insist(
    (photo.width, photo.height) == wanted,
    "\(size) turned by \(orientation) is \(photo.width) by \(photo.height) and not \(wanted)"
  )
  insist(photo.pixels.allSatisfy { $0 >> 24 == 0 }, "a pixel is three bytes")
}

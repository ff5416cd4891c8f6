import FuzzSupport
import Whiteboard

/// Checks the start of a file that claims to be a photo.
@c(LLVMFuzzerTestOneInput) public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var input = Input(start, count)
  guard let header = try? PhotoHeader(reading: input.rest()) else { return 0 }
  insist(
    header.width >= 1 && header.height >= 1 && header.width * header.height <= BoardLimits.photoPixels,
    "a photo that is taken is within its limit"
  )
  return 0
}

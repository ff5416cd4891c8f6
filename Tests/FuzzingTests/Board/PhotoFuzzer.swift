import Whiteboard

/// Checks the start of a file that claims to be a photo.
func fuzzPhoto(_ input: inout Input) {
  guard let header = try? PhotoHeader(reading: input.rest()) else { return }
  insist(
    header.width >= 1 && header.height >= 1 && header.width * header.height <= BoardLimits.photoPixels,
    "an accepted photo is within its limit"
  )
}

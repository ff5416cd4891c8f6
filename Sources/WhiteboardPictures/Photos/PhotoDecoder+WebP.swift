import CWebP
import Whiteboard
import WhiteboardRendering

extension PhotoDecoder {
  /// Decodes a WebP to pixels that fit into `limit`, on a background of the color `paper`.
  static func webP(_ bytes: [UInt8], within limit: (width: Int, height: Int), on paper: UInt32) throws(PictureError)
    -> PhotoPixels
  {
    let size = PhotoPixels.size(of: try webPSize(bytes), within: limit)
    let pixels = try webPPixels(bytes, in: size)
    return PhotoPixels(width: size.width, height: size.height, pixels: laid(pixels, on: paper))
  }

  /// Decodes a WebP to exactly `size` pixels, with premultiplied colors.
  static func webPPixels(_ bytes: [UInt8], in size: (width: Int, height: Int)) throws(PictureError) -> [UInt32] {
    let natural = try webPSize(bytes)
    let count = size.width * size.height
    var config = WebPDecoderConfig()
    guard WebPInitDecoderConfig(&config) != 0 else { throw .outOfMemory }
    config.options.use_scaling = size == natural ? 0 : 1
    config.options.scaled_width = Int32(size.width)
    config.options.scaled_height = Int32(size.height)
    config.output.colorspace = MODE_bgrA
    config.output.is_external_memory = 1
    config.output.u.RGBA.stride = Int32(size.width * 4)
    config.output.u.RGBA.size = count * 4
    var status = VP8_STATUS_OK
    let pixels = [UInt32](unsafeUninitializedCapacity: count) { buffer, filled in
      buffer.initialize(repeating: 0)
      filled = count
      config.output.u.RGBA.rgba = UnsafeMutableRawPointer(buffer.baseAddress)?.assumingMemoryBound(to: UInt8.self)
      status = WebPDecode(bytes, bytes.count, &config)
      WebPFreeDecBuffer(&config.output)
    }
    try check(status)
    return pixels
  }

  /// Returns the size of a WebP, after checking it against the limits.
  static func webPSize(_ bytes: [UInt8]) throws(PictureError) -> (width: Int, height: Int) {
    var features = WebPBitstreamFeatures()
    try check(WebPGetFeatures(bytes, bytes.count, &features))
    guard features.has_animation == 0 else { throw .isAnimated }
    let (width, height) = (Int(features.width), Int(features.height))
    guard width > 0, height > 0, width * height <= BoardLimits.photoPixels else { throw .photo(.tooManyPixels) }
    return (width, height)
  }

  private static func check(_ status: VP8StatusCode) throws(PictureError) {
    switch status {
    case VP8_STATUS_OK: return
    case VP8_STATUS_OUT_OF_MEMORY: throw .outOfMemory
    case VP8_STATUS_NOT_ENOUGH_DATA, VP8_STATUS_SUSPENDED: throw .photo(.truncated)
    case VP8_STATUS_UNSUPPORTED_FEATURE: throw .undecodable("it uses an unsupported feature")
    default: throw .undecodable("its data is damaged")
    }
  }
}

import WhiteboardKit
import WhiteboardPictures
import WhiteboardRendering

/// The painter and encoder of broadcasts. A program passes it to the board, because not every program links the
/// libraries for pictures.
package struct BoardPainter: FramePainter {
  package init() {}

  package var codecs: [FrameCodec] { [.jpeg, .png] }

  package func paint(_ picture: BoardPicture, scale: Double, part: PixelRect) throws -> [UInt32] {
    try PicturePage.pixels(
      of: picture,
      scale: scale,
      left: part.x,
      top: part.y,
      width: part.width,
      height: part.height
    )
  }

  package func encode(_ pixels: [UInt32], width: Int, height: Int, as codec: FrameCodec) throws -> [UInt8] {
    codec == .png
      ? try PixelCoding.png(pixels, width: width, height: height)
      : try PixelCoding.jpeg(pixels, width: width, height: height)
  }

  package func decode(_ bytes: [UInt8], width: Int, height: Int, as codec: FrameCodec) throws -> [UInt32] {
    try PixelCoding.pixels(of: bytes, as: codec == .png ? .png : .jpeg, width: width, height: height)
  }
}

import WhiteboardPictures
import WhiteboardRendering

/// An encoder that returns the bytes for updating the terminal from the previous frame to the next.
struct FrameWriter {
  private let writer: ScreenWriter
  private let encoding: TerminalEncoding
  /// The frame that the terminal shows; nil if the next one must be drawn completely.
  private var shown: Screen?
  private var shownCursor: (x: Int, y: Int)?

  init(depth: ColorDepth, encoding: TerminalEncoding) {
    writer = ScreenWriter(depth: depth)
    self.encoding = encoding
  }

  mutating func invalidate() { shown = nil }

  /// Returns the bytes of a synchronized update that shows a frame; nil if nothing changes.
  ///
  /// Photos are written after the screen is cleared, and before the cells.
  mutating func encode(
    _ screen: Screen,
    cursor: (x: Int, y: Int)?,
    _ photos: inout PhotoDisplay,
    at placements: [GraphicsPlacement]
  ) -> [UInt8]? {
    let pictures = photos.update(
      to: placements,
      repainted: placements.compactMap { placement in
        guard let shown else { return placement.visible }
        return shown.change(to: screen, in: placement.visible)
      },
      isCleared: shown == nil
    )
    var before = shown ?? Screen(width: screen.width, height: screen.height)
    for area in pictures?.overwritten ?? [] { before.fill(area) }
    var bytes = shown == nil ? Array(ScreenWriter.clearing.utf8) : []
    bytes += (pictures?.bytes ?? []) + encoding.encode(writer.bytes(from: before, to: screen))
    let hasCursorMoved = cursor?.x != shownCursor?.x || cursor?.y != shownCursor?.y
    guard !bytes.isEmpty || hasCursorMoved else { return nil }
    // Terminals that support synchronized output (mode 2026) show the frame in one step. Other terminals ignore the
    // mode.
    let hiding = shownCursor == nil && shown != nil ? "" : "\u{1B}[?25l"
    bytes = Array("\u{1B}[?2026h\(hiding)".utf8) + bytes
    if let cursor { bytes += Array("\u{1B}[\(cursor.y + 1);\(cursor.x + 1)H\u{1B}[?25h".utf8) }
    bytes += Array("\u{1B}[?2026l".utf8)
    (shown, shownCursor) = (screen, cursor)
    return bytes
  }
}

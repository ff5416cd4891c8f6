import Whiteboard
import WhiteboardKit
import WhiteboardPictures
import WhiteboardRendering

/// The actor that shows a broadcast on a terminal: as pixels if the terminal can show them, and otherwise in cells.
package actor BroadcastTerminal {
  private let terminal: Terminal
  private let settings: TerminalSettings
  private let encoding: TerminalEncoding
  private var features: TerminalFeatures
  private var parser = InputParser()
  private var content: BroadcastScreen
  private var shown: Screen?
  private let ended: AsyncStream<Void>
  private let end: AsyncStream<Void>.Continuation

  /// `title` names the board in the last row.
  package init(_ terminal: Terminal, _ features: TerminalFeatures, _ settings: TerminalSettings, title: String) {
    self.terminal = terminal
    self.features = features.applying(settings)
    self.settings = settings
    content = BroadcastScreen(title: title)
    encoding = features.encoding
    (ended, end) = AsyncStream.makeStream()
  }

  /// Shows the events until `watch` returns or throws, or the user quits.
  package func run(_ watch: @escaping @Sendable (BroadcastTerminal) async throws -> Void) async throws {
    defer { terminal.leave() }
    terminal.write(Array(TerminalFeatures.questions.utf8))
    draw()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await watch(self) }
      group.addTask { await self.listen() }
      group.addTask { for await _ in self.ended {} }
      _ = try await group.next()
      group.cancelAll()
    }
  }

  package func requestEnd() { end.finish() }

  /// Shows an event of the broadcast; returns when the terminal has accepted the picture.
  package func show(_ event: WatchedEvent) {
    content.handle(event)
    draw()
  }

  package func waiting() {
    content.waiting()
    draw()
  }

  // MARK: - Input

  private func listen() async {
    for await event in terminal.events {
      switch event {
      case .bytes(let bytes): for input in parser.feed(bytes) { handle(input) }
      case .resized, .continued:
        shown = nil
        draw()
      case .hungUp: end.finish()
      }
    }
  }

  private func handle(_ input: InputEvent) {
    switch input {
    case .key(.character("q"), []), .key(.character("c"), .control): end.finish()
    case .key(.character("z"), .control):
      if terminal.suspend() {
        shown = nil
        draw()
      }
    case .reply(let reply):
      let before = features
      terminal.write(Array(features.handle(reply, settings).utf8))
      guard features != before else { return }
      shown = nil
      draw()
    default: break
    }
  }

  // MARK: - Drawing

  private func draw() {
    let cell = terminal.cellSize ?? features.cellSize ?? TerminalFeatures.CellSize(width: 10, height: 20)
    let (screen, pixels) = content.drawing(terminal.size.columns, terminal.size.rows, cell, features)
    let text = encoding.encode(ScreenWriter(depth: features.depth).bytes(from: shown, to: screen))
    shown = screen
    // Terminals that support synchronized output (mode 2026) show the frame in one step.
    terminal.write(Array("\u{1B}[?2026h\u{1B}[?25l".utf8) + text + pixels + Array("\u{1B}[?2026l".utf8))
  }
}

/// The content of a terminal that shows a broadcast: the last picture, and a line with the state. The type performs no
/// I/O.
struct BroadcastScreen: Sendable {
  private static let waitingText = "waiting for a member to broadcast"

  private let title: String
  private var picture: FramePixels?
  private var status = Self.waitingText

  init(title: String) { self.title = PlainText.line(title) }

  mutating func handle(_ event: WatchedEvent) {
    switch event {
    case .started: status = ""
    case .picture(_, let pixels): picture = pixels ?? picture
    case .paused: status = "paused"
    case .resumed: status = ""
    case .failed(let notice):
      status = notice.message.isEmpty ? "the broadcaster has a problem" : notice.message.displayed
    case .finished: status = "the broadcast has ended"
    }
  }

  mutating func waiting() { status = Self.waitingText }

  /// Returns the cells, and the bytes that show the picture as pixels if the terminal supports this.
  func drawing(_ columns: Int, _ rows: Int, _ cell: TerminalFeatures.CellSize, _ features: TerminalFeatures) -> (
    screen: Screen, pixels: [UInt8]
  ) {
    var screen = Screen(width: columns, height: rows)
    let line = [title, status, "q quits"].filter { !$0.isEmpty }.joined(separator: " · ")
    screen.put(line, x: 0, y: rows - 1, CellStyle(.terminal, on: .terminal, .dim))
    guard let picture, let box = Self.box(of: picture.size, columns, rows - 1, cell) else { return (screen, []) }
    let photo = PhotoPixels(width: picture.size.width, height: picture.size.height, pixels: picture.pixels)
    let view = CellArea(x: 0, y: 0, width: columns, height: rows)
    if let graphics = features.graphics, let bytes = Self.encode(photo, graphics, box, view, cell) {
      return (screen, bytes)
    }
    if features.depth == .none {
      Self.paintDots(photo, box, isASCII: features.dotStyle == .ascii, on: &screen)
    } else {
      Self.paint(photo, box, hasHalfBlocks: features.encoding == .utf8, on: &screen)
    }
    return (screen, [])
  }

  /// Returns the cells for a picture, centered, with the aspect ratio of the picture.
  private static func box(of size: FrameSize, _ columns: Int, _ rows: Int, _ cell: TerminalFeatures.CellSize)
    -> CellArea?
  {
    guard columns > 0, rows > 0 else { return nil }
    let scale = min(
      Double(columns) * cell.width / Double(size.width),
      Double(rows) * cell.height / Double(size.height)
    )
    let width = min(max(Int(Double(size.width) * scale / cell.width), 1), columns)
    let height = min(max(Int(Double(size.height) * scale / cell.height), 1), rows)
    return CellArea(x: (columns - width) / 2, y: (rows - height) / 2, width: width, height: height)
  }

  private static func encode(
    _ photo: PhotoPixels,
    _ graphics: TerminalGraphics,
    _ box: CellArea,
    _ view: CellArea,
    _ cell: TerminalFeatures.CellSize
  ) -> [UInt8]? {
    // Each picture replaces the one before it, so the layer needs no state.
    var layer = GraphicsLayer(graphics, cellWidth: Int(cell.width), cellHeight: Int(cell.height))
    guard let asset = AssetID([UInt8](repeating: 1, count: 32)),
      let placement = GraphicsPlacement(
        object: ObjectID(Dot(Incarnation(1), 1)),
        asset: asset,
        box: box,
        within: view
      )
    else { return nil }
    let size = layer.pixels(of: placement)
    guard let reduced = try? TerminalPhoto(photo.averaged(within: size.width, size.height), for: graphics),
      layer.canShow(placement, reduced)
    else { return nil }
    return layer.update(to: [placement], photo: { _ in reduced }).bytes
  }

  /// Draws a picture with two pixels in each cell, or one if the terminal has no half blocks.
  private static func paint(_ photo: PhotoPixels, _ box: CellArea, hasHalfBlocks: Bool, on screen: inout Screen) {
    let down = hasHalfBlocks ? 2 : 1
    let small = photo.averaged(to: box.width, box.height * down)
    for y in 0..<box.height {
      for x in 0..<box.width {
        let upper = CellColor(rgb: small.pixels[down * y * small.width + x])
        let lower = CellColor(rgb: small.pixels[(down * y + down - 1) * small.width + x])
        screen.put(
          hasHalfBlocks ? "▀" : " ",
          x: box.columns.lowerBound + x,
          y: box.rows.lowerBound + y,
          CellStyle(upper, on: lower)
        )
      }
    }
  }

  // MARK: - Without colors

  /// How much a difference in brightness is increased, so that a thin line in a reduced picture remains visible.
  private static let contrast = 6
  /// The difference from which a dot is drawn, for four dots in a square, so that areas of one color have a density.
  private static let thresholds = [51, 153, 204, 102]
  /// The dots of a braille character, in rows.
  private static let braille: [UInt32] = [0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80]
  private static let shades = Array(" .:+#")

  /// Draws what differs in brightness from the most frequent brightness, which is the background of the board.
  private static func paintDots(_ photo: PhotoPixels, _ box: CellArea, isASCII: Bool, on screen: inout Screen) {
    let (across, down) = isASCII ? (1, 1) : (2, 4)
    let small = photo.averaged(to: box.width * across, box.height * down)
    // The perceived brightness (ITU-R BT.601).
    let levels = small.pixels.map { pixel in
      (Int(pixel >> 16 & 0xFF) * 299 + Int(pixel >> 8 & 0xFF) * 587 + Int(pixel & 0xFF) * 114) / 1_000
    }
    var counts = [Int](repeating: 0, count: 256)
    for level in levels { counts[level] += 1 }
    let background = counts.indices.max { counts[$0] < counts[$1] } ?? 255
    func difference(_ x: Int, _ y: Int) -> Int {
      min(abs(levels[y * small.width + x] - background) * contrast, 255)
    }
    for y in 0..<box.height {
      for x in 0..<box.width {
        let glyph: Character
        if isASCII {
          glyph = shades[difference(x, y) * (shades.count - 1) / 255]
        } else {
          var bits: UInt32 = 0
          for (index, dot) in braille.enumerated() {
            let (column, row) = (2 * x + index % 2, 4 * y + index / 2)
            if difference(column, row) > thresholds[row % 2 * 2 + column % 2] { bits |= dot }
          }
          glyph = Unicode.Scalar(0x2800 + bits).map { Character($0) } ?? " "
        }
        guard glyph != " ", glyph != "\u{2800}" else { continue }
        screen.put(String(glyph), x: box.columns.lowerBound + x, y: box.rows.lowerBound + y, .plain)
      }
    }
  }
}

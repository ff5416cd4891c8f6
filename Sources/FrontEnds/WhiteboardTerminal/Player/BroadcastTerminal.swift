import Whiteboard
import WhiteboardKit
import WhiteboardPictures
import WhiteboardRendering

/// The actor that shows a broadcast on a terminal: as pixels if the terminal can show them, and otherwise in cells.
package actor BroadcastTerminal {
  private static let waitingText = "waiting for a member to broadcast"

  private let terminal: Terminal
  private let settings: TerminalSettings
  private let encoding: TerminalEncoding
  private let title: String
  private var features: TerminalFeatures
  private var parser = InputParser()
  private var picture: FramePixels?
  private var status = BroadcastTerminal.waitingText
  private var shown: Screen?
  private let ended: AsyncStream<Void>
  private let end: AsyncStream<Void>.Continuation

  /// `title` names the board in the last row.
  package init(_ terminal: Terminal, _ features: TerminalFeatures, _ settings: TerminalSettings, title: String) {
    self.terminal = terminal
    self.features = features.applying(settings)
    self.settings = settings
    self.title = PlainText.line(title)
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
    switch event {
    case .started: status = ""
    case .picture(_, let pixels): picture = pixels ?? picture
    case .paused: status = "paused"
    case .resumed: status = ""
    case .failed(let notice):
      status = notice.message.isEmpty ? "the broadcaster has a problem" : notice.message.displayed
    case .finished: status = "the broadcast has ended"
    }
    draw()
  }

  package func waiting() {
    status = Self.waitingText
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

  private var cell: TerminalFeatures.CellSize {
    terminal.cellSize ?? features.cellSize ?? TerminalFeatures.CellSize(width: 10, height: 20)
  }

  private var graphics: TerminalGraphics? {
    switch features.graphics {
    case .none: nil
    case .kitty: .kitty
    case .sixel: .sixel
    }
  }

  private func draw() {
    let size = terminal.size
    var screen = Screen(width: size.columns, height: size.rows)
    let line = [title, status, "q quits"].filter { !$0.isEmpty }.joined(separator: " · ")
    screen.put(line, x: 0, y: size.rows - 1, CellStyle(.terminal, on: .terminal, .dim))
    var pixels: [UInt8] = []
    if let picture, let box = box(of: picture.size, columns: size.columns, rows: size.rows - 1) {
      let photo = PhotoPixels(width: picture.size.width, height: picture.size.height, pixels: picture.pixels)
      if let graphics, let bytes = encode(photo, graphics, box) {
        pixels = bytes
      } else {
        paint(photo, box, on: &screen)
      }
    }
    let text = encoding.encode(ScreenWriter(depth: features.depth).bytes(from: shown, to: screen))
    shown = screen
    // Terminals that support synchronized output (mode 2026) show the frame in one step.
    terminal.write(Array("\u{1B}[?2026h\u{1B}[?25l".utf8) + text + pixels + Array("\u{1B}[?2026l".utf8))
  }

  /// Returns the cells for a picture, centered, with the aspect ratio of the picture.
  private func box(of size: FrameSize, columns: Int, rows: Int) -> CellArea? {
    guard columns > 0, rows > 0 else { return nil }
    let cell = cell
    let scale = min(
      Double(columns) * cell.width / Double(size.width),
      Double(rows) * cell.height / Double(size.height)
    )
    let width = min(max(Int(Double(size.width) * scale / cell.width), 1), columns)
    let height = min(max(Int(Double(size.height) * scale / cell.height), 1), rows)
    return CellArea(x: (columns - width) / 2, y: (rows - height) / 2, width: width, height: height)
  }

  private func encode(_ photo: PhotoPixels, _ graphics: TerminalGraphics, _ box: CellArea) -> [UInt8]? {
    // Each picture replaces the one before it, so the layer needs no state.
    var layer = GraphicsLayer(graphics, cellWidth: Int(cell.width), cellHeight: Int(cell.height))
    let view = CellArea(x: 0, y: 0, width: terminal.size.columns, height: terminal.size.rows)
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

  /// Draws a picture with two pixels in each cell.
  private func paint(_ photo: PhotoPixels, _ box: CellArea, on screen: inout Screen) {
    let small = photo.averaged(to: box.width, box.height * 2)
    for y in 0..<box.height {
      for x in 0..<box.width {
        let upper = CellColor(rgb: small.pixels[2 * y * small.width + x])
        let lower = CellColor(rgb: small.pixels[(2 * y + 1) * small.width + x])
        screen.put("▀", x: box.columns.lowerBound + x, y: box.rows.lowerBound + y, CellStyle(upper, on: lower))
      }
    }
  }
}

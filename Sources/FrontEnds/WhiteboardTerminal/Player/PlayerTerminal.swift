import PeerCore
import SessionReplay
import Whiteboard
import WhiteboardRendering

/// The actor that plays a recording on a terminal: it passes input to the player, and draws the player's screen.
package actor PlayerTerminal {
  private let terminal: Terminal
  private let writer: ScreenWriter
  private let encoding: TerminalEncoding
  private let clock = ContinuousClock()
  private let wake: AsyncStream<Void>
  private let wakeUp: AsyncStream<Void>.Continuation
  private var client: PlayerClient
  private var parser = InputParser()
  private var inputCount = 0
  private var shown: Screen?

  private static let frameInterval = Duration.milliseconds(33)
  /// The longest time between an Escape and the other bytes of the same key.
  private static let escapeTimeout = Duration.milliseconds(30)

  package init(
    _ recording: Recording,
    photos: [AssetID: PhotoPixels] = [:],
    on terminal: Terminal,
    _ features: TerminalFeatures,
    speed: Double,
    skipsIdle: Bool,
    from time: Int64
  ) {
    self.terminal = terminal
    writer = ScreenWriter(depth: features.depth)
    encoding = features.encoding
    let size = terminal.size
    client = PlayerClient(
      recording,
      photos: photos,
      columns: size.columns,
      rows: size.rows,
      dotStyle: features.dotStyle
    )
    client.skipsIdle = skipsIdle
    client.setSpeed(speed)
    client.seek(to: time)
    (wake, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  package func run() async {
    // The `defer` block below ends this task.
    let listening = Task { await self.listen() }
    defer {
      listening.cancel()
      terminal.leave()
    }
    wakeUp.yield()
    var last = clock.now
    for await _ in wake {
      let now = clock.now
      client.advance(by: now - last)
      last = now
      draw()
      guard client.isMoving || !client.canvas.isPainted else { continue }
      // This task ends after its sleep. A late task draws nothing new.
      Task {
        try? await clock.sleep(for: Self.frameInterval)
        wakeUp.yield()
      }
    }
  }

  package func requestEnd() { wakeUp.finish() }

  private func draw() {
    let screen = client.frame()
    var bytes = shown == nil ? Array(ScreenWriter.clearing.utf8) : []
    let before = shown ?? Screen(width: screen.width, height: screen.height)
    bytes += encoding.encode(writer.bytes(from: before, to: screen))
    shown = screen
    guard !bytes.isEmpty else { return }
    // Terminals that support synchronized output (mode 2026) show the frame in one step.
    terminal.write(Array("\u{1B}[?2026h\u{1B}[?25l".utf8) + bytes + Array("\u{1B}[?2026l".utf8))
  }

  private func listen() async {
    for await event in terminal.events {
      switch event {
      case .bytes(let bytes):
        inputCount += 1
        handle(parser.feed(bytes))
        if parser.isWaiting { finishInputLater(inputCount) }
      case .resized, .continued:
        let size = terminal.size
        client.resize(columns: size.columns, rows: size.rows)
        shown = nil
        wakeUp.yield()
      case .hungUp: requestEnd()
      }
    }
  }

  private func finishInputLater(_ count: Int) {
    // This task ends after the timeout, and does nothing if more bytes came.
    Task {
      try? await clock.sleep(for: Self.escapeTimeout)
      if count == inputCount { handle(parser.finish()) }
    }
  }

  private func handle(_ events: [InputEvent]) {
    for event in events {
      if event == .key(.character("z"), .control) {
        if terminal.suspend() { shown = nil }
      } else if client.handleInput(event) {
        requestEnd()
      }
    }
    wakeUp.yield()
  }
}

/// A terminal recording in which a board recording is played, in the asciicast v2 format
/// (docs.asciinema.org/manual/asciicast/v2).
package struct Asciicast {
  package var columns = 100
  package var rows = 30
  /// The number of frames per second.
  package var rate = 15
  /// The playback speed, one of ``PlayerClient/speeds``.
  package var speed = 1.0
  package var skipsIdle = true

  package init() {}

  /// Writes the whole file line by line.
  package func write(
    _ recording: Recording,
    photos: [AssetID: PhotoPixels] = [:],
    from: Int64 = 0,
    to: Int64 = .max,
    _ write: (String) throws -> Void
  ) rethrows {
    var header = JSONObject()
    header.add("version", json: "2")
    header.add("width", json: "\(columns)")
    header.add("height", json: "\(rows)")
    header.add("timestamp", json: "\((recording.start ?? 0) / 1000)")
    header.add("title", string: recording.history.name)
    try write(header.text + "\n")
    var client = PlayerClient(recording, photos: photos, columns: columns, rows: rows, dotStyle: .braille)
    client.skipsIdle = skipsIdle
    client.setSpeed(speed)
    client.seek(to: from)
    let writer = ScreenWriter(depth: .full)
    var shown: Screen?
    var number = 0
    let end = Double(min(to, recording.duration))
    while true {
      let screen = client.frame()
      var bytes = shown == nil ? Array((ScreenWriter.clearing + "\u{1B}[?25l").utf8) : []
      bytes += writer.bytes(from: shown ?? Screen(width: columns, height: rows), to: screen)
      shown = screen
      if !bytes.isEmpty {
        let micros = number * 1_000_000 / max(rate, 1)
        let text = JSONObject.quoted(String(decoding: bytes, as: UTF8.self))
        try write("[\(Double(micros) / 1_000_000),\"o\",\(text)]\n")
      }
      guard client.isPlaying, client.position < end else { return }
      number += 1
      client.advance(by: .microseconds(1_000_000 / max(rate, 1)))
    }
  }
}

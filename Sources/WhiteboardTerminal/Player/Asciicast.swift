import PeerCore
import SessionReplay
import Whiteboard
import WhiteboardRendering

/// A terminal recording in which a board recording is played, in the asciicast v2 format
/// (docs.asciinema.org/manual/asciicast/v2).
package struct Asciicast {
  /// The width of the terminal, in columns.
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

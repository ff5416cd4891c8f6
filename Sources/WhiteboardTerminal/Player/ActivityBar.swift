import SessionReplay
import WhiteboardRendering

/// The bar that shows how many changes a recording has over time, and where its markers are.
struct ActivityBar: Sendable {
  /// The number of steps in each interval; all intervals have the same length.
  private let counts: [Int]
  private let markers: [Int64]
  private let duration: Int64
  private static let intervals = 512

  init(_ recording: Recording) {
    duration = recording.duration
    let length = max(recording.duration, 1)
    var counts = [Int](repeating: 0, count: Self.intervals)
    for time in recording.times { counts[min(Int(time * Int64(Self.intervals) / length), Self.intervals - 1)] += 1 }
    self.counts = counts
    markers = recording.markers.map(\.elapsed)
  }

  /// Returns the time in milliseconds that a column represents.
  func time(atColumn column: Int, of columns: Int) -> Int64 {
    Int64(Double(duration) * Double(column) / Double(max(columns - 1, 1)))
  }

  /// Draws the bar on a row, with the part before the position in bold.
  func draw(on screen: inout Screen, row: Int, position: Double, isASCII: Bool) {
    let columns = screen.width
    let greatest = max(counts.max() ?? 1, 1)
    let levels = Array(isASCII ? " .:-=+*#" : "▁▂▃▄▅▆▇█")
    let here = Int(position / Double(max(duration, 1)) * Double(columns - 1))
    for column in 0..<columns {
      let first = column * Self.intervals / columns
      let last = max(first + 1, (column + 1) * Self.intervals / columns)
      let most = counts[first..<min(last, Self.intervals)].max() ?? 0
      // Use the square root, so that an interval with one stroke is visible beside an interval with many strokes.
      let share = (Double(most) / Double(greatest)).squareRoot()
      let level = most == 0 ? 0 : max(1, Int((share * Double(levels.count - 1)).rounded()))
      var style = CellStyle.plain
      style.attributes = column == here ? .reversed : column < here ? .bold : .dim
      screen.put(String(levels[level]), x: column, y: row, style)
    }
    for marker in markers {
      let share = Double(marker) / Double(max(duration, 1))
      screen.put(isASCII ? "^" : "◆", x: Int(share * Double(columns - 1)), y: row)
    }
  }
}

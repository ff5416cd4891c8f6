/// The frames of a film that shows how a board changed. Long pauses in the recording are shortened.
package struct FilmTimeline: Hashable, Sendable {
  package struct Frame: Hashable, Sendable {
    /// The number of changes that the frame shows.
    package let changes: Int
    /// The time of the frame, in milliseconds from the beginning of the film.
    package let time: Int64
  }

  /// The frames in order of time, each with more changes than the frame before it. The first frame has the time 0.
  package let frames: [Frame]
  /// The length of the film, in milliseconds.
  package let duration: Int64

  /// The shortest time for which the last frame is shown, in milliseconds.
  private static let leastRest = 1_000.0

  /// Creates the frames of a film.
  /// - Parameters:
  ///   - times: The times of the changes, in milliseconds from the beginning of the recording; they never decrease.
  ///   - end: The length of the recording, in milliseconds.
  ///   - speed: The speed of the film, above 0.
  ///   - rate: The maximum number of frames per second.
  ///   - longestPause: The maximum length of a pause in the film, in milliseconds; nil for no limit.
  package init(of times: [Int64], until end: Int64, speed: Double, rate: Int, longestPause: Double?) {
    let interval = 1_000 / Double(rate)
    func wait(_ from: Int64, _ to: Int64) -> Double {
      min(Double(max(to - from, 0)) / speed, longestPause ?? .infinity)
    }
    var frames = [Frame(changes: 0, time: 0)]
    var (last, position) = (Int64(0), 0.0)
    for (index, time) in times.enumerated() {
      position += wait(last, time)
      last = time
      // A change is shown in the next frame. The small number hides rounding errors.
      let number = (position / interval - 1e-6).rounded(.up)
      let frame = Frame(changes: index + 1, time: Int64((max(number, 0) * interval).rounded()))
      if frames[frames.count - 1].time >= frame.time { frames.removeLast() }
      frames.append(frame)
    }
    self.frames = frames
    let rest = min(max(wait(last, end), Self.leastRest), longestPause.map { max($0, interval) } ?? .infinity)
    duration = frames[frames.count - 1].time + Int64(max(rest, interval).rounded())
  }
}

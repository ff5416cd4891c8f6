import Whiteboard
import WhiteboardDocument

/// Conversions between times and their text forms for users.
extension Recording {
  /// The reason why a string is not a valid time.
  public struct MomentError: Error, Hashable, Sendable {
    /// The message for the user, which explains why the string is not a valid time.
    public let message: String
  }

  /// A named time: a marker or a named version.
  public struct Marker: Hashable, Sendable {
    /// The name of the marker or version, entered by a user.
    public let name: String
    /// The time of the marker or version, in milliseconds from the beginning.
    public let elapsed: Int64
  }

  /// The markers and named versions, in order of time.
  public var markers: [Marker] {
    let marks = history.marks.compactMap { mark in mark.name.map { Marker(name: $0, elapsed: elapsed(mark.time)) } }
    let versions = history.checks.compactMap { check in
      check.name.map { Marker(name: $0, elapsed: elapsed(check.time)) }
    }
    return (marks + versions).sorted { ($0.elapsed, $0.name) < ($1.elapsed, $1.name) }
  }

  /// Parses a time, and returns it in milliseconds from the beginning.
  ///
  /// The accepted formats are seconds (`90`, `90.5`), minutes and hours (`1:30`, `1:02:03.5`), a percentage of the
  /// duration (`50%`), and the name of a marker (`@lunch`). Of several ``markers`` with the same name, the first is
  /// used.
  public func moment(_ word: String) throws(MomentError) -> Int64 {
    if word.hasPrefix("@") {
      let name = word.dropFirst()
      let markers = markers
      guard let marker = markers.first(where: { $0.name == name }) else {
        let names = markers.map { "@\($0.name)" }
        throw MomentError(
          message: "there is no marker '\(name)'"
            + (names.isEmpty ? "; the recording has none" : "; the markers are \(names.joined(separator: ", "))")
        )
      }
      return marker.elapsed
    }
    if word.hasSuffix("%") {
      guard let percent = Double(word.dropLast()), (0...100).contains(percent) else { throw Self.unreadable(word) }
      return Int64((Double(duration) * percent / 100).rounded())
    }
    let parts = word.split(separator: ":", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count), let seconds = Double(parts[parts.count - 1]), seconds >= 0, seconds < 1e9,
      parts.count == 1 || seconds < 60
    else { throw Self.unreadable(word) }
    var minutes = 0.0
    for part in parts.dropLast() {
      guard let number = UInt32(part) else { throw Self.unreadable(word) }
      minutes = minutes * 60 + Double(number)
    }
    return Int64((min(minutes * 60 + seconds, 1e10) * 1000).rounded())
  }

  /// Converts a wall-clock time in milliseconds since 1970 to milliseconds from the beginning, clamped to the duration.
  public func elapsed(_ time: Int64) -> Int64 { min(duration, Self.elapsed(time, since: start ?? time)) }

  /// Formats milliseconds as `m:ss.t`, or as `h:mm:ss.t` for times of one hour or more.
  public static func text(_ elapsed: Int64) -> String {
    let tenths = max(0, elapsed) / 100
    let (seconds, minutes, hours) = (tenths / 10 % 60, tenths / 600 % 60, tenths / 36_000)
    let end = "\(seconds < 10 ? "0" : "")\(seconds).\(tenths % 10)"
    guard hours > 0 else { return "\(minutes):\(end)" }
    return "\(hours):\(minutes < 10 ? "0" : "")\(minutes):\(end)"
  }

  /// Formats milliseconds as `m:ss.ttt` or `h:mm:ss.ttt`, so that ``moment(_:)`` returns the same time.
  public static func exactText(_ elapsed: Int64) -> String {
    let rest = max(0, elapsed) % 100
    return "\(text(elapsed))\(rest < 10 ? "0" : "")\(rest)"
  }

  private static func unreadable(_ word: String) -> MomentError {
    MomentError(message: "'\(word)' is not a time; use seconds (90.5), m:ss (1:30), a percentage (50%) or @MARKER")
  }
}

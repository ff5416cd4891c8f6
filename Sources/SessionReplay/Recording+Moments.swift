import Whiteboard
import WhiteboardDocument

/// Times as people write them.
extension Recording {
  /// The reason why a word does not name a moment.
  public struct MomentError: Error, Hashable, Sendable {
    /// The sentence.
    public let message: String
  }

  /// A place that somebody named: a marker, or a version that was kept.
  public struct Marker: Hashable, Sendable {
    /// The name, entered by a user.
    public let name: String
    /// When, in milliseconds from the beginning.
    public let elapsed: Int64
  }

  /// The places that somebody named, by their time.
  public var markers: [Marker] {
    let marks = history.marks.compactMap { mark in
      mark.name.map { Marker(name: $0, elapsed: elapsed(mark.time)) }
    }
    let versions = history.checks.compactMap { check in
      check.name.map { Marker(name: $0, elapsed: elapsed(check.time)) }
    }
    return (marks + versions).sorted { ($0.elapsed, $0.name) < ($1.elapsed, $1.name) }
  }

  /// The moment that a word names, in milliseconds from the beginning.
  ///
  /// `90` and `90.5` are seconds, `1:30` and `1:02:03.5` minutes and hours before them, `50%` is a part of
  /// the whole, and `@lunch` the first of ``markers`` of that name.
  public func moment(_ word: String) throws(MomentError) -> Int64 {
    if word.hasPrefix("@") {
      let name = word.dropFirst()
      let markers = markers
      guard let marker = markers.first(where: { $0.name == name }) else {
        let names = markers.map { "@\($0.name)" }
        throw MomentError(
          message: "there is no marker '\(name)'"
            + (names.isEmpty ? "; there are none" : "; there are \(names.joined(separator: ", "))")
        )
      }
      return marker.elapsed
    }
    if word.hasSuffix("%") {
      guard let percent = Double(word.dropLast()), (0...100).contains(percent) else {
        throw Self.unreadable(word)
      }
      return Int64((Double(duration) * percent / 100).rounded())
    }
    let parts = word.split(separator: ":", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count), let seconds = Double(parts[parts.count - 1]),
      seconds >= 0, seconds < 1e9, parts.count == 1 || seconds < 60
    else { throw Self.unreadable(word) }
    var minutes = 0.0
    for part in parts.dropLast() {
      guard let number = UInt32(part) else { throw Self.unreadable(word) }
      minutes = minutes * 60 + Double(number)
    }
    return Int64((min(minutes * 60 + seconds, 1e10) * 1000).rounded())
  }

  /// A time of the clock, milliseconds since 1970, as milliseconds from the beginning, in bounds.
  public func elapsed(_ time: Int64) -> Int64 {
    min(duration, Self.elapsed(time, since: start ?? time))
  }

  /// Milliseconds as `m:ss.t`, or with hours where there are any.
  public static func text(_ elapsed: Int64) -> String {
    let tenths = max(0, elapsed) / 100
    let (seconds, minutes, hours) = (tenths / 10 % 60, tenths / 600 % 60, tenths / 36_000)
    let end = "\(seconds < 10 ? "0" : "")\(seconds).\(tenths % 10)"
    guard hours > 0 else { return "\(minutes):\(end)" }
    return "\(hours):\(minutes < 10 ? "0" : "")\(minutes):\(end)"
  }

  /// Milliseconds as `m:ss.ttt`, or with hours where there are any: so exact that it can be given back.
  public static func exactText(_ elapsed: Int64) -> String {
    let rest = max(0, elapsed) % 100
    return "\(text(elapsed))\(rest < 10 ? "0" : "")\(rest)"
  }

  private static func unreadable(_ word: String) -> MomentError {
    MomentError(
      message: "'\(word)' is no time: write seconds (90.5), m:ss (1:30), a part (50%) or @MARKER"
    )
  }
}

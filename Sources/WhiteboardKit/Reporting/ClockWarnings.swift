import Whiteboard
import WhiteboardDocument
import WhiteboardSync

extension BoardEvent.Remark {
  init(_ report: ClockReport, of name: String?) {
    self.init(
      code: report.finding == .isRight ? "clock-right" : "clock-off",
      message: ClockText.message(report, of: name),
      peer: report.member.description,
      difference: Double(report.difference) / 1000
    )
  }

  /// Creates a warning if the document was last written at a time ahead of the local clock; otherwise returns nil.
  ///
  /// Either the clock was wrong at that time, or it has been set back since then.
  init?(clockBehind content: DocumentContent, of member: MemberID, now: Int64) {
    guard let last = content.entries.reversed().lazy.compactMap(\.time).first ?? content.keyframe?.time, last > now,
      last - now > Int64(BoardLimits.clockDifference)
    else { return nil }
    self.init(
      code: "clock-off",
      message: ClockText.setBack(now: now, lastSaved: last),
      peer: member.description,
      difference: Double(now - last) / 1000
    )
  }
}

extension DocumentEntry {
  /// The time at which the entry was recorded; nil if it has none.
  fileprivate var time: Int64? {
    switch self {
    case .batch(_, let time), .answer(_, let time), .marker(_, let time), .end(let time): time
    case .gap(_, let end): end
    case .author, .head, .name, .traffic: nil
    }
  }
}

enum ClockText {
  /// Returns the message for a finding about the clock of `name`; nil means the local clock.
  static func message(_ report: ClockReport, of name: String?) -> String {
    let difference = duration(report.difference.magnitude)
    let side = report.difference < 0 ? "behind" : "ahead of"
    switch (report.finding, name) {
    case (.isOff, nil):
      return "The clock of this computer is \(difference) \(side) the clocks of most other members. "
        + "Set the clock, or what you write will show wrong times."
    case (.isOff, let name?):
      return "The clock of \(name) is \(difference) \(side) the clocks of most other members. "
        + "Until that clock is set, what this member writes will show wrong times."
    case (.differs, _):
      let other = name ?? "another member"
      return "The clock of \(other) is \(difference) \(side) the clock of this computer. "
        + "Check the date and time on both computers."
    case (.isRight, nil): return "The clock of this computer agrees with the others again."
    case (.isRight, let name?): return "The clock of \(name) agrees with the others again."
    }
  }

  static func setBack(now: Int64, lastSaved: Int64) -> String {
    let (here, then) = (
      Timestamp.text(milliseconds: UInt64(clamping: now)), Timestamp.text(milliseconds: UInt64(clamping: lastSaved))
    )
    return "The clock of this computer says \(here), \(duration((lastSaved - now).magnitude)) before "
      + "this board was last saved (\(then)). The clock was ahead then, or is behind now. " + "Check the date and time."
  }

  /// Formats a duration, such as `20 years`, in the largest unit that fits at least twice.
  static func duration(_ milliseconds: UInt64) -> String {
    let units: [(milliseconds: UInt64, name: String)] = [
      (31_557_600_000, "year"), (86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"),
    ]
    let unit = units.first { milliseconds >= 2 * $0.milliseconds } ?? units[units.count - 1]
    let count = (milliseconds + unit.milliseconds / 2) / unit.milliseconds
    return EventText.count(Int(clamping: count), unit.name)
  }
}

import Whiteboard

/// A finding about the wall clock of a member (SYN-43).
public struct ClockReport: Hashable, Sendable {
  /// The kinds of findings.
  public enum Finding: Hashable, Sendable {
    /// The clock differs from those of most members.
    case isOff
    /// The clock differs from the local one, and it is not known which of them is wrong.
    case differs
    /// The clock agrees with the others again.
    case isRight
  }

  /// The member with this clock; the local member for the local clock.
  public let member: MemberID
  /// The result of the comparison.
  public let finding: Finding
  /// The milliseconds by which the clock is ahead, negative if it is behind.
  ///
  /// The clock is compared with most clocks, or, if it ``Finding/differs``, with the local clock.
  public let difference: Int64

  /// Creates a report from its parts.
  public init(member: MemberID, finding: Finding, difference: Int64) {
    self.member = member
    self.finding = finding
    self.difference = difference
  }
}

/// Measures how far the wall clock of one member is ahead of the local one.
///
/// Each sample is the member's clock reading in a datagram minus the local monotonic clock on
/// arrival. A sample is too low by the delay of the datagram, and never too high. The greatest of
/// the last samples is therefore too low only by the shortest of these delays.
struct ClockSamples {
  /// The minimum interval between two samples, in milliseconds.
  static let interval: UInt64 = 900
  /// How long after a member joined the comparison waits for its samples, in milliseconds.
  static let timeout: UInt64 = 15_000
  /// The maximum number of samples.
  private static let limit = 8
  /// The minimum number of samples, since datagrams that waited in a queue arrive together.
  private static let least = 4

  private var samples: [Int64] = []
  private var last: UInt64 = 0

  /// Records a clock reading on its arrival.
  /// - Returns: Whether the reading is a new sample; otherwise it only improved the last one.
  mutating func note(wall: UInt64, at uptime: UInt64) -> Bool {
    let ahead = Int64(clamping: wall) - Int64(clamping: uptime)
    if let latest = samples.last, uptime < last + Self.interval {
      samples[samples.count - 1] = max(latest, ahead)
      return false
    }
    last = uptime
    samples.append(ahead)
    if samples.count > Self.limit { samples.removeFirst() }
    return true
  }

  /// The milliseconds by which the clock is ahead of the local one; nil if there are too few
  /// samples.
  func difference(_ now: Moment) -> Int64? {
    guard samples.count >= Self.least, let ahead = samples.max() else { return nil }
    return ahead - (Int64(clamping: now.wall) - Int64(clamping: now.uptime))
  }
}

/// Finds members whose wall clock is far off, and reports each of them once (SYN-43).
struct ClockComparison {
  /// The maximum number of remembered findings; beyond it those of absent members are dropped.
  private static let remembered = 256

  private let own: MemberID
  /// The last reported finding of each member whose clock is not right.
  private var reported: [MemberID: ClockReport.Finding] = [:]

  init(own: MemberID) { self.own = own }

  /// Judges all clocks.
  /// - Parameter differences: By how much the clock of each other member is ahead of the local one.
  /// - Returns: The new reports, by ascending member.
  mutating func judge(_ differences: [MemberID: Int64]) -> [ClockReport] {
    guard !differences.isEmpty else { return [] }
    var all = differences
    all[own] = 0
    let majority = Self.majority(of: Array(all.values))
    // If the local clock agrees with the majority, other clocks are compared with it.
    let isOwnRight = majority.map { $0.magnitude <= BoardLimits.clockDifference } ?? true
    var reports: [ClockReport] = []
    for member in all.keys.sorted() {
      guard let ahead = all[member] else { continue }
      let difference = member != own && isOwnRight ? ahead : ahead - (majority ?? 0)
      let before = reported[member]
      var finding: ClockReport.Finding?
      if difference.magnitude > BoardLimits.clockDifference {
        finding = majority == nil ? .differs : .isOff
      } else if difference.magnitude > BoardLimits.clockDifference / 2 {
        // A clock that was far off is right again only well within the limit.
        finding = before
      }
      // Without a majority the local clock cannot be judged.
      if member == own, majority == nil { finding = before }
      guard finding != before else { continue }
      reported[member] = finding
      if let finding {
        reports.append(ClockReport(member: member, finding: finding, difference: difference))
      } else if ahead.magnitude <= BoardLimits.clockDifference {
        reports.append(ClockReport(member: member, finding: .isRight, difference: difference))
      }
    }
    if reported.count > Self.remembered { reported = reported.filter { all[$0.key] != nil } }
    return reports
  }

  /// Returns the time on which more than half of the members agree, relative to the local clock.
  private static func majority(of differences: [Int64]) -> Int64? {
    let sorted = differences.sorted()
    let middle = sorted[sorted.count / 2]
    let agreeing = sorted.count { ($0 - middle).magnitude <= BoardLimits.clockDifference }
    return agreeing * 2 > sorted.count ? middle : nil
  }
}

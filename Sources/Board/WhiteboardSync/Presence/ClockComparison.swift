import Whiteboard

/// The result of comparing a member's wall clock with other clocks (SYN-43).
public struct ClockReport: Hashable, Sendable {
  /// The possible results of a comparison.
  public enum Finding: Hashable, Sendable {
    /// The clock differs from the clocks of most members.
    case isOff
    /// The clock differs from the local clock, and it is unknown which of them is wrong.
    case differs
    /// The clock agrees with the others again.
    case isRight
  }

  /// The member to which the clock belongs.
  ///
  /// The member can be the local member.
  public let member: MemberID
  /// The result of the comparison.
  public let finding: Finding
  /// The time by which the clock is ahead, in milliseconds; negative if it is behind.
  ///
  /// The clock is compared with the majority of the clocks. If there is no majority (``Finding/differs``), it is
  /// compared with the local clock.
  public let difference: Int64

  /// Creates a report from its parts.
  public init(member: MemberID, finding: Finding, difference: Int64) {
    self.member = member
    self.finding = finding
    self.difference = difference
  }
}

/// A measurement of how far a member's wall clock is ahead of the local wall clock. Each sample is the wall-clock time
/// in a datagram minus the local monotonic time when the datagram arrives. The delay of a datagram makes a sample too
/// low. The greatest of the last samples is therefore the most accurate sample.
struct ClockSamples {
  /// The minimum interval between two samples, in milliseconds.
  static let interval: UInt64 = 900
  /// The time in milliseconds for which the comparison waits for samples of a new member.
  static let timeout: UInt64 = 15_000
  private static let limit = 8
  /// The minimum number of samples; several samples are needed because datagrams that waited in a queue arrive
  /// together.
  private static let least = 4

  private var samples: [Int64] = []
  private var last: UInt64 = 0

  /// Records a time of a member's wall clock when the time arrives. Returns whether the time is a new sample; false if
  /// it was merged into the last sample.
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

  /// Returns the milliseconds by which the clock is ahead of the local wall clock; nil if there are too few samples.
  func difference(_ now: Moment) -> Int64? {
    guard samples.count >= Self.least, let ahead = samples.max() else { return nil }
    return ahead - (Int64(clamping: now.wall) - Int64(clamping: now.uptime))
  }
}

/// A comparison of all wall clocks, which reports each inaccurate clock once (SYN-43).
struct ClockComparison {
  /// The maximum number of remembered findings; beyond this number, findings about absent members are removed.
  private static let remembered = 256

  private let own: MemberID
  /// The last reported finding of each member whose clock is inaccurate.
  private var reported: [MemberID: ClockReport.Finding] = [:]

  init(own: MemberID) { self.own = own }

  /// Compares all clocks, given the milliseconds by which each is ahead of the local clock.
  mutating func judge(_ differences: [MemberID: Int64]) -> [ClockReport] {
    guard !differences.isEmpty else { return [] }
    var all = differences
    all[own] = 0
    var majority = Self.majority(of: Array(all.values))
    // One person can join with several keys. A majority therefore does not prove that the local clock is wrong, if
    // another clock agrees with the local clock.
    if let found = majority, found.magnitude > BoardLimits.clockDifference,
      differences.values.contains(where: { $0.magnitude <= BoardLimits.clockDifference })
    {
      majority = nil
    }
    // If the local clock agrees with the majority, other clocks are compared with the local clock.
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
        // A reported clock is considered accurate again only when it is well within the limit.
        finding = before
      }
      // Without a majority, the local clock cannot be judged.
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

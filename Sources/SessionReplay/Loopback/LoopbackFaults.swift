import PeerCore

/// The network faults for the traffic of one peer.
struct LoopbackFaults {
  private let conditions: NetworkConditions
  private let name: String
  private let names: [String]
  private let start: ContinuousClock.Instant
  private var random: SplitMix64

  init(_ conditions: NetworkConditions, of number: Int, peers count: Int, seed: UInt64, start: ContinuousClock.Instant)
  {
    self.conditions = conditions
    names = (0..<count).map(RecordingReplay.letter)
    name = names[number]
    self.start = start
    random = SplitMix64(seed: seed &+ UInt64(number))
  }

  /// Returns the time at which to send a packet to a peer, and the number of copies.
  ///
  /// If the packet is lost, there are 0 copies.
  mutating func passage(to peer: Int, isReliable: Bool) -> (at: ContinuousClock.Instant, copies: Int) {
    let now = ContinuousClock.now
    var delay = conditions.delay + conditions.jitter * (2 * random.fraction() - 1)
    var copies = 1
    if isReliable {
      var pause = 200.0
      while random.fraction() * 100 < conditions.loss, pause < 10_000 {
        delay += pause
        pause *= 2
      }
    } else {
      if random.fraction() * 100 < conditions.loss { copies = 0 }
      if random.fraction() * 100 < conditions.duplicates { copies *= 2 }
      if random.fraction() * 100 < conditions.reorder { delay += conditions.delay + 1 }
    }
    var at = now + .milliseconds(delay)
    let elapsed = Int64((now - start) / .milliseconds(1))
    for partition in conditions.partitions where partition.time.contains(elapsed) {
      func side(_ name: String) -> Int { partition.groups.firstIndex { $0.contains(name) } ?? -1 }
      guard side(name) != side(names[peer]) else { continue }
      if !isReliable { copies = 0 }
      at = max(at, start + .milliseconds(partition.time.upperBound))
    }
    return (at, copies)
  }
}

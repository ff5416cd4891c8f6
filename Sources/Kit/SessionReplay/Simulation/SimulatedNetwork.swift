import PeerCore
import WhiteboardSync

struct SimulatedNetwork {
  struct Link: Hashable {
    let from: Int
    let to: Int

    var reversed: Link { Link(from: to, to: from) }
  }

  struct Packet {
    enum Kind: String {
      case message, datagram, answer
    }

    let link: Link
    /// The number of the connection. If the connection breaks, the packet is lost.
    let connection: Int
    let kind: Kind
    let bytes: [UInt8]
    let name: ResourceDTO?
  }

  struct Delivery {
    let packet: Packet
    let arrival: UInt64
    let copies: Int
  }

  private let conditions: NetworkConditions
  private var connections: [Link: Int] = [:]
  private var lastConnection = 0
  /// The arrival time of the last message on each link. Later messages must not arrive before this time.
  private var lastArrival: [Link: UInt64] = [:]
  private(set) var messages = 0
  private(set) var bytes = 0
  /// The number of lost packets, duplicated packets, and broken connections.
  private(set) var disturbed = 0

  init(_ conditions: NetworkConditions) { self.conditions = conditions }

  func isConnected(_ link: Link) -> Bool { connections[link] != nil }

  func isOnItsConnection(_ packet: Packet) -> Bool { connections[packet.link] == packet.connection }

  mutating func connect(_ link: Link) {
    lastConnection += 1
    for link in [link, link.reversed] { (connections[link], lastArrival[link]) = (lastConnection, nil) }
  }

  mutating func disconnect(_ link: Link) {
    for link in [link, link.reversed] { connections[link] = nil }
    disturbed += 1
  }

  mutating func send(
    _ bytes: [UInt8],
    as kind: Packet.Kind,
    named name: ResourceDTO?,
    on link: Link,
    at now: UInt64,
    using random: inout SplitMix64
  ) -> Delivery? {
    guard let connection = connections[link] else { return nil }
    messages += 1
    self.bytes += bytes.count
    let (delay, copies, faults) = conditions.passage(isReliable: kind != .datagram, using: &random)
    disturbed += faults
    var arrival = now + UInt64(max(1, delay))
    if kind == .message {
      arrival = max(arrival, lastArrival[link] ?? 0)
      lastArrival[link] = arrival
    }
    let packet = Packet(link: link, connection: connection, kind: kind, bytes: bytes, name: name)
    return Delivery(packet: packet, arrival: arrival, copies: copies)
  }
}

struct ScheduledEvents<Event> {
  private var heap: [(at: UInt64, number: Int, event: Event)] = []
  private var count = 0

  var isEmpty: Bool { heap.isEmpty }

  mutating func push(_ event: Event, at: UInt64) {
    count += 1
    heap.append((at, count, event))
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard isBefore(child, parent) else { break }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  mutating func pop() -> (event: Event, at: UInt64)? {
    guard let first = heap.first else { return nil }
    let last = heap.removeLast()
    if !heap.isEmpty {
      heap[0] = last
      var parent = 0
      while true {
        var least = parent
        for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && isBefore(child, least) {
          least = child
        }
        guard least != parent else { break }
        heap.swapAt(parent, least)
        parent = least
      }
    }
    return (first.event, first.at)
  }

  private func isBefore(_ one: Int, _ other: Int) -> Bool {
    (heap[one].at, heap[one].number) < (heap[other].at, heap[other].number)
  }
}

/// The faults of a simulated network and its peers.
///
/// Implements the syntax of `--net`.
public struct NetworkConditions: Hashable, Sendable {
  /// The reason why a string does not describe valid network conditions.
  public struct ParseError: Error, Hashable, Sendable {
    /// The message for the user, which names the invalid part of the string.
    public let message: String
  }

  /// A partition of the network, during which the groups of peers cannot reach each other.
  public struct Partition: Hashable, Sendable {
    /// The letters of the peers in each group.
    ///
    /// All other peers form one more group.
    public let groups: [[String]]
    /// The start and the end of the partition, in milliseconds from the beginning.
    public let time: Range<Int64>

    func separates(_ one: String, _ other: String) -> Bool {
      func side(_ name: String) -> Int { groups.firstIndex { $0.contains(name) } ?? -1 }
      return side(one) != side(other)
    }
  }

  /// A crash of a peer, and its restart.
  public struct Kill: Hashable, Sendable {
    /// The letter of the peer.
    public let peer: String
    /// The times of the crash and of the restart, in milliseconds from the beginning.
    public let time: Range<Int64>
  }

  /// The percentage of packets that are lost.
  ///
  /// Lost reliable packets are sent again and arrive later.
  public var loss = 0.0
  /// The percentage of unreliable packets that arrive twice.
  public var duplicates = 0.0
  /// The percentage of unreliable packets that are overtaken by later packets.
  public var reorder = 0.0
  /// The delay of a packet, in milliseconds.
  public var delay = 1.0
  /// The largest deviation from the delay in either direction, in milliseconds.
  public var jitter = 0.0
  /// The partitions, with their times.
  public var partitions: [Partition] = []
  /// The crashes and restarts of peers, with their times.
  public var kills: [Kill] = []

  /// The maximum delay, in milliseconds. A peer that answers much later would be treated as silent (LIV-2).
  private static let longestDelay = 2000.0

  /// Creates conditions without faults.
  public init() {}

  /// The delay is in milliseconds; `copies` is the number of packets that arrive.
  func passage(isReliable: Bool, using random: inout SplitMix64) -> (delay: Double, copies: Int, faults: Int) {
    var delay = delay + jitter * (2 * random.fraction() - 1)
    var (copies, faults) = (1, 0)
    if isReliable {
      // As in TCP, a lost packet is sent again after 200 ms, and the delay doubles with each further attempt.
      var pause = 200.0
      while random.fraction() * 100 < loss, pause < 10_000 {
        delay += pause
        pause *= 2
        faults += 1
      }
    } else {
      if random.fraction() * 100 < loss { copies = 0 }
      if random.fraction() * 100 < duplicates { copies *= 2 }
      // To be overtaken, a packet needs a delay so long that the next packet arrives earlier.
      if random.fraction() * 100 < reorder { delay += self.delay + 1 }
      if copies != 1 { faults = 1 }
    }
    return (delay, copies, faults)
  }

  /// Parses conditions such as `loss=5%,delay=20ms±10,reorder=1%,duplicate=1%,partition=A|B@10s..25s,kill=B@30s..40s`.
  ///
  /// Peers are named by their letters. In a partition, `A+B|C` puts A and B on one side; all other peers form one more
  /// side. If a kill has no second time, the peer restarts after two seconds. `+-` means `±`.
  public init(_ words: String) throws(ParseError) {
    for word in words.filter({ $0 != " " }).split(separator: ",") {
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { throw ParseError(message: "'\(word)' is not KEY=VALUE") }
      let value = parts[1]
      switch parts[0] {
      case "loss": loss = try Self.percent(value)
      case "duplicate": duplicates = try Self.percent(value)
      case "reorder": reorder = try Self.percent(value)
      case "delay":
        let sides = value.replacing("+-", with: "±").split(separator: "±", maxSplits: 1)
        delay = try Self.milliseconds(sides.first.map(String.init) ?? "", unit: 1)
        jitter = sides.count > 1 ? try Self.milliseconds(String(sides[1]), unit: 1) : 0
        guard jitter <= delay else {
          throw ParseError(message: "'\(value)': the variation must not be larger than the delay")
        }
        guard delay + jitter <= Self.longestDelay else {
          throw ParseError(
            message: "'\(value)': the delay and its variation must be at most \(Int(Self.longestDelay)) ms"
          )
        }
      case "partition":
        let (who, time) = try Self.timed(value)
        let groups = who.split(separator: "|").map { $0.split(separator: "+").map(String.init) }
        guard let until = time.until, groups.count > 1 else {
          throw ParseError(message: "'\(value)' must be like A|B@10s..25s")
        }
        partitions.append(Partition(groups: groups, time: time.from..<until))
      case "kill":
        let (who, time) = try Self.timed(value)
        let kill = Kill(peer: who, time: time.from..<(time.until ?? time.from + 2000))
        guard !kills.contains(where: { $0.peer == who && $0.time.overlaps(kill.time) }) else {
          throw ParseError(message: "'\(value)': \(who) is killed again before it has restarted")
        }
        kills.append(kill)
      default: throw ParseError(message: "'\(parts[0])' is not one of loss, delay, reorder, duplicate, partition, kill")
      }
    }
  }

  private static func percent(_ value: String) throws(ParseError) -> Double {
    guard value.hasSuffix("%"), let number = Double(value.dropLast()), (0...95).contains(number) else {
      throw ParseError(message: "'\(value)' is not a percentage from 0% to 95%")
    }
    return number
  }

  /// A number without `ms` or `s` is multiplied by `unit`.
  private static func milliseconds(_ value: String, unit: Double) throws(ParseError) -> Double {
    var (number, factor) = (Substring(value), unit)
    if value.hasSuffix("ms") {
      (number, factor) = (value.dropLast(2), 1)
    } else if value.hasSuffix("s") {
      (number, factor) = (value.dropLast(), 1000)
    }
    guard let time = Double(number), (0...1e9).contains(time * factor) else {
      throw ParseError(message: "'\(value)' is not a time such as 20ms or 10s")
    }
    return time * factor
  }

  private static func timed(_ value: String) throws(ParseError) -> (who: String, time: (from: Int64, until: Int64?)) {
    let parts = value.split(separator: "@", maxSplits: 1).map(String.init)
    guard parts.count == 2, !parts[0].isEmpty else {
      throw ParseError(message: "'\(value)' needs a peer and a time, like B@30s")
    }
    guard let dots = parts[1].firstRange(of: "..") else {
      return (parts[0], (Int64(try milliseconds(parts[1], unit: 1000)), nil))
    }
    let from = Int64(try milliseconds(String(parts[1][..<dots.lowerBound]), unit: 1000))
    let until = Int64(try milliseconds(String(parts[1][dots.upperBound...]), unit: 1000))
    guard from < until else { throw ParseError(message: "'\(value)' ends before it begins") }
    return (parts[0], (from, until))
  }

  /// Returns a peer that is named in the conditions but not contained in `peers`, or `nil` if there is none.
  public func stranger(among peers: some Sequence<String>) -> String? {
    let known = Set(peers)
    let named = partitions.flatMap { $0.groups.joined() } + kills.map(\.peer)
    return named.first { !known.contains($0) }
  }
}

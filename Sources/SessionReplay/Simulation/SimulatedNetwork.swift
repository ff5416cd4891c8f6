import PeerCore
import WhiteboardSync

/// The connections between simulated peers, and the faults of the packets on them.
struct SimulatedNetwork {
  /// One direction of the connection between two peers, each identified by its index.
  struct Link: Hashable {
    let from: Int
    let to: Int

    var reversed: Link { Link(from: to, to: from) }
  }

  struct Packet {
    enum Kind: String {
      case message
      case datagram
      case answer
    }

    let link: Link
    /// If the connection breaks, the packet is lost.
    let connection: Int
    let kind: Kind
    let bytes: [UInt8]
    let name: ResourceDTO?
  }

  struct Delivery {
    let packet: Packet
    let arrival: UInt64
    /// The number of copies that arrive; 0 if the packet is lost.
    let copies: Int
  }

  private let conditions: NetworkConditions
  private var connections: [Link: Int] = [:]
  private var lastConnection = 0
  /// The arrival time of the last message on each link.
  ///
  /// Later messages must not arrive before that time.
  private var lastArrival: [Link: UInt64] = [:]
  private(set) var messages = 0
  /// The size of the packets that were sent, in bytes.
  private(set) var bytes = 0
  /// The number of lost packets, duplicated packets, and broken connections.
  private(set) var disturbed = 0

  init(_ conditions: NetworkConditions) { self.conditions = conditions }

  func isConnected(_ link: Link) -> Bool { connections[link] != nil }

  /// Returns whether the connection on which a packet was sent still exists.
  func isOnItsConnection(_ packet: Packet) -> Bool { connections[packet.link] == packet.connection }

  mutating func connect(_ link: Link) {
    lastConnection += 1
    for link in [link, link.reversed] { (connections[link], lastArrival[link]) = (lastConnection, nil) }
  }

  /// Breaks the connection of two peers, in both directions.
  mutating func disconnect(_ link: Link) {
    for link in [link, link.reversed] { connections[link] = nil }
    disturbed += 1
  }

  /// Sends bytes, or returns `nil` if the peers are not connected.
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
    var delay = conditions.delay + conditions.jitter * (2 * random.fraction() - 1)
    var copies = 1
    if kind == .datagram {
      if random.fraction() * 100 < conditions.loss { copies = 0 }
      if random.fraction() * 100 < conditions.duplicates { copies += copies }
      // To be overtaken, a packet needs a delay so long that the next packet arrives earlier.
      if random.fraction() * 100 < conditions.reorder { delay += conditions.delay + 1 }
      if copies != 1 { disturbed += 1 }
    } else {
      // As in TCP, a lost packet is sent again after 200 ms, and the delay doubles with each further attempt.
      var pause = 200.0
      while random.fraction() * 100 < conditions.loss, pause < 10_000 {
        delay += pause
        pause *= 2
        disturbed += 1
      }
    }
    var arrival = now + UInt64(max(1, delay))
    if kind == .message {
      arrival = max(arrival, lastArrival[link] ?? 0)
      lastArrival[link] = arrival
    }
    let packet = Packet(link: link, connection: connection, kind: kind, bytes: bytes, name: name)
    return Delivery(packet: packet, arrival: arrival, copies: copies)
  }
}

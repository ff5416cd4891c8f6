import Whiteboard
import WhiteboardDocument

/// The amount of traffic in a session, by peer.
public struct TrafficStatistics: Sendable {
  /// The traffic of one kind to and from one peer.
  public struct Amount: Hashable, Sendable {
    /// The number of messages, datagrams, resources or parts of streams.
    public fileprivate(set) var count = 0
    /// The size of the traffic in bytes.
    public fileprivate(set) var bytes: UInt64 = 0

    fileprivate mutating func add(_ more: UInt64) {
      count += 1
      bytes &+= more
    }
  }

  /// The traffic to and from one peer.
  public struct Person: Sendable {
    /// The peer.
    public let member: MemberID
    /// The received and the sent messages.
    public fileprivate(set) var messages = (received: Amount(), sent: Amount())
    /// The received and the sent datagrams.
    public fileprivate(set) var datagrams = (received: Amount(), sent: Amount())
    /// The received and the sent resources, with their announced sizes.
    public fileprivate(set) var resources = (received: Amount(), sent: Amount())
    /// The received and the sent parts of streams.
    public fileprivate(set) var streams = (received: Amount(), sent: Amount())
    /// The number of times that the peer joined.
    public fileprivate(set) var joins = 0
    /// The number of times that the peer was lost.
    public fileprivate(set) var losses = 0
  }

  /// The traffic of each peer, in the order of their ids.
  public let people: [Person]

  /// Collects the statistics of a session's traffic.
  ///
  /// - Complexity: O(n).
  public init(of traffic: [TrafficEntry]) {
    var people: [MemberID: Person] = [:]
    for entry in traffic where entry.kind != .began {
      for peer in entry.peers {
        guard let member = MemberID(bytes: peer) else { continue }
        var person = people[member] ?? Person(member: member)
        let size = UInt64(entry.bytes.count)
        switch entry.kind {
        case .joined: person.joins += 1
        case .left where entry.text == "lost": person.losses += 1
        case .message: person.messages.received.add(size)
        case .sentMessage: person.messages.sent.add(size)
        case .datagram: person.datagrams.received.add(size)
        case .sentDatagram: person.datagrams.sent.add(size)
        case .resource: person.resources.received.add(entry.size)
        case .sentResource: person.resources.sent.add(entry.size)
        case .streamBytes: person.streams.received.add(size)
        case .sentStreamBytes: person.streams.sent.add(size)
        default: break
        }
        people[member] = person
      }
    }
    self.people = people.keys.sorted().compactMap { people[$0] }
  }
}

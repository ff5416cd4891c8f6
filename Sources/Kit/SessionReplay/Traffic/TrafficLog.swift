import FoundationEssentials
import PeerCore
import PeerDiscovery
import PeerSession
import Whiteboard
import WhiteboardDocument

/// The part of a session's traffic that is recorded.
public enum TrafficScope: Sendable {
  /// Only joins, leaves, and the whiteboard's datagrams with pointers and unfinished strokes.
  case presence
  /// All traffic of the session.
  case all

  func takes(_ entry: TrafficEntry) -> Bool {
    switch (self, entry.kind) {
    case (.all, _), (.presence, .began), (.presence, .joined), (.presence, .left): true
    // Only the datagrams of the board itself (SYN-30, SYN-31), not the datagrams of other applications.
    case (.presence, .datagram): entry.bytes.first.map { $0 < 0x10 } ?? false
    default: false
    }
  }
}

/// A log that converts a session's traffic to entries, and holds them until they are written.
///
/// Resources and streams are numbered in order, from 1.
public final class TrafficLog: Sendable {
  private struct State {
    var entries: [TrafficEntry] = []
    var numbers: [TransferID: UInt64] = [:]
    var numbered: UInt64 = 0
    var broken: Set<UInt64> = []
    /// The approximate size of the entries, in bytes.
    var size = 0
    /// The time at which the log began to drop entries, because too many were waiting.
    var missingSince: Int64?

    mutating func append(_ entry: TrafficEntry) {
      guard size < TrafficLog.capacity else {
        missingSince = missingSince ?? entry.time
        return
      }
      size += 64 + entry.bytes.count + entry.text.utf8.count
      entries.append(entry)
    }

    mutating func number(_ id: TransferID) -> UInt64 {
      if let number = numbers[id] { return number }
      numbered += 1
      numbers[id] = numbered
      return numbered
    }
  }

  /// The maximum total size of waiting entries, in bytes.
  ///
  /// Further traffic is dropped and recorded as missing.
  public static let capacity = 64 << 20

  /// Signals new entries to the single reader.
  public let arrivals: AsyncStream<Void>

  private let arrival: AsyncStream<Void>.Continuation
  private let scope: TrafficScope
  private let now: @Sendable () -> Int64
  private let state = Locked(State())

  /// Creates an empty log.
  ///
  /// - Parameters:
  ///   - scope: The traffic to record.
  ///   - now: A closure that returns the current time, in milliseconds since 1970.
  public init(_ scope: TrafficScope, now: @escaping @Sendable () -> Int64 = TrafficLog.wallClock) {
    self.scope = scope
    self.now = now
    (arrivals, arrival) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Ends ``arrivals``.
  public func finish() { arrival.finish() }

  /// Returns the wall-clock time, in milliseconds since 1970.
  public static let wallClock: @Sendable () -> Int64 = { Int64(Date.now.timeIntervalSince1970 * 1000) }

  /// Adds the first entry, which names the local peer of the session.
  public func begin(as peer: PeerID, named name: String) {
    let entry = TrafficEntry(.began, [peer.bytes], time: now(), text: name)
    state.withLock { $0.append(entry) }
    arrival.yield()
  }

  /// Adds traffic from `Session.observeTraffic(_:)`.
  ///
  /// This method may be called from any thread.
  public func take(_ traffic: SessionTraffic) {
    let time = now()
    state.withLock { state in
      guard let entry = Self.entry(traffic, time, &state), scope.takes(entry) else { return }
      state.append(entry)
    }
    arrival.yield()
  }

  /// Returns the entries since the last call, in order.
  public func takeAll() -> [TrafficEntry] {
    state.withLock { state in
      defer { (state.entries, state.size, state.missingSince) = ([], 0, nil) }
      guard let since = state.missingSince else { return state.entries }
      return state.entries + [.missed(from: since, to: now())]
    }
  }

  private static func entry(_ traffic: SessionTraffic, _ time: Int64, _ state: inout State) -> TrafficEntry? {
    switch traffic {
    case .event(let event): entry(event, time, &state)
    case .message(let bytes, let peers): TrafficEntry(.sentMessage, peers.map(\.bytes), time: time, bytes: bytes)
    case .datagram(let bytes, let peers): TrafficEntry(.sentDatagram, peers.map(\.bytes), time: time, bytes: bytes)
    case .openedStream(let stream): opened(.openedStream, stream, time, &state)
    case .streamBytes(let bytes, let stream, let isSent):
      TrafficEntry(
        isSent ? .sentStreamBytes : .streamBytes,
        [stream.peer.bytes],
        time: time,
        number: state.number(stream.id),
        bytes: bytes
      )
    case .streamFinished(let stream, let isSent):
      TrafficEntry(
        isSent ? .finishedStream : .streamFinished,
        [stream.peer.bytes],
        time: time,
        number: state.number(stream.id)
      )
    case .streamBroke(let stream, let error):
      // A broken stream is reported in each direction, but is recorded only once.
      !state.broken.insert(state.number(stream.id)).inserted
        ? nil
        : TrafficEntry(
          .streamBroke,
          [stream.peer.bytes],
          time: time,
          number: state.number(stream.id),
          text: error.code.rawValue
        )
    }
  }

  private static func entry(_ event: SessionEvent, _ time: Int64, _ state: inout State) -> TrafficEntry? {
    switch event {
    case .peerJoined(let peer): TrafficEntry(.joined, [peer.id.bytes], time: time, text: peer.name.raw)
    case .peerStateChanged(let peer, let now): TrafficEntry(.state, [peer.bytes], time: time, text: now.rawValue)
    case .peerLeft(let peer, let reason, _): TrafficEntry(.left, [peer.bytes], time: time, text: reason.word)
    case .message(let bytes, let peer): TrafficEntry(.message, [peer.bytes], time: time, bytes: bytes)
    case .datagram(let bytes, let peer): TrafficEntry(.datagram, [peer.bytes], time: time, bytes: bytes)
    case .resourceStarted(let info):
      TrafficEntry(
        info.direction == .incoming ? .resource : .sentResource,
        [info.peer.bytes],
        time: time,
        number: state.number(info.id),
        size: UInt64(max(0, info.size)),
        text: info.name.raw
      )
    case .resourceFinished(let info, let result):
      TrafficEntry(.resourceEnded, [info.peer.bytes], time: time, number: state.number(info.id), text: ending(result))
    case .streamOpened(let stream): opened(.stream, stream, time, &state)
    case .invitation, .invitationEnded, .datagramPath, .resourceProgress, .warning: nil
    }
  }

  private static func opened(_ kind: TrafficEntry.Kind, _ stream: PeerStream, _ time: Int64, _ state: inout State)
    -> TrafficEntry
  { TrafficEntry(kind, [stream.peer.bytes], time: time, number: state.number(stream.id), text: stream.name.raw) }

  private static func ending(_ result: Result<ReceivedResource, SessionError>) -> String {
    switch result {
    case .success: ""
    case .failure(let error): error.code.rawValue
    }
  }
}

extension TrafficEntry {
  /// The maximum numbers of bytes to show as hexadecimal digits, and to check for text.
  private static let (digits, letters) = (16, 256)

  /// The size and the beginning of the entry's bytes, safe to print on a terminal.
  public var content: String { Self.content(of: bytes) }

  /// Returns the size and the beginning of the bytes, safe to print on a terminal. Text is shown in at most 64 columns,
  /// and other bytes as hexadecimal digits.
  static func content(of bytes: [UInt8]) -> String {
    let size = bytes.count == 1 ? "1 byte" : "\(bytes.count) bytes"
    guard !bytes.isEmpty else { return size }
    if let text = beginning(of: bytes) { return "\(size): \"\(UntrustedText(text).displayed)\"" }
    let start = Hexadecimal.encode(Array(bytes.prefix(digits)))
    return "\(size): \(start)\(bytes.count > digits ? "…" : "")"
  }

  private static func beginning(of bytes: [UInt8]) -> String? {
    // A character of up to four bytes may be cut off at the end.
    for length in (0..<4).map({ min(bytes.count, letters) - $0 }) where length > 0 {
      guard let text = String(validating: bytes.prefix(length), as: UTF8.self) else {
        if bytes.count <= letters { return nil }
        continue
      }
      let isText = text.unicodeScalars.allSatisfy { scalar in
        scalar.properties.generalCategory != .control || ["\n", "\r", "\t"].contains(scalar)
      }
      return isText && !UntrustedText(text).displayed.isEmpty ? text : nil
    }
    return nil
  }
}

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

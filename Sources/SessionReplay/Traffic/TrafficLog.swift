import FoundationEssentials
import PeerCore
import PeerSession
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
    // Only the datagrams of the board itself (SYN-30, SYN-31), not those of other applications.
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
    /// The approximate size of `entries`, in bytes.
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

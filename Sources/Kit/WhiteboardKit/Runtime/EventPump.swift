import Whiteboard

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// The queue of events between a board and its sink, with back-pressure. If the sink is slow, an event about an object
/// replaces the pending event of the same author about the same object. At most one state of an object is then pending
/// for each author, however often the object changes. Confined to the board's actor, which does not wait for the sink.
struct EventPump {
  private var pending: [SharedBoard.Output] = []
  private(set) var pendingBytes = 0
  /// The approximate number of bytes that the sink is receiving. Only a large event can make this number exceed twice
  /// the capacity.
  private(set) var tellingBytes = 0
  /// The approximate number of bytes of all events so far, without events that were merged into a pending event.
  private(set) var appendedBytes = 0
  /// For each object, the index of its pending event that a later event may replace.
  private var replaceable: [ObjectID: Int] = [:]
  private var isDelivering = false
  private var failure: OutputError?
  private var waiters: [CheckedContinuation<Void, Never>] = []

  /// The number of pending events at which the board waits for the sink.
  static let capacity = 1_024
  /// The approximate number of pending bytes at which the board waits for the sink.
  static let byteCapacity = 1024 * 1024
  /// The number of pending events at which events about the same object begin to be merged.
  static let backlog = 64
  /// The number of pending bytes at which events about the same object begin to be merged.
  static let byteBacklog = 64 * 1024

  var hasRoom: Bool {
    (pending.count < EventPump.capacity && pendingBytes < EventPump.byteCapacity
      && tellingBytes < 2 * EventPump.byteCapacity) || failure != nil
  }

  var isIdle: Bool { (pending.isEmpty && !isDelivering) || failure != nil }

  /// Appends an event, or merges it into the pending event of the same object.
  mutating func append(_ event: SharedBoard.Output) {
    guard failure == nil else { return }
    switch event.subject {
    case .object(let id):
      if isBehind, let index = replaceable[id], let joined = pending[index].followed(by: event) {
        pendingBytes += joined.weight - pending[index].weight
        pending[index] = joined
        return
      }
      replaceable[id] = pending.count
    case .selection(let id): replaceable[id] = nil
    // An answer or a message may refer to the current state of an object, so later events must not replace earlier
    // events.
    case .other: replaceable = [:]
    }
    let weight = event.weight
    pending.append(event)
    pendingBytes += weight
    appendedBytes += weight
  }

  private var isBehind: Bool { pending.count >= EventPump.backlog || pendingBytes >= EventPump.byteBacklog }

  mutating func begin() -> [SharedBoard.Output]? {
    guard !isDelivering, !pending.isEmpty, failure == nil else { return nil }
    isDelivering = true
    tellingBytes = pendingBytes
    defer {
      pending = []
      pendingBytes = 0
      replaceable = [:]
    }
    return pending
  }

  /// Call this method when the sink has accepted the events, or failed. Returns the waiters to resume.
  mutating func end(_ error: OutputError?) -> [CheckedContinuation<Void, Never>] {
    isDelivering = false
    tellingBytes = 0
    failure = failure ?? error
    defer { waiters = [] }
    return waiters
  }

  mutating func wait(_ continuation: CheckedContinuation<Void, Never>) { waiters.append(continuation) }
}

extension SharedBoard.Output {
  fileprivate enum Subject {
    case object(ObjectID)
    case selection(ObjectID)
    case other
  }

  fileprivate var subject: Subject {
    switch self {
    case .change(.added(let object, _), _), .change(.changed(let object, _), _): .object(object.id)
    case .change(.removed(let id, _), _): .object(id)
    case .change(.selected(let id, _), _): .selection(id)
    default: .other
    }
  }

  /// Returns one event that replaces both events; nil if that is not possible.
  fileprivate func followed(by later: SharedBoard.Output) -> SharedBoard.Output? {
    guard case .change(var change, let first) = self, case .change(let next, var second) = later,
      first.member == second.member
    else { return nil }
    switch (change, next) {
    case (.changed, .removed): return later
    case (.added(_, let author), .changed(let snapshot, _)):
      change = .added(snapshot, by: author)
      second.isHidden = first.isHidden
    case (.changed, .changed): change = next
    default: return nil
    }
    if let known = first.object { second.object = second.object?.joined(after: known) }
    return .change(change, second)
  }

  /// The approximate number of bytes of content that varies in size.
  fileprivate var weight: Int {
    switch self {
    case .change(.message(let bytes, _, _), _): bytes.count * 7 / 3
    case .change(.chat(let line, _), _): line.text.utf8.count
    case .change(_, let details): details.object?.weight ?? 0
    case .news(.streamData(let event)): event.bytes.count * 4 / 3
    case .answer(.object(let object), _): object.weight
    // A list is written in parts, so it occupies little memory, but writing it takes a long time.
    case .answer(.objects(let objects), _): min(objects.count * 512, 2 * EventPump.byteBacklog)
    case .answer(.found(let objects, _, _), _): objects.reduce(0) { $0 + $1.weight }
    case .answer(.chat(let lines), _): lines.reduce(0) { $0 + $1.text.utf8.count }
    case .news, .answer: 0
    }
  }
}

extension ReportedObject {
  /// The approximate number of bytes of the object in an output line.
  fileprivate var weight: Int {
    let pairs = (points?.count ?? 0) + (erased?.ranges.count ?? 0)
    let ids = snapshot.groups.count + (members?.count ?? 0)
    let lines = game?.lines.reduce(0) { $0 + $1.byteCount } ?? 0
    return 512 + pairs * 40 + ids * 64 + (snapshot.text?.utf8.count ?? 0) + lines
  }
}

package protocol EventSink: Sendable {
  /// Receives events in order; returns when the sink has room for more events; throws if the sink can receive no more
  /// events.
  func write(_ events: [SharedBoard.Output]) async throws(OutputError)

  /// The content that the sink reads. Events with other content are not created.
  var contents: EventContents { get }

  /// Whether ``write(_:)`` of a few events takes only microseconds, so that it may run on the thread of the links. The
  /// default is false.
  var isBrief: Bool { get }

  /// Receives each change of the board before the event about the change. Also receives the stored settings and, if
  /// ``contents`` includes them, the stored objects. Changes by hidden authors are left out. The function does not wait:
  /// a slow receiver stores only the latest state of each object. The default implementation does nothing.
  func boardChanged(_ change: SharedBoard.Change)

  /// Receives the result of a command with a request id, including the ids of new objects. The call follows the changes
  /// of the command, as soon as the command's function returns. The answer follows when the changes are stored. The
  /// function does not wait. The default implementation does nothing.
  func commandReturned(_ outcome: CommandOutcome, to request: RequestMark)
}

extension EventSink {
  package var contents: EventContents { .all }

  package var isBrief: Bool { false }

  package func boardChanged(_ change: SharedBoard.Change) {}

  package func commandReturned(_ outcome: CommandOutcome, to request: RequestMark) {}
}

package struct EventContents: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let objects = EventContents(rawValue: 1)
  package static let chat = EventContents(rawValue: 2)
  /// The application messages, and the data of streams.
  package static let data = EventContents(rawValue: 4)
  /// The previews of members' strokes, which no line reports. If a sink does not read previews, members send none
  /// (SYN-49).
  package static let previews = EventContents(rawValue: 8)
  /// The answers to commands that succeeded and have no request id.
  package static let unmarkedAnswers = EventContents(rawValue: 16)
  /// The stored objects, which ``EventSink/boardChanged(_:)`` receives when the board opens.
  package static let stored = EventContents(rawValue: 32)

  package static let all: EventContents = [.lines, .previews, .stored]
  /// The contents that are reported as lines.
  package static let lines: EventContents = [.objects, .chat, .data, .unmarkedAnswers]
}

package struct OutputError: Error, Equatable, Sendable {
  package let number: Int32

  package init(number: Int32) { self.number = number }

  /// Whether the reader of the output closed its end, which is not an error of this program.
  package var isReaderGone: Bool { number == EPIPE }
}

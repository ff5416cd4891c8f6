import NIOCore
import PeerDiscovery
import PeerWire

/// Assembles the messages of one peer from their parts (MSG-1 to MSG-3). The inbox exists as long as the delivery state
/// of the two peers, over any number of links (3.4).
struct MessageInbox {
  enum Outcome: Equatable {
    case incomplete
    case began(total: Int)
    /// `isRelays`: the message is between a member and a relay (11.2). `isSplit`: the message came in several parts.
    case completed([UInt8], isRelays: Bool, isSplit: Bool)
  }

  struct Part: Equatable {
    var outcome: Outcome
    var byteCount: Int
    var wantsAcknowledgement: Bool
  }

  private var assembler = MessageAssembler()
  private var partial: [UInt8] = []
  /// Whether the incomplete message is between a member and a relay (11.2).
  private var isPartialRelays = false

  var received: UInt64 { assembler.received }

  /// If the payload breaks a rule, throws without changing the state.
  mutating func receive(_ payload: ByteBuffer) throws(LinkViolation) -> Part {
    var offset = 0
    let part: MessagePart
    do throws(MessagePart.DecodingError) {
      part = try MessagePart.read(from: payload.readableBytesUInt8Span, at: &offset)
    } catch {
      let code: CloseCode = if case .tooLarge = error { .tooLarge } else { .protocolError }
      throw LinkViolation(code: code, message: CloseMessage.invalid(error))
    }
    let count = payload.readableBytes - offset
    let step: MessageAssembler.Outcome
    do throws(MessageAssembler.AssemblyError) { step = try assembler.receive(part, byteCount: count) } catch {
      throw LinkViolation(code: .protocolError, message: CloseMessage.invalid(error))
    }
    return Part(
      outcome: outcome(of: step, part, payload, offset, count),
      byteCount: count,
      wantsAcknowledgement: part.wantsAcknowledgement
    )
  }

  private mutating func outcome(
    of step: MessageAssembler.Outcome,
    _ part: MessagePart,
    _ payload: ByteBuffer,
    _ offset: Int,
    _ count: Int
  ) -> Outcome {
    let bytes = payload.readableBytesView.dropFirst(offset)
    switch step {
    case .duplicate: return .incomplete
    case .whole:
      let message = payload.withUnsafeReadableBytes { source in
        [UInt8](unsafeUninitializedCapacity: count) { target, initialized in
          UnsafeMutableRawBufferPointer(target).copyMemory(from: UnsafeRawBufferPointer(rebasing: source[offset...]))
          initialized = count
        }
      }
      return .completed(message, isRelays: part.isRelays, isSplit: false)
    case .begin(let total):
      isPartialRelays = part.isRelays
      partial = Array(bytes)
      return .began(total: total)
    case .append:
      // Reserve the memory only now. The link is read again only if there is room for the whole message (MSG-5).
      partial.reserveCapacity(assembler.total)
      partial.append(contentsOf: bytes)
      return .incomplete
    case .finish:
      partial.append(contentsOf: bytes)
      let message = partial
      partial = []
      return .completed(message, isRelays: isPartialRelays, isSplit: true)
    }
  }
}

/// Decides which links of a session are read (MSG-5, RLY-14). This type has no clock; the caller passes the time and
/// pauses or resumes the links.
struct ReadingControl {
  /// Whether the application is so far behind that no link is read (MSG-5).
  var isApplicationBehind = false
  /// The peers that exceed this relay's rate limit (RLY-14).
  private var throttled: Set<PeerID> = []
  /// The peers whose links are not read at the application's request (MSG-5).
  private var stopped: Set<PeerID> = []
  var room = MessageRoom()

  func reads(_ peer: PeerID) -> Bool {
    !isApplicationBehind && !throttled.contains(peer) && !stopped.contains(peer) && !room.stops(peer)
  }

  // MARK: Throttling

  func isThrottled(_ peer: PeerID) -> Bool { throttled.contains(peer) }

  mutating func throttle(_ peer: PeerID) { throttled.insert(peer) }

  mutating func endThrottle(_ peer: PeerID) { throttled.remove(peer) }

  // MARK: The application

  mutating func stop(_ peer: PeerID) { stopped.insert(peer) }

  mutating func start(_ peer: PeerID) { stopped.remove(peer) }

  /// Records that the application handled a large message of a peer; returns the peers whose links may be read again.
  /// The room of the message becomes free, unless the application stopped reading from the peer. In that case, the
  /// message is still waiting in the application's own queue.
  mutating func messageHandled(of peer: PeerID, now: NIODeadline) -> [PeerID] {
    stopped.contains(peer) ? [] : room.handled(peer, now: now)
  }
}

/// The memory for large messages, shared by all links of a session (MSG-5). A large message needs room from its first
/// part until the application has handled it. While there is no room for the message, its link is not read. Links get
/// room in the order of their requests. Each link has at most one large message, so the members take turns.
struct MessageRoom {
  /// The size of a message, in bytes, above which the message needs room.
  static let threshold = 1 << 20
  /// The maximum total size of large messages, in bytes. If there is no other large message, a message always has room,
  /// because a relayed message can slightly exceed the maximum message size.
  static let capacity = 16 << 20
  /// Returns how long a message may take to arrive while other messages wait for room: 3 s plus 1 s for each 2 MiB.
  static func timeout(_ bytes: Int) -> TimeAmount {
    .seconds(3) + .nanoseconds(Int64(bytes) * 1_000_000_000 / (2 << 20))
  }

  private struct Place {
    let bytes: Int
    var since: NIODeadline
    var isComplete = false
  }

  private var places: [PeerID: Place] = [:]
  /// The members whose links wait for room, with the sizes of their messages, in order of arrival.
  private var waiting: [(peer: PeerID, bytes: Int, since: NIODeadline)] = []
  private var used = 0

  mutating func began(_ bytes: Int, from peer: PeerID, now: NIODeadline) {
    guard bytes > Self.threshold else { return }
    left(peer)
    waiting.append((peer, bytes, now))
    admit(now)
  }

  mutating func completed(by peer: PeerID) { places[peer]?.isComplete = true }

  /// Returns whether the link of a member must not be read, because a message of the member waits for room or for the
  /// application.
  func stops(_ peer: PeerID) -> Bool {
    if let place = places[peer] { return place.isComplete }
    return waiting.contains { $0.peer == peer }
  }

  /// Returns the members whose links may be read again.
  mutating func handled(_ peer: PeerID, now: NIODeadline) -> [PeerID] {
    guard places[peer]?.isComplete == true else { return [] }
    return [peer] + removed(peer, now: now)
  }

  /// Drops the message of a member whose delivery state ended; returns the members whose links may be read again.
  mutating func removed(_ peer: PeerID, now: NIODeadline) -> [PeerID] {
    left(peer)
    return admit(now)
  }

  /// Records that the link of a member is read again. The time limit of its message restarts, because no bytes could
  /// arrive during the pause.
  mutating func resumed(_ peer: PeerID, now: NIODeadline) { places[peer]?.since = now }

  var nextDue: NIODeadline? { places.values.compactMap { due($0) }.min() }

  func overdue(_ now: NIODeadline) -> [PeerID] {
    places.keys.filter { due(places[$0]).map { $0 <= now } ?? false }.sorted()
  }

  private func due(_ place: Place?) -> NIODeadline? {
    guard let place, !place.isComplete, let next = waiting.first else { return nil }
    return max(place.since, next.since) + Self.timeout(place.bytes)
  }

  private mutating func left(_ peer: PeerID) {
    if let place = places.removeValue(forKey: peer) { used -= place.bytes }
    waiting.removeAll { $0.peer == peer }
  }

  @discardableResult private mutating func admit(_ now: NIODeadline) -> [PeerID] {
    var admitted: [PeerID] = []
    while let next = waiting.first, used == 0 || used + next.bytes <= Self.capacity {
      waiting.removeFirst()
      places[next.peer] = Place(bytes: next.bytes, since: now)
      used += next.bytes
      admitted.append(next.peer)
    }
    return admitted
  }
}

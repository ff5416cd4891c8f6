import Logging
import PeerSession
import Whiteboard
import WhiteboardKit
import WhiteboardSync

/// A member of the board: a real session and a replica, without a program around them.
actor Member {
  enum Kind: Sendable {
    case ordinary
    /// The member reads nothing during the load.
    case deaf
    /// The member writes as fast as it can during the load.
    case flooding
  }

  private struct Message: Sendable {
    let bytes: [UInt8]
    /// The recipients, each with its join generation at the time of the write.
    let joinings: [PeerID: UInt64]
  }

  private static let flood = [UInt8](repeating: 0, count: 1024)

  let number: Int
  private let kind: Kind
  private let clock: LoadClock
  private let identity = PeerIdentity.ephemeral()
  private var replica: Replica?
  private var session: Session?
  private var own: ObjectID?
  private var operation = 0
  private(set) var arrivals: Arrivals
  private(set) var departure: String?
  private let (outgoing, source) = AsyncStream.makeStream(of: Message.self)
  private var joinings: [PeerID: UInt64] = [:]
  /// The number of messages that the session has not accepted yet.
  private var queued = 0
  private var roomWaiter: CheckedContinuation<Void, Never>?
  private var joinWaiter: CheckedContinuation<Void, Never>?
  /// The number of other members, including the relays.
  private let expected: Int

  init(_ number: Int, of count: Int, relays: Int, _ kind: Kind, _ clock: LoadClock) {
    self.number = number
    self.kind = kind
    self.clock = clock
    expected = count - 1 + relays
    arrivals = Arrivals(of: count)
  }

  /// Joins and stays until the task is canceled.
  func run(_ link: BoardLink, directory: String, _ threads: TransportThreads) async throws {
    var configuration = TransportConfiguration(
      identity: identity,
      displayName: "member \(number)",
      inboxDirectory: "\(directory)/\(number)",
      logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
    )
    configuration.listen = PeerAddress(host: "127.0.0.1", port: 0)
    configuration.isDiallable = false
    if kind == .ordinary { configuration.threads = threads }
    configuration.isPaced = kind != .flooding
    let body: @Sendable (PeerTransport) async throws -> Void = { try await self.stay($0, link) }
    do { try await PeerTransport.withTransport(configuration, body) } catch {
      departure = "\(error)"
      joinWaiter?.resume()
      joinWaiter = nil
      throw error
    }
  }

  private func stay(_ transport: PeerTransport, _ link: BoardLink) async throws {
    guard let board = SessionID(text: link.board), let peer = PeerID(text: link.peer ?? "") else {
      throw WhiteboardError(.internal, "the link names no board")
    }
    let address = PeerAddress(host: link.address.host, port: link.address.port)
    let session = try await transport.join(
      JoinRequest(session: board, addresses: [address], peer: peer, trust: .pinnedByLink)
    ) { _ in true }
    self.session = session
    joinWaiter?.resume()
    joinWaiter = nil
    replica = Replica(author: Author(board: BoardID(session.id), key: identity), now: moment)
    await withTaskExecutorPreference(session.executor) {
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await self.follow(session) }
        group.addTask { await self.send(session) }
        group.addTask { await self.tick() }
        await group.waitForAll()
      }
    }
    await session.leave()
  }

  private var moment: Moment { clock.moment }

  private func follow(_ session: Session) async {
    for await event in session.events {
      while kind == .deaf, clock.isLoaded { try? await ContinuousClock().sleep(for: .milliseconds(100)) }
      perform(handle(event, of: session))
    }
    source.finish()
  }

  private func handle(_ event: SessionEvent, of session: Session) -> [ReplicaAction] {
    guard let replica else { return [] }
    switch event {
    case .peerJoined(let peer):
      joinings[peer.id] = peer.joinGeneration
      guard let member = MemberID(bytes: peer.id.bytes) else { return [] }
      return replica.peerJoined(member, now: moment)
    case .peerLeft(let peer, let reason, _):
      joinings[peer] = nil
      if peer == session.hostPeer { departure = describe(reason) }
      guard let member = MemberID(bytes: peer.bytes) else { return [] }
      return replica.peerLeft(member, now: moment)
    case .message(let bytes, let peer):
      guard let member = MemberID(bytes: peer.bytes) else { return [] }
      return replica.received(bytes, from: member, now: moment)
    case .datagram(let bytes, let peer):
      guard let member = MemberID(bytes: peer.bytes) else { return [] }
      return replica.receivedDatagram(bytes, from: member, now: moment)
    default: return []
    }
  }

  private func send(_ session: Session) async {
    for await message in outgoing {
      _ = try? await session.send(message.bytes, to: message.joinings)
      queued -= 1
      roomWaiter?.resume()
      roomWaiter = nil
    }
  }

  private func tick() async {
    while !Task.isCancelled {
      do { try await ContinuousClock().sleep(for: .milliseconds(50)) } catch { return }
      perform(replica?.tick(now: moment) ?? [])
    }
  }

  private func perform(_ actions: [ReplicaAction]) {
    let now = clock.now
    for action in actions {
      switch action {
      case .send(let bytes, let members):
        queued += 1
        var recipients: [PeerID: UInt64] = [:]
        for member in members {
          guard let peer = PeerID(bytes: member.bytes) else { continue }
          recipients[peer] = joinings[peer]
        }
        source.yield(Message(bytes: bytes, joinings: recipients))
      case .objectAdded(let snapshot, let member?), .objectChanged(let snapshot, let member?):
        arrivals.note(snapshot, of: member, at: now)
      default: continue
      }
    }
  }

  /// The executor of the session's thread.
  var executor: (any TaskExecutor)? { session?.executor }

  private func describe(_ reason: DepartureReason) -> String {
    guard case .refused(let error) = reason else { return reason.word }
    return "\(error.code.rawValue): \(error.message)"
  }

  /// Waits until the member is admitted, or cannot join.
  func untilJoined() async {
    guard session == nil, departure == nil else { return }
    await withCheckedContinuation { joinWaiter = $0 }
  }

  /// The number of other members and relays of the board that the member does not know yet.
  var missingCount: Int { expected - (replica?.members.count ?? 0) }

  /// Moves the member's own object to a position that encodes the number of the operation.
  func draw() async throws {
    guard let replica else { return }
    operation += 1
    clock.began(operation, of: number)
    let place = Point(x: Double(operation), y: Double(number))
    if kind == .flooding {
      // The flooding member shares the processor with the measured members, so its messages must be cheap to make.
      perform(replica.sendData(Member.flood, isReliable: true, now: moment))
    } else if let own {
      let (_, actions) = try replica.change(now: moment) { board in try board.move([own], by: Point(x: 1, y: 0)) }
      perform(actions)
    } else {
      let (id, actions) = try replica.change(now: moment) { board in try board.createText("\(number)", at: place) }
      own = id
      perform(actions)
    }
    // The member floods only as fast as messages are accepted, because more would only fill its memory.
    if queued > 1_000 { await withCheckedContinuation { roomWaiter = $0 } }
  }

  var digest: String { replica?.digest.hex ?? "" }
}

import Logging
import PeerSession
import Whiteboard
import WhiteboardNode
import WhiteboardSync

/// One of those on the board: a real session and a replica, without a program around them.
actor Guest {
  /// How a guest behaves besides what all do.
  enum Kind: Sendable {
    /// It draws and reads as it should.
    case ordinary
    /// It reads nothing while the load lasts.
    case deaf
    /// It writes as fast as it can from when the load begins.
    case flooding
  }

  private struct Message: Sendable {
    let bytes: [UInt8]
    /// For whom, as they came in when it was written.
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
  /// Messages that the session has not taken yet.
  private var queued = 0
  private var roomWaiter: CheckedContinuation<Void, Never>?
  private var joinWaiter: CheckedContinuation<Void, Never>?
  private var readyWaiter: CheckedContinuation<Void, Never>?
  private let expected: Int

  init(_ number: Int, of count: Int, _ kind: Kind, _ clock: LoadClock) {
    self.number = number
    self.kind = kind
    self.clock = clock
    expected = count
    arrivals = Arrivals(of: count)
  }

  /// Joins and stays until the task is cancelled.
  func run(_ link: BoardLink, directory: String, _ threads: TransportThreads) async throws {
    var configuration = TransportConfiguration(
      identity: identity,
      displayName: "guest \(number)",
      inboxDirectory: "\(directory)/\(number)",
      logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
    )
    configuration.listen = PeerAddress(host: "127.0.0.1", port: 0)
    configuration.isDiallable = false
    if kind == .ordinary { configuration.threads = threads }
    configuration.isPaced = kind != .flooding
    let body: @Sendable (PeerTransport) async throws -> Void = { try await self.stay($0, link) }
    try await PeerTransport.withTransport(configuration, body)
  }

  private func stay(_ transport: PeerTransport, _ link: BoardLink) async throws {
    guard let board = SessionID(text: link.board), let peer = PeerID(text: link.peer ?? "") else {
      throw NodeError(.internal, "the link names no board")
    }
    let address = PeerAddress(host: link.address.host, port: link.address.port)
    let session = try await transport.join(
      JoinRequest(session: board, addresses: [address], peer: peer, trust: .pinnedByLink)
    ) { _ in true }
    self.session = session
    guard let id = BoardID(session.id.bytes) else { throw NodeError(.internal, "no board") }
    joinWaiter?.resume()
    joinWaiter = nil
    replica = Replica(author: Author(board: id, key: IdentityKey(identity: identity)), now: moment)
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
      while kind == .deaf, clock.isLoaded {
        try? await ContinuousClock().sleep(for: .milliseconds(100))
      }
      switch event {
      case .peerJoined(let peer):
        joinings[peer.id] = peer.joining
        if let member = MemberID(peer.id.bytes) { replica?.peerJoined(member, now: moment) }
      case .peerLeft(let peer, let reason, _):
        joinings[peer] = nil
        if peer == session.hostPeer { departure = describe(reason) }
        if let member = MemberID(peer.bytes) { replica?.peerLeft(member, now: moment) }
      case .message(let bytes, let peer):
        if let member = MemberID(peer.bytes) { replica?.received(bytes, from: member, now: moment) }
      case .datagram(let bytes, let peer):
        if let member = MemberID(peer.bytes) {
          replica?.receivedDatagram(bytes, from: member, now: moment)
        }
      default: continue
      }
      perform()
    }
    source.finish()
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
      do {
        try await ContinuousClock().sleep(for: .milliseconds(50))
      } catch {
        return
      }
      replica?.tick(now: moment)
      perform()
    }
  }

  private func perform() {
    guard let actions = replica?.takeActions() else { return }
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
    if let readyWaiter, replica?.members.count == expected {
      self.readyWaiter = nil
      readyWaiter.resume()
    }
  }

  /// The thread that serves it.
  var executor: (any TaskExecutor)? { session?.executor }

  private func describe(_ reason: DepartureReason) -> String {
    guard case .refused(let error) = reason else { return reason.word }
    return "\(error.code.rawValue): \(error.message)"
  }

  /// Waits until it is let in.
  func untilJoined() async {
    guard session == nil else { return }
    await withCheckedContinuation { joinWaiter = $0 }
  }

  /// Waits until everybody is here.
  func untilComplete() async {
    guard replica?.members.count != expected else { return }
    await withCheckedContinuation { readyWaiter = $0 }
  }

  /// Moves an object of its own, whose place says which of its operations that was.
  func draw() async throws {
    guard let replica else { return }
    operation += 1
    clock.began(operation, of: number)
    let place = Point(x: Double(operation), y: Double(number))
    if kind == .flooding {
      // It shares the processor with those who are measured: what it floods with is cheap to make.
      replica.sendData(Guest.flood, isReliable: true, now: moment)
    } else if let own {
      try replica.change(now: moment) { board in
        try board.move([own], by: Point(x: 1, y: 0))
      }
    } else {
      own = try replica.change(now: moment) { board in try board.createText("\(number)", at: place)
      }
    }
    perform()
    // As fast as it can is as fast as it is let: what more it made would only fill its memory.
    if queued > 1_000 { await withCheckedContinuation { roomWaiter = $0 } }
  }

  /// The digest of its board.
  var digest: String { replica?.digest.hex ?? "" }
}

import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Opens the file and the session of the board that the configuration names. Confined to the actor of its board.
struct BoardHost {
  enum Choice {
    case named(String)
    /// The name is used if the board is new.
    case board(SessionID, name: String)

    var name: String {
      switch self {
      case .named(let name), .board(_, let name): name
      }
    }
  }

  let configuration: BoardConfiguration
  let persistence: Persistence
  let asksUser: Bool

  /// Opens the session of a board, and its file if boards are saved. A new board gets the id `new` if the choice has no
  /// id. If the file cannot be opened for writing, or does not match the configuration, throws and leaves the file
  /// unchanged.
  nonisolated(nonsending) func host(_ choice: Choice, orMaking new: SessionID, _ transport: PeerTransport) async throws
    -> BoardSession
  {
    defer { checkIsolation(#isolation) }
    var name = choice.name
    var id = new
    if case .board(let board, _) = choice { id = board }
    var code: JoinCode?
    var membership: MembershipRecord?
    var stored = HostChoice()
    if configuration.remembersBoards {
      let document = try await openDocument(of: choice, orMaking: new)
      persistence.use(document)
      (id, name, code) = try await contents(of: document)
      stored = await document.hostChoice()
      // An offline board dials no members and leaves the stored membership unchanged.
      if !configuration.isOffline {
        membership =
          await document.membershipRecord(logger: configuration.logger) ?? formerMembership(of: id, transport)
      }
    }
    if configuration.isOwned, !BoardID(id).isOwned {
      throw WhiteboardError(
        .usage,
        "this board has no owner, so everyone can edit it; to create a board with an owner, use --owned with another name"
      )
    }
    // A board that another peer created keeps its join code, because its members know no other code.
    let isCarried = configuration.carriage != nil
    let isOwn = !isCarried && membership.map { $0.host == transport.peerID } ?? true
    let policy: AdmissionPolicy =
      if !isOwn, !isCarried, configuration.followsHost {
        // A code that the host did not give must admit no peer.
        code.map { .code($0) } ?? .known
      } else { configuration.hostPolicy(stored, code: code) }
    let hosting = HostAdmission(policy: policy, membersAdmit: configuration.hostChoice.over(stored).membersAdmit)
    let session = try await open(id, name, policy, isOwn ? hosting : nil, membership, transport)
    if !isOwn, configuration.followsHost { session.followHost(asksUser: asksUser) }
    return BoardSession(session, name: name, policy: policy, stored)
  }

  /// Returns the membership of a board that no other peer has joined, if its id names a former identity of the local
  /// user. Without this membership, other peers would warn their users that the local peer claims to be the host
  /// (MEM-16).
  private func formerMembership(of id: SessionID, _ transport: PeerTransport) -> MembershipRecord? {
    guard id.namesHost, !id.names(transport.peerID) else { return nil }
    let former = PeerIdentity.formerPeers(inDirectory: configuration.dataDirectory).first(where: id.names)
    return former.map { MembershipRecord(host: $0) }
  }

  private nonisolated(nonsending) func open(
    _ id: SessionID,
    _ name: String,
    _ policy: AdmissionPolicy,
    _ hosting: HostAdmission?,
    _ membership: MembershipRecord?,
    _ transport: PeerTransport
  ) async throws(SessionError) -> Session {
    defer { checkIsolation(#isolation) }
    guard let carriage = configuration.carriage else {
      return try await transport.host(
        id,
        admission: policy,
        hosting: hosting,
        name: name,
        membership: membership
      )
    }
    let session: Session
    if let open = carriage.session {
      session = open
      if let membership { await session.restore(membership) }
    } else {
      session = try await transport.host(
        id,
        admission: policy,
        host: carriage.host,
        grant: carriage.grant,
        membership: membership
      )
    }
    await session.setName(name)
    return session
  }

  private nonisolated(nonsending) func openDocument(of choice: Choice, orMaking new: SessionID)
    async throws(WhiteboardError) -> BoardDocument
  {
    defer { checkIsolation(#isolation) }
    do throws(DocumentError) {
      let library = configuration.boardLibrary
      if let file = configuration.boardFile {
        return try await BoardDocument.openForWritingOrReading(at: file, seal: library.seal(forFile: file))
      }
      switch choice {
      case .named(let name):
        return try await library.open(named: name, orMaking: new.bytes, now: BoardFile.now, orReading: true)
      case .board(let id, let name):
        return try await library.open(board: id.bytes, name: name, now: BoardFile.now, orReading: true)
      }
    } catch { throw WhiteboardError(error) }
  }

  private nonisolated(nonsending) func contents(of document: BoardDocument) async throws(WhiteboardError) -> (
    SessionID, name: String, code: JoinCode?
  ) {
    defer { checkIsolation(#isolation) }
    do throws(DocumentError) {
      guard let board = SessionID(bytes: document.board) else {
        throw DocumentError(.damaged, "\(document.path): the file has no valid board id")
      }
      return (board, try await document.name(), await document.joinCode())
    } catch { throw WhiteboardError(error) }
  }
}

/// Handles the timed work of an open board: deadlines of the replica, slow peers, the board's file, browser links, and
/// purges. Confined to the actor of its board.
final class TimedWork {
  private static let purgeInterval = Duration.seconds(60)
  /// The maximum number of objects in one purge. The next purge removes further objects.
  private static let purgeLimit = 1000

  private let runtime: BoardRuntime
  private let configuration: BoardConfiguration
  private let board: ActiveBoard
  private var nextPurge: ContinuousClock.Instant
  private var deletionAges = DeletionAges()

  init(_ runtime: BoardRuntime, _ configuration: BoardConfiguration, _ board: ActiveBoard) {
    self.runtime = runtime
    self.configuration = configuration
    self.board = board
    nextPurge = runtime.start + Self.purgeInterval
  }

  nonisolated(nonsending) func performWhenDue() async {
    while runtime.ending == nil {
      reportBacklogs()
      board.perform(board.replica.tick(now: runtime.now))
      board.outbox.dropSlowPeers(of: board.session) { board.members.isReached($0) }
      board.persistence.runTimedWork()
      purgeIfDue()
      board.browsers.performTimedWork()
      runtime.changed()
      await runtime.room()
      await runtime.sleep(until: nextDue)
    }
  }

  private var nextDue: ContinuousClock.Instant {
    var due = nextPurge
    if let deadline = board.persistence.nextDeadline { due = min(due, deadline) }
    if let deadline = board.replica.nextDeadline { due = min(due, runtime.instant(deadline)) }
    if let deadline = board.browsers.nextDeadline { due = min(due, deadline) }
    if let deadline = board.outbox.nextDeadline(after: runtime.clock.now) { due = min(due, deadline) }
    return due
  }

  /// The replica stops sending answers to members with a backlog. Otherwise, a member that requests answers without
  /// reading them could exhaust the memory.
  private func reportBacklogs() {
    for peer in board.members.unorderedIDs {
      let member = MemberID(peer)
      board.replica.memberIsBacklogged(member, board.outbox.load(to: peer) > .light)
    }
  }

  /// Permanently removes objects that were deleted long ago (SYN-8). Only one of the connected members purges objects.
  private func purgeIfDue() {
    guard runtime.clock.now >= nextPurge else { return }
    nextPurge = runtime.clock.now + Self.purgeInterval
    guard configuration.recordingFile == nil else { return }
    let replica = board.replica
    let ids = deletionAges.purgeable(on: replica.board, at: runtime.now.uptime, excluding: replica.board.objectsInUndo)
    // The member with the lowest id purges for all members. If that member is a viewer, its edit fails.
    guard replica.members.allSatisfy({ $0 > replica.board.member }), !ids.isEmpty else { return }
    _ = try? board.editor.edit { (board) throws(BoardError) in
      for id in ids.prefix(Self.purgeLimit) { try board.purge(id) }
    }
  }
}

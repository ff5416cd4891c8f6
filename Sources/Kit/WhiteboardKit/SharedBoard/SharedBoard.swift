import Logging
import PeerDiscovery
import PeerSession
import SessionReplay
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// A board that is open in this program: a peer session, a replica of the board, and its file.
///
/// Programs open boards with ``Boards``. The programs of this package create a board with a `CommandSource` and an
/// `EventSink`. The board runs the commands of the source in order, and answers each with exactly one `done` or
/// `error`. The sink receives all events in order. A slow sink slows the board down: the board reads its session and
/// its input no faster than the sink accepts events.
public actor SharedBoard {
  let configuration: BoardConfiguration
  /// The thread of the links and of the board's tasks; nil if the board shares a transport with other boards. Passing a
  /// message or a change to another thread takes longer than most of the work on it.
  let linkThread: LinkThread?
  let input: (any CommandSource)?
  let members: Members
  private let sink: any EventSink
  private(set) lazy var runtime = BoardRuntime(self, sink: sink)
  private(set) lazy var outbox = makeOutbox()
  let hiddenAuthors: HiddenAuthors
  private(set) lazy var persistence = makePersistence()
  private(set) lazy var photos = PhotoFiles(runtime, configuration, members: members, persistence: persistence)
  private(set) lazy var transfers = makeTransfers()
  private(set) lazy var localRemoval = LocalRemoval(runtime, configuration, members: members, persistence: persistence)
  private(set) lazy var invitations = Invitations(runtime, configuration)
  private(set) lazy var answers = CommandAnswers(runtime, configuration.script, persistence: persistence)
  private(set) lazy var broadcasts = Broadcasts(runtime, configuration, members: members)
  private(set) lazy var commandRunner = makeCommandRunner()
  private(set) lazy var discovery = BoardDiscovery(runtime, configuration, members: members)
  nonisolated let readers = ChangeReaders()

  var phase = BoardPhase.starting
  /// Whether the program will open the board again at its next start.
  private(set) var comesBack = false
  /// The owner's key and rights, if the local user owns a new board.
  var owner: BoardOwner?
  /// Announces a joined board; nil if the board is not announced, or is announced already.
  var announceLater: ((BoardSession) -> Void)?

  private(set) var life: Task<Void, Never>?

  /// Creates a board; nothing runs until ``run()``.
  package init(_ configuration: BoardConfiguration, input: (any CommandSource)?, sink: any EventSink) {
    self.configuration = configuration
    linkThread = configuration.transport == nil ? LinkThread() : nil
    members = Members(localPeer: configuration.identity.peerID, ownName: configuration.displayName)
    hiddenAuthors = HiddenAuthors(configuration.personalSettings)
    self.input = input
    self.sink = sink
  }

  /// Runs the board until it is requested to close, its script ends, or it fails. Call this function only once. The
  /// function leaves the session properly, and emits every event before it returns. Canceling the task requests that
  /// the board close.
  package func run() async throws(WhiteboardError) {
    // A separate task, which is awaited below but not canceled with the caller: a closing board must still leave the
    // session and write the file.
    let running = Task(executorPreference: linkThread?.executor) { await self.live() }
    life = running
    await withCancellation {
      await running.value
    } onCancel: {
      // This task returns soon, so no code awaits it.
      Task { await self.end(.asked) }
    }
    await runtime.flush()
    if case .failed(let error)? = ending { throw error }
  }

  private func live() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await self.main() }
      for await job in runtime.jobs { group.addTask { await job(self) } }
      // The board is closing, so cancel the remaining jobs.
      group.cancelAll()
    }
  }

  /// Requests that the board leave its session and close; ``run()`` then returns. If `untilNextStart` is true, the
  /// program will serve the board again at its next start, and the members try to reconnect.
  package func requestEnd(untilNextStart: Bool = false) {
    if ending == nil { comesBack = untilNextStart }
    end(.asked)
  }

  func spawn(_ job: @escaping BoardRuntime.Job) { runtime.spawn(job) }

  private func main() async {
    do throws(WhiteboardError) { try await serve() } catch { end(.failed(error)) }
    runtime.finish()
    runtime.finishJobs()
    readers.finish()
  }

  // MARK: - The board

  var joiner: Joiner? { if case .joining(let joiner) = phase { joiner } else { nil } }

  var serving: Serving? { phase.serving }

  /// The peer session of the board, for resources, streams and the states of peers; nil before the board is hosted or
  /// joined.
  ///
  /// The board itself consumes the events of the session.
  public var session: Session? { phase.board?.session }

  var replica: Replica? { board?.replica }

  var board: ActiveBoard? { phase.serving?.active }

  /// Whether a user or a program answers the peers that ask to join.
  var asksUser: Bool {
    if configuration.answerInvitation != nil { return true }
    return input != nil && configuration.script == .none
  }

  /// Returns the id for a new board, which the local user owns if the configuration requires this.
  func newBoard() -> SessionID {
    guard configuration.isOwned else { return .ofOpenBoard(hostedBy: configuration.identity.peerID) }
    let owner = BoardOwner(identity: configuration.identity, salt: configuration.salt)
    self.owner = owner
    return owner.session
  }

  // MARK: - Ending

  var ending: BoardRuntime.Ending? { runtime.ending }

  func end(_ reason: BoardRuntime.Ending) { runtime.end(reason) }

  /// Resumes all waiters whose condition can no longer become true.
  func finishWaiters() {
    invitations.close()
    transfers.endFileOffers()
    commandRunner.refuseRest()
    commandRunner.buffer.close()
    answers.close()
  }

  // MARK: - Services of the runtime

  func delivered(_ failure: OutputError?) { runtime.delivered(failure) }

  func emit(_ news: News) { runtime.emit(news) }

  /// Waits until a condition holds; returns false if the wait timed out, or the board closes.
  func wait(timeout: Duration? = nil, until holds: @escaping () -> Bool) async -> Bool {
    await runtime.wait(timeout: timeout, until: holds)
  }

  var now: Moment { runtime.now }
}

enum BoardPhase {
  /// The board will be hosted or joined; there is no session yet.
  case starting
  case joining(Joiner)
  case opening(BoardSession)
  case serving(Serving)
  /// The session and the file are being closed; the board can still be read.
  case leaving(Serving)

  var board: BoardSession? {
    switch self {
    case .starting, .joining: nil
    case .opening(let board): board
    case .serving(let serving), .leaving(let serving): serving.board
    }
  }

  var serving: Serving? {
    switch self {
    case .starting, .joining, .opening: nil
    case .serving(let serving), .leaving(let serving): serving
    }
  }
}

extension SharedBoard {
  func makePersistence() -> Persistence {
    let runtime = runtime
    return Persistence(
      runtime,
      configuration,
      Persistence.Environment(
        authorNames: { runtime.call { $0.board?.authors.listed ?? [] } },
        hostedCode: { runtime.call { $0.hostedCode } },
        photoStored: { id in runtime.call { $0.photos.remove(id) } }
      )
    )
  }

  private var hostedCode: Persistence.HostedCode? {
    guard let board = phase.board, configuration.isHosting(board.session) else { return nil }
    return Persistence.HostedCode(code: board.code)
  }

  func makeOutbox() -> BoardOutbox {
    let runtime = runtime
    return BoardOutbox(runtime, logger: configuration.logger) { number, receipt in
      runtime.call { $0.board?.messages.accepted(number, receipt) }
    } handleSent: {
      runtime.call { $0.persistence.recordTraffic() }
    }
  }

  func makeCommandRunner() -> CommandRunner {
    CommandRunner(
      runtime,
      configuration,
      hasInput: input != nil,
      members: members,
      answers: answers,
      invitations: invitations,
      localRemoval: localRemoval,
      persistence: persistence,
      outbox: outbox,
      transfers: transfers,
      broadcasts: broadcasts
    )
  }

  func makeActiveBoard(_ board: BoardSession, _ replica: Replica, _ transport: PeerTransport) -> ActiveBoard {
    ActiveBoard(
      runtime,
      configuration,
      board,
      replica,
      transport,
      members: members,
      persistence: persistence,
      photos: photos,
      outbox: outbox,
      transfers: transfers,
      answers: answers,
      hiddenAuthors: hiddenAuthors
    )
  }

  func makeTransfers() -> Transfers {
    Transfers(runtime, configuration, members: members, persistence: persistence, photos: photos)
  }
}

extension SharedBoard {
  /// Opens the file of a board, unless it is already open, and restores the board. If the file cannot be opened for
  /// writing or cannot be read, throws and leaves the file unchanged.
  func openDocument(of board: BoardSession, _ replica: Replica) async throws(WhiteboardError) {
    guard configuration.remembersBoards else { return }
    do throws(DocumentError) {
      let document: BoardDocument
      if let opened = persistence.document {
        document = opened
        if configuration.isHosting(board.session), document.mode == .writing {
          try await document.setHosted(code: board.code?.text)
        }
      } else {
        document = try await openCopy(of: board)
      }
      if configuration.isHosting(board.session) { await configuration.storeHostChoice(in: document) }
      persistence.begin()
      if document.hasForeignFacts {
        emit(.warning(.init(code: "foreign-file", message: BoardFile.foreignFactsText(document.path))))
      }
      for damage in document.damages { emit(.warning(.init(code: "document-damaged", message: damage))) }
      let content = try await document.load()
      if content.keyframe == nil, content.entries.isEmpty { await warnOfUnreadableFiles() }
      if let warning = SharedBoard.News.Remark(clockBehind: content, of: replica.board.member, now: BoardFile.now) {
        emit(.warning(warning))
      }
      try await restore(content, to: replica, from: document)
    } catch { throw WhiteboardError(error) }
  }

  /// Opens the local copy of a joined board; creates the copy or the recording if it does not exist.
  private func openCopy(of board: BoardSession) async throws(DocumentError) -> BoardDocument {
    let session = board.session
    let name = board.name.isEmpty ? "board" : board.name
    if let file = configuration.recordingFile {
      let document = try await BoardDocument.create(
        at: file,
        board: session.id.bytes,
        name: name,
        now: BoardFile.now,
        seal: configuration.boardLibrary.seal(forFile: file)
      )
      persistence.use(document)
      return document
    }
    let document = try await configuration.boardLibrary.open(
      board: session.id.bytes,
      name: name,
      now: BoardFile.now,
      orReading: true,
      holding: board.reservation
    )
    board.reservation = nil
    persistence.use(document)
    try await board.storeName(in: document)
    await localRemoval.load(from: document)
    if localRemoval.removal != nil, session.connectedPeers().contains(session.hostPeer) {
      // The host admitted the local peer, so a stored removal no longer applies.
      try await localRemoval.clear(in: document)
    }
    return document
  }

  /// Unreadable files cannot be found by name or id, so a board that was just created may already exist in such a file.
  private func warnOfUnreadableFiles() async {
    let files = (try? await configuration.boardLibrary.unreadable()) ?? []
    guard let first = files.first else { return }
    emit(
      .warning(
        .init(
          code: "unreadable-boards",
          message: "The board gets a new file. It may already be saved in a file that cannot be read: \(first)"
            + (files.count == 1 ? "" : " and \(files.count - 1) more")
            + ". To see the reason, run: whiteboard-peer boards"
        )
      )
    )
  }

  private func restore(_ content: DocumentContent, to replica: Replica, from document: BoardDocument)
    async throws(DocumentError)
  {
    for note in content.notes + (try content.restore(to: replica, from: document, now: now)) {
      emit(.warning(.init(code: "document-damaged", message: note)))
    }
    await photos.restore(from: document, to: replica)
  }
}

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
  let input: (any CommandSource)?
  /// The members of the session.
  let members: Members
  private let sink: any EventSink
  /// The services that the components share: events, conditions, tasks, time and termination.
  private(set) lazy var runtime = BoardRuntime(self, sink: sink)
  /// Messages and datagrams on their way to the members.
  private(set) lazy var outbox = makeOutbox()
  /// The authors that the user does not want to see.
  let hiddenAuthors: HiddenAuthors
  /// The board's file.
  private(set) lazy var persistence = makePersistence()
  /// The files of photos.
  private(set) lazy var photos = PhotoFiles(runtime, configuration, members: members, persistence: persistence)
  /// Resources and streams.
  private(set) lazy var transfers = makeTransfers()
  /// The removal of the local peer by the host.
  private(set) lazy var localRemoval = LocalRemoval(runtime, configuration, members: members, persistence: persistence)
  /// The pending requests to join, and the other questions to the user.
  private(set) lazy var invitations = Invitations(runtime, configuration)
  /// The answers to commands.
  private(set) lazy var answers = CommandAnswers(runtime, configuration.script, persistence: persistence)
  /// The component that reads and runs commands.
  private(set) lazy var commandRunner = makeCommandRunner()
  /// The boards nearby, and the announcement of the local one.
  private(set) lazy var discovery = BoardDiscovery(runtime, configuration, members: members)
  /// The publisher of changes to the readers of ``changes``.
  let publisher: ChangePublisher
  /// The buffers of the readers of ``changes``.
  nonisolated let readers: ChangeReaders

  /// The phase of the board.
  var phase = BoardPhase.starting
  /// Whether the program will open the board again at its next start.
  private(set) var comesBack = false
  /// The owner's key and rights, if the local user owns a new board; nil for other boards.
  var owner: BoardOwner?
  /// Announces a joined board; nil if the board is not announced, or is announced already.
  var announceLater: ((BoardSession) -> Void)?

  /// The task of ``run()``; nil before it is called.
  private(set) var life: Task<Void, Never>?

  /// Creates a board; nothing runs until ``run()``.
  ///
  /// - Parameters:
  ///   - configuration: The configuration.
  ///   - input: The source of commands; nil for none.
  ///   - sink: The receiver of events.
  package init(_ configuration: BoardConfiguration, input: (any CommandSource)?, sink: any EventSink) {
    self.configuration = configuration
    members = Members(localPeer: configuration.identity.peerID, ownName: configuration.displayName)
    hiddenAuthors = HiddenAuthors(configuration.personalSettings)
    publisher = ChangePublisher(members, localPeer: configuration.identity.peerID)
    readers = publisher.readers
    self.input = input
    self.sink = sink
  }

  /// Runs the board until it is requested to close, its script ends, or it fails.
  ///
  /// It can be called only once.
  ///
  /// The function leaves the session properly and emits every event before it returns. Canceling the task requests that
  /// the board close.
  ///
  /// - Throws: ``WhiteboardError`` if the board cannot be opened, cannot continue, or its script failed.
  package func run() async throws(WhiteboardError) {
    // A separate task, which is awaited below but not canceled with the caller: a closing board must still leave the
    // session and write the file.
    let running = Task { await self.live() }
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

  /// Requests that the board leave its session and close.
  ///
  /// ``run()`` returns when the board is closed.
  ///
  /// - Parameter untilNextStart: Whether the program will serve the board again when it is next started, so that the
  ///   members try to reconnect.
  package func requestEnd(untilNextStart: Bool = false) {
    if ending == nil { comesBack = untilNextStart }
    end(.asked)
  }

  /// Runs a job concurrently until it returns or the board closes.
  func spawn(_ job: @escaping BoardRuntime.Job) { runtime.spawn(job) }

  private func main() async {
    do throws(WhiteboardError) { try await serve() } catch { end(.failed(error)) }
    runtime.finish()
    runtime.finishJobs()
    readers.finish()
  }

  // MARK: - The board

  /// The component that finds and joins the board; nil unless the board is being joined.
  var joiner: Joiner? { if case .joining(let joiner) = phase { joiner } else { nil } }

  /// The state of the board in use; nil before it is open.
  var serving: Serving? { phase.serving }

  /// The peer session of the board, for resources, streams and the states of peers; nil before the board is hosted or
  /// joined.
  ///
  /// The board itself consumes the events of the session.
  public var session: Session? { phase.board?.session }

  /// The replica; nil before the board is open.
  var replica: Replica? { board?.replica }

  /// The open board with the components that work on it; nil before it is open.
  var board: ActiveBoard? { phase.serving?.active }

  /// Whether a user or a program answers the peers that ask to join.
  var asksUser: Bool {
    if configuration.answerInvitation != nil { return true }
    return input != nil && configuration.script == .none
  }

  /// Returns the id for a new board; if the configuration requires it, an id that the local user owns.
  func newBoard() -> SessionID {
    guard configuration.isOwned else { return .ofOpenBoard(hostedBy: configuration.identity.peerID) }
    let owner = BoardOwner(identity: configuration.identity, salt: configuration.salt)
    self.owner = owner
    return owner.session
  }

  // MARK: - Ending

  /// The reason why the board closes; nil while it is running.
  var ending: BoardRuntime.Ending? { runtime.ending }

  /// Closes the board for the given reason; later calls do nothing.
  func end(_ reason: BoardRuntime.Ending) { runtime.end(reason) }

  /// Resumes all waiters whose condition can no longer become true.
  func finishWaiters() {
    invitations.close()
    transfers.endFileOffers()
    commandRunner.buffer.close()
    answers.close()
  }

  // MARK: - Services of the runtime

  /// Continues after the sink has accepted events, or failed.
  func delivered(_ failure: OutputError?) { runtime.delivered(failure) }

  /// Emits an event after all earlier events.
  func emit(_ event: BoardEvent) { runtime.emit(event) }

  /// Waits until a condition holds.
  ///
  /// - Returns: Whether the condition held; false if the wait timed out or the board closes.
  func wait(timeout: Duration? = nil, until holds: @escaping () -> Bool) async -> Bool {
    await runtime.wait(timeout: timeout, until: holds)
  }

  /// The current wall-clock time and uptime.
  var now: Moment { runtime.now }
}

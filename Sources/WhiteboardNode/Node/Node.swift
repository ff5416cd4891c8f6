import Logging
import PeerDiscovery
import PeerSession
import SessionReplay
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Discovery, a session and a replica as one: what every program of this product runs.
///
/// Commands go in from a ``CommandSource``, events come out at an ``EventSink``, in one order. Each command is
/// answered by exactly one `done` or `error`. A sink that takes events slowly slows the node: it reads
/// its session and its input no faster than its events are taken.
package actor Node {
  let configuration: NodeConfiguration
  let input: (any CommandSource)?
  /// The members of the session, and the names of all.
  let members: Members
  /// The authors that the user does not want to see.
  let hiddenAuthors: HiddenAuthors
  private let sink: any EventSink
  /// Events, conditions, tasks, time, and the end.
  private(set) lazy var runtime = NodeRuntime(self, sink: sink)
  /// Messages and datagrams on their way to the members.
  private(set) lazy var outbox = Outbox(runtime, logger: configuration.logger) {
    [runtime] number, receipt in
    runtime.call { $0.board?.messages.accepted(number, receipt) }
  } handleSent: { [runtime] in
    runtime.call { $0.persistence.recordTraffic() }
  }
  /// The board's file.
  private(set) lazy var persistence = makePersistence()
  /// The files of photos.
  private(set) lazy var photos = PhotoFiles(
    runtime,
    configuration,
    members: members,
    persistence: persistence
  )
  /// Resources and streams.
  private(set) lazy var transfers = makeTransfers()
  /// The requests to join and other questions to the user.
  private(set) lazy var invitations = Invitations(runtime)
  /// The answers to commands.
  private(set) lazy var answers = CommandAnswers(
    runtime,
    configuration.script,
    persistence: persistence
  )
  /// Reads and runs commands.
  private(set) lazy var commandRunner = CommandRunner(
    runtime,
    configuration,
    hasInput: input != nil,
    members: members,
    answers: answers,
    invitations: invitations,
    localRemoval: localRemoval,
    persistence: persistence,
    outbox: outbox,
    transfers: transfers
  )

  /// What came from the session and waits to be handled.
  var incoming = IncomingEvents()
  /// Whether the program serves the board again when it is next started.
  private(set) var comesBack = false
  var nextPurge: ContinuousClock.Instant
  /// The times since which objects were seen as deleted.
  var deletionAges = DeletionAges()
  /// The removal of the local peer by the host.
  private(set) lazy var localRemoval = LocalRemoval(
    runtime,
    configuration,
    members: members,
    persistence: persistence
  )
  /// Tells other programs that the board is open.
  var openBoard: OpenBoardFile?

  // Who is there.
  var session: Session?
  /// The open board; nil before it is open.
  var board: ActiveBoard?
  var boardName = ""
  var admission: NodeConfiguration.Admission?
  var code: JoinCode?
  /// What was told when we could be reached.
  var ready: NodeEvent.Ready?
  /// The owner of the board that this node created; nil if it created none, or one without an owner.
  var owner: BoardOwner?
  var isAnnouncing = false
  var isBegun = false
  var discoveryProblem: DiscoveryProblem?
  var nearby = Nearby()
  /// The name of a board that another program announces with our key.
  var ownBoard: String?
  let participantChanges: AsyncStream<Void>
  let participantSource: AsyncStream<Void>.Continuation

  /// The address that accepted the connection and has not answered.
  var silentAddress: String?
  /// Why the host was dialed again the last time.
  var retryReason: SessionError.Code?
  /// The display name of the user who was asked to admit the local peer.
  var askedName: String?
  /// The peers and boards that were known when this node began to look around.
  var known = Acquaintances()
  /// When that user was asked.
  var questionStart: ContinuousClock.Instant?
  /// Why the person here did not say that the words are the same.
  var doubt: NodeError?

  /// Makes a node; nothing runs until ``run()``.
  ///
  /// - Parameters:
  ///   - configuration: What it is and does.
  ///   - input: Where verbs come from; nil for none.
  ///   - sink: Where events go.
  package init(
    _ configuration: NodeConfiguration,
    input: (any CommandSource)?,
    sink: any EventSink
  ) {
    self.configuration = configuration
    members = Members(
      localPeer: configuration.identity.peerID,
      ownName: configuration.displayName
    )
    hiddenAuthors = HiddenAuthors(configuration.personalSettings)
    self.input = input
    self.sink = sink
    nextPurge = .now + .seconds(60)
    (participantChanges, participantSource) = AsyncStream.makeStream(
      bufferingPolicy: .bufferingNewest(1)
    )
  }

  /// Runs until it is asked to end, its script is over, or it cannot go on.
  ///
  /// Says goodbye to every peer and tells every event before it returns. Cancelling the task asks it to
  /// end. It runs once.
  ///
  /// - Throws: ``NodeError``: why it could not begin or go on, or which end its script came to.
  package func run() async throws(NodeError) {
    // Waited for below. Not cancelled with the caller: a node that ends still says goodbye, and
    // writes what is to be written.
    let running = Task { await self.live() }
    await withTaskCancellationHandler {
      await running.value
    } onCancel: {
      // Ends by itself at once; nobody waits for it.
      Task { await self.end(.asked) }
    }
    await runtime.flush()
    if case .failed(let error)? = ending {
      throw error
    }
  }

  private func live() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await self.main() }
      for await job in runtime.jobs {
        group.addTask { await job(self) }
      }
      // What still runs belongs to a node that is over.
      group.cancelAll()
    }
  }

  /// Asks the node to leave the board and end; ``run()`` returns when it has.
  ///
  /// - Parameter untilNextStart: Whether the program serves the board again when it is next started, so that
  ///   those who are on it look for it.
  package func requestEnd(untilNextStart: Bool = false) {
    if ending == nil { comesBack = untilNextStart }
    end(.asked)
  }

  /// Runs a job concurrently until it returns or the node is over.
  func spawn(_ job: @escaping NodeRuntime.Job) { runtime.spawn(job) }

  private func main() async {
    do throws(NodeError) {
      try await serve()
    } catch {
      end(.failed(error))
    }
    runtime.finish()
    runtime.finishJobs()
  }

  // MARK: - Ending

  /// Why the node ends; nil while it does not.
  var ending: NodeRuntime.Ending? { runtime.ending }

  /// Makes the node end, for the first reason that is given.
  func end(_ reason: NodeRuntime.Ending) { runtime.end(reason) }

  /// Resumes everything that waits for an answer that cannot come any more.
  func finishWaiters() {
    invitations.close()
    transfers.endFileOffers()
    commandRunner.buffer.close()
  }

  // MARK: - The board

  /// Whether the local peer asks, or will ask, to join a board.
  var isJoining: Bool { configuration.isGuest && session == nil }

  /// Performs the actions of the replica; to be called after every call that may add one.
  func performActions() {
    guard let board else { return }
    board.performActions()
    planTime()
    changed()
  }

  /// Makes edits that are one undo step, and performs the actions that follow from them; nil if no board is open.
  func change<Result, Failure: Error>(
    _ body: (Board) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let replica else { return nil }
    let result = try replica.change(now: now, body)
    performActions()
    return result
  }

  /// Returns the id for a new board: one of the local user, if the configuration says so.
  func newBoard() -> SessionID {
    guard configuration.isOwned else { return .ofOpenBoard() }
    let owner = BoardOwner(identity: configuration.identity, salt: configuration.salt)
    self.owner = owner
    return owner.session
  }

  /// The local copy of the board; nil before it is open.
  var replica: Replica? { board?.replica }

  // MARK: - Services of the runtime

  /// Handles that the sink has accepted events, or failed.
  func delivered(_ failure: OutputError?) { runtime.delivered(failure) }

  /// Emits an event after all events before it.
  func emit(_ event: NodeEvent) { runtime.emit(event) }

  /// Checks the conditions that are waited for; to be called after every change of state.
  func changed() { runtime.changed() }

  /// Waits until a condition holds.
  ///
  /// - Returns: True if the condition held; false if the time was over or the node ends.
  func wait(timeout: Duration? = nil, until holds: @escaping () -> Bool) async -> Bool {
    await runtime.wait(timeout: timeout, until: holds)
  }

  var clock: ContinuousClock { runtime.clock }

  /// The current time on both clocks.
  var now: Moment { runtime.now }
}

import Logging
import PeerDiscovery
import PeerSession
import SessionReplay
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Discovery, a session, a replica and its file: the part that all programs of this product have in common.
///
/// Commands go in from a ``CommandSource``; events come out at an ``EventSink``, in one order. Each command is
/// answered by exactly one `done` or `error`. A slow sink slows the node down: the node reads its session and its
/// input no faster than the sink accepts events.
package actor Node {
  let configuration: NodeConfiguration
  let input: (any CommandSource)?
  /// The members of the session, and their names.
  let members: Members
  private let sink: any EventSink
  /// Events, conditions, tasks, time, and the end.
  private(set) lazy var runtime = NodeRuntime(self, sink: sink)
  /// Messages and datagrams on their way to the members.
  private(set) lazy var outbox = makeOutbox()
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
  /// The boards nearby, and the announcement of the local one.
  private(set) lazy var discovery = BoardDiscovery(runtime, configuration, members: members)

  /// The phase of the node's life.
  var phase = NodePhase.starting
  /// Reads the events of the session; nil before the board is open.
  var sessionReader: SessionReader?
  /// Whether the program will serve the board again when it is next started.
  private(set) var comesBack = false
  /// Whether `quit` was refused because it would have lost work.
  var isQuitRefused = false
  /// The time of the next purge of old deletions.
  var nextPurge: ContinuousClock.Instant
  /// The times since which objects were seen as deleted.
  var deletionAges = DeletionAges()
  /// The host's decision that this peer is no longer a member; nil while it is one.
  var removal: Removal?

  /// The ownership of a new board that the local user owns; nil for other boards.
  var owner: BoardOwner?
  /// The role on an owned board that was reported last.
  var ownRole: Role?
  /// Whether the role is known, or was waited for long enough.
  var isRoleTold = false
  /// Whether a member's answer to a catch-up request was applied.
  var isCaughtUp = false
  /// Whether a command waits for the board.
  var isHolding = false
  /// The deadline for commands that wait for the board; nil until the first one waits.
  var catchUpDeadline: ContinuousClock.Instant?
  /// The number of commands that wait until boards are equal.
  var syncWaits = 0
  /// The local changes that a member last had completely.
  var sharedDots = DotSet()

  // Pending work.
  var commands = CommandQueue()
  var isInputAtEnd = false
  var commandWaiter: CheckedContinuation<Void, Never>?
  var readerWaiter: CheckedContinuation<Void, Never>?
  /// Application messages that are not confirmed yet.
  var deliveries = MessageDeliveries()
  /// The number of running transfers that are not answered yet.
  var concurrentCommands = 0

  /// The pending questions to the user, by id.
  var invitations: [String: PendingInvitation] = [:]
  /// The last questions that are over, so that a late answer can be explained.
  var endedInvitations: [EndedInvitation] = []

  /// The objects as they were reported last.
  var shown: [ObjectID: ObjectSnapshot] = [:]
  /// The games among these objects, as the local user sees them.
  var shownGames: [ObjectID: GameView] = [:]
  /// The settings of the board as they were reported last.
  var shownSettings = NodeEvent.SettingsDescription()
  /// The authors that the user does not want to see.
  var hiddenAuthors: Set<MemberID> = []
  /// The failure of the first command that failed, if the script continues.
  var firstFailure: NodeError?

  /// A question to the user, which `accept` or `decline` answers.
  struct PendingInvitation {
    enum Kind {
      /// Whether to admit a peer.
      case incoming(InvitationID)
      /// Whether the words are the same on both screens, before the local peer joins.
      case outgoing(CheckedContinuation<Bool, Never>)
    }

    let kind: Kind
    let peer: PeerID
    let name: String
  }

  /// Creates a node; nothing runs until ``run()``.
  ///
  /// - Parameters:
  ///   - configuration: The configuration.
  ///   - input: The source of commands; nil for none.
  ///   - sink: The receiver of events.
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
    self.input = input
    self.sink = sink
    nextPurge = .now + .seconds(60)
  }

  /// Runs until it is asked to end, its script is over, or it fails; a node runs only once.
  ///
  /// Leaves the session properly and emits every event before it returns. Canceling the task asks it to end.
  ///
  /// - Throws: ``NodeError``: the reason why it could not begin or continue, or the failure of its script.
  package func run() async throws(NodeError) {
    // Awaited below, but not canceled with the caller: a node that ends still leaves the session and writes the
    // file.
    let running = Task { await self.live() }
    await withTaskCancellationHandler {
      await running.value
    } onCancel: {
      // Returns at once; no code waits for it.
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
      // The node has ended, so its remaining jobs are not needed.
      group.cancelAll()
    }
  }

  /// Asks the node to leave the board and end; ``run()`` returns after that.
  ///
  /// - Parameter untilNextStart: Whether the program will serve the board again when it is next started, so that
  ///   the members try to reconnect.
  package func requestEnd(untilNextStart: Bool = false) {
    if ending == nil { comesBack = untilNextStart }
    end(.asked)
  }

  /// Runs a job concurrently until it returns or the node ends.
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

  // MARK: - The board

  /// Finds the board and joins it; nil if the node does not join a board, or has joined it.
  var joiner: Joiner? {
    if case .joining(let joiner) = phase { joiner } else { nil }
  }

  /// The state of the board in use; nil before it is open.
  var serving: Serving? { phase.serving }

  /// The session; nil before the board is hosted or joined.
  var session: Session? { phase.board?.session }

  /// The replica; nil before the board is open.
  var replica: Replica? { phase.serving?.replica }

  /// Runs the commands that change the board; nil before it is open.
  var editor: BoardEditor? { phase.serving?.editor }

  /// The name of the board; empty before it is hosted or joined.
  var boardName: String { phase.board?.name ?? "" }

  // MARK: - Ending

  /// The reason why the node ends; nil while it runs.
  var ending: NodeRuntime.Ending? { runtime.ending }

  /// Makes the node end; the first reason counts.
  func end(_ reason: NodeRuntime.Ending) { runtime.end(reason) }

  /// Resumes all waits whose answer can no longer come.
  func finishWaiters() {
    for invitation in invitations.values {
      if case .outgoing(let continuation) = invitation.kind {
        continuation.resume(returning: false)
      }
    }
    invitations = [:]
    transfers.endFileOffers()
    commandWaiter?.resume()
    commandWaiter = nil
    readerWaiter?.resume()
    readerWaiter = nil
  }

  // MARK: - Services of the runtime

  /// Handles that the sink has accepted events, or failed.
  func delivered(_ failure: OutputError?) { runtime.delivered(failure) }

  /// Emits an event after all events before it.
  func emit(_ event: NodeEvent) { runtime.emit(event) }

  /// Checks the conditions of waits; call it after every change of state.
  func changed() { runtime.changed() }

  /// Waits until a condition holds.
  ///
  /// - Returns: Whether the condition held; false if the time ran out or the node ends.
  func wait(timeout: Duration? = nil, until holds: @escaping () -> Bool) async -> Bool {
    await runtime.wait(timeout: timeout, until: holds)
  }

  var clock: ContinuousClock { runtime.clock }

  /// The current time on both clocks.
  var now: Moment { runtime.now }
}

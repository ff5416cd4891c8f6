import PeerSession
import Whiteboard
import WhiteboardSync

/// Runs the commands of the input in order, until the input ends or the board closes. Owns the queued commands, and
/// applies the rules for the end of a script. Confined to the actor of its board.
final class CommandRunner {
  let runtime: BoardRuntime
  let configuration: BoardConfiguration
  let members: Members
  let answers: CommandAnswers
  let invitations: Invitations
  let localRemoval: LocalRemoval
  let persistence: Persistence
  let outbox: BoardOutbox
  let transfers: Transfers
  let broadcasts: Broadcasts
  let buffer: CommandBuffer
  private var openBoard: ActiveBoard?
  /// Whether a queued command runs or may run.
  private(set) var isRunning = false
  /// The number of running commands that transfer files and are not answered yet.
  private var concurrentCommands = 0
  private let hasInput: Bool
  /// Whether `quit` was refused because work would have been lost.
  private var isQuitRefused = false

  init(
    _ runtime: BoardRuntime,
    _ configuration: BoardConfiguration,
    hasInput: Bool,
    members: Members,
    answers: CommandAnswers,
    invitations: Invitations,
    localRemoval: LocalRemoval,
    persistence: Persistence,
    outbox: BoardOutbox,
    transfers: Transfers,
    broadcasts: Broadcasts
  ) {
    self.runtime = runtime
    self.configuration = configuration
    self.members = members
    self.answers = answers
    self.invitations = invitations
    self.localRemoval = localRemoval
    self.persistence = persistence
    self.outbox = outbox
    self.transfers = transfers
    self.broadcasts = broadcasts
    self.hasInput = hasInput
    buffer = CommandBuffer(hasInput: hasInput)
  }

  var board: ActiveBoard {
    get throws(CommandError) {
      guard let openBoard else { throw .closed }
      return openBoard
    }
  }

  var hasBoard: Bool { openBoard != nil }
  var hasConcurrentCommands: Bool { concurrentCommands > 0 }

  // MARK: - Reading

  /// Reads commands until the input ends, no faster than they run.
  nonisolated(nonsending) func readCommands(from input: any CommandSource) async {
    while runtime.ending == nil {
      let inputs: [CommandInput]?
      do throws(InputError) { inputs = try await input.nextInputs() } catch {
        return runtime.end(.failed(WhiteboardError(.inputOutput, "the input cannot be read")))
      }
      guard let inputs else { break }
      for next in inputs {
        buffer.append(next)
        guard runtime.ending == nil else { continue }
        await runDueCommands()
        refuseTypedCommands()
        runtime.call { $0.joiner?.endUnanswerableComparisons() }
        await buffer.room()
      }
    }
    if runtime.ending != nil { refuseRest() }
    buffer.endInput()
    runtime.call { $0.joiner?.endUnanswerableComparisons() }
  }

  // MARK: - Commands out of order

  /// Runs queued commands that answer a pending question or transfer. While the local peer joins, no other commands
  /// run, so the commands that run need not be the first in the queue.
  nonisolated(nonsending) func runDueCommands() async {
    defer { checkIsolation(#isolation) }
    while runtime.ending == nil,
      let request = runtime.call({ $0.joiner != nil })
        ? buffer.popAny(where: { isDueWhileJoining($0, isFirst: $1) }) : buffer.popFirst(where: { isDue($0) })
    { await run(request) }
  }

  /// Whether a command can run while the local peer joins a board. A user's `quit` runs immediately, and so does `quit
  /// anyway`, which may lose work. In a script, `quit` runs after the commands before it.
  private func isDueWhileJoining(_ command: Command, isFirst: Bool) -> Bool {
    switch command.name {
    case .quit, .leave:
      configuration.isTyped || configuration.script == .none && (isFirst || command.argument() == true)
    case .help, .peers: configuration.isTyped
    default: isDue(command)
    }
  }

  /// Refuses the commands that a user typed; the commands of a script wait until the board is joined.
  private func refuseTypedCommands() {
    guard configuration.isTyped, configuration.script == .none, runtime.call({ $0.joiner != nil }) else { return }
    while let input = buffer.popFirst() { refuse(input, Self.notYetJoined) }
  }

  private static let notYetJoined = CommandError(
    .notConnected,
    "you have not joined the board yet; only `quit`, `help` and `peers` work now"
  )

  /// Refuses the remaining commands when the board closes, unless a command runs: the refusals follow its answer. A
  /// script needs no answers, because its first error ends the script.
  func refuseRest() {
    guard !isRunning, configuration.script == .none else { return }
    while let input = buffer.popFirst() { refuse(input, .closed) }
  }

  private func refuse(_ input: CommandInput, _ error: CommandError) {
    switch input {
    case .failure(let failure): answers.fail(failure)
    case .request(let request): answers.fail(error, answering: request)
    }
  }

  var hasDueCommand: Bool { buffer.contains(where: { isDue($0) }) }

  private func isDue(_ command: Command) -> Bool {
    guard command.answersOrCancels, let target: String = command.argument() else { return false }
    return switch command.name {
    case .accept, .decline: (try? invitations.find(target)) != nil || fileOffer(target) != nil
    case .cancel: (try? transfers.transfer(target)) != nil
    default: false
    }
  }

  /// Returns the offered file that an argument of `accept` or `decline` names; nil if the argument names a request to
  /// join.
  func fileOffer(_ word: String) -> TransferID? { (try? invitations.find(word)) == nil ? transfers.offer(word) : nil }

  // MARK: - Running

  func begin(on board: ActiveBoard) { openBoard = board }

  nonisolated(nonsending) func runCommands(on board: ActiveBoard) async {
    isRunning = true
    while runtime.ending == nil, let input = await buffer.nextCommand() {
      // While this command runs, the commands after it may answer a pending question or transfer.
      if buffer.firstAnswers { runtime.spawn { sharedBoard in await sharedBoard.commandRunner.runDueCommands() } }
      switch input {
      case .failure(let error): answers.fail(error)
      case .request(let request):
        if let error = await board.catchUp.hold(for: request.command.name.requirement) {
          answers.fail(error, answering: request)
        } else {
          if request.command.name.changesBoard { await board.roles.waitForRole() }
          await run(request)
        }
      }
      await runtime.room()
      await outbox.room()
      await persistence.room()
    }
    isRunning = false
    if runtime.ending == nil { await inputEnded(board) } else { refuseRest() }
  }

  nonisolated(nonsending) func run(_ request: CommandRequest) async {
    do throws(CommandError) {
      if let outcome = try await request.command.run(self, request) {
        if let mark = request.request { runtime.sink.commandReturned(outcome, to: mark) }
        answers.succeed(request, outcome)
      }
    } catch { answers.fail(error, answering: request) }
    runtime.changed()
  }

  func answer(_ answer: SharedBoard.Answer?, to request: CommandRequest) -> CommandOutcome {
    if let answer { runtime.answer(answer, to: request.request) }
    return CommandOutcome()
  }

  /// Runs a command while later commands run, and answers the command when the command finishes.
  func runConcurrently(
    _ request: CommandRequest,
    _ body: @escaping @Sendable (isolated SharedBoard) async throws(CommandError) -> [String]
  ) {
    concurrentCommands += 1
    runtime.spawn { sharedBoard in
      do throws(CommandError) {
        let transfers = try await body(sharedBoard)
        sharedBoard.answers.succeed(request, CommandOutcome(transfers: transfers))
      } catch { sharedBoard.answers.fail(error, answering: request) }
      sharedBoard.commandRunner.concurrentCommands -= 1
      sharedBoard.runtime.changed()
    }
  }

  // MARK: - The end

  nonisolated(nonsending) func leave() async {
    defer { checkIsolation(#isolation) }
    guard let session = runtime.call({ $0.session }) else { return runtime.end(.asked) }
    await finishMessages()
    await session.leave()
  }

  nonisolated(nonsending) func quit(_ request: CommandRequest) async {
    await finishMessages()
    answers.succeed(request, CommandOutcome())
    runtime.end(answers.firstFailure.map { .failed($0) } ?? .asked)
  }

  private nonisolated(nonsending) func finishMessages() async {
    defer { checkIsolation(#isolation) }
    await openBoard?.messages.finish(before: runtime.limitOfGoodbye())
  }

  nonisolated(nonsending) func checkQuit() async throws(CommandError) {
    guard await persistence.wouldLoseWork() else { return }
    isQuitRefused = true
    throw CommandError(.notSaved, persistence.unsavedAdvice)
  }

  /// Closes the board after the input ended, if the input was a script or `quit` was refused. Otherwise, reports that
  /// the board stays open.
  private nonisolated(nonsending) func inputEnded(_ board: ActiveBoard) async {
    defer { checkIsolation(#isolation) }
    guard case .run = configuration.script else {
      // No other command can follow, so the board closes as soon as no work would be lost.
      guard isQuitRefused else {
        guard hasInput, !configuration.isTyped else { return }
        let message = "The input ended. The board stays open until you stop this program."
        return answers.note(.init(code: "input-ended", message: message))
      }
      if await runtime.wait(until: { !self.persistence.state.wouldLoseWork }) { runtime.end(.asked) }
      return
    }
    // A script without commands also waits for the board.
    if let error = await board.catchUp.hold(for: .board), answers.firstFailure == nil {
      return runtime.end(.failed(WhiteboardError(error)))
    }
    let ending = configuration.isOffline ? .asked : await endOfScript(on: board)
    runtime.end(answers.firstFailure.map { .failed($0) } ?? ending)
  }

  /// Waits until a relay has the board, if the board moves to a relay. Returns the reason if no relay accepted it.
  private nonisolated(nonsending) func finishMove() async -> WhiteboardError? {
    defer { checkIsolation(#isolation) }
    func move() -> BoardSession.Move { runtime.call { $0.phase.board?.move ?? .none } }
    _ = await runtime.wait(timeout: configuration.catchUpTimeout) {
      if case .carried(let relay) = move() { self.members.isReached(relay) } else { !move().expectsRelay }
    }
    return switch move() {
    case .none, .carried: nil
    case .failed(let error, _): error
    case .pending: WhiteboardError(.timedOut, "No relay accepted the board in time.")
    }
  }

  private nonisolated(nonsending) func endOfScript(on board: ActiveBoard) async -> BoardRuntime.Ending {
    let moveProblem = await finishMove()
    // Lost members are removed after `lostAfter`, so this wait ends.
    let report = await board.convergence.wait(.everybody, timeout: configuration.lostAfter + .seconds(60))
    guard report.isComplete else {
      return .failed(WhiteboardError(.timedOut, "some changes have not reached every member: \(report.problem)"))
    }
    if let moveProblem { return .failed(moveProblem) }
    guard report.synced.isEmpty, board.convergence.hasUnsharedChanges else {
      if !report.notSynced.isEmpty { answers.note(.init(code: "not-synced", message: report.problem)) }
      return .asked
    }
    let message = "the changes have not reached any other member: \(report.problem)"
    if configuration.isGuest {
      return .failed(
        WhiteboardError(
          .timedOut,
          configuration.remembersBoards
            ? "\(message). The changes are in the copy on this computer, and are sent when the board is next opened"
            : "\(message), and --ephemeral keeps no copy"
        )
      )
    }
    answers.note(.init(code: "not-synced", message: message))
    return .asked
  }
}

extension CommandRunner {
  nonisolated(nonsending) func wait(for condition: WaitCondition, timeout: Duration?) async throws(CommandError)
    -> CommandOutcome
  {
    let board = try board
    var outcome = CommandOutcome()
    var problem = "the condition was not met in time"
    let isMet: Bool
    switch condition {
    case .seconds(let seconds):
      let limit = timeout ?? .seconds(seconds)
      _ = await runtime.wait(timeout: min(limit, .seconds(seconds))) { false }
      isMet = limit >= .seconds(seconds) && runtime.ending == nil
    case .peers(let count):
      isMet = await runtime.wait(timeout: timeout) {
        let connected = self.members.reachedCount
        return count == 0 ? connected == 0 : connected >= count
      }
    case .objects(let count):
      isMet = await runtime.wait(timeout: timeout) {
        let objects = board.replica.board.state.shownCount
        return count == 0 ? objects == 0 : objects >= count
      }
    case .synced:
      let report = await board.convergence.wait(.connected, timeout: timeout)
      isMet = report.isComplete
      outcome.sync = report
      let isAlone = report.synced.isEmpty && report.notSynced.isEmpty
      problem = isAlone ? "not synced: \(report.problem)" : report.problem
      if !isMet, timeout == nil, runtime.ending == nil {
        throw CommandError(.notSynced, "\(problem); use `wait peers=1` first to wait for a member")
      }
    }
    guard isMet else {
      throw runtime.ending == nil ? CommandError(.timedOut, problem) : CommandError(.ending, "the program ends")
    }
    return outcome
  }
}

/// The functions with which the entries of the command table run their commands.
extension CommandRunner {
  /// Runs a command that changes the board, and reports whether the board changed. If `endsStroke` is true, ends the
  /// current stroke first, because its undo step must contain no other change.
  nonisolated(nonsending) func withEditor(
    endsStroke: Bool = true,
    _ body: nonisolated(nonsending) (BoardEditor) async throws(CommandError) -> CommandOutcome
  ) async throws(CommandError) -> CommandOutcome {
    defer { checkIsolation(#isolation) }
    try localRemoval.checkMayChange()
    let editor = try board.editor
    let before = editor.board.written
    if endsStroke { try editor.liftPen() }
    var outcome = try await body(editor)
    outcome.hasChanged = editor.board.written != before
    return outcome
  }

  /// Throws if a user typed the command without `sure`. The objects cannot be restored, unlike after `clear`.
  func requireConsent(_ isSure: Bool, toPurge author: MemberID) throws(CommandError) {
    guard configuration.isTyped, !isSure else { return }
    throw CommandError(
      .missingArgument,
      "this permanently removes all objects of \(members.label(of: author)), for everyone; to do it, add the "
        + "word `sure`"
    )
  }

  /// Permanently removes all objects that an author created, except settings. Other commands and changes can run in
  /// between.
  nonisolated(nonsending) func purge(author: MemberID, _ editor: BoardEditor) async throws(CommandError)
    -> CommandOutcome
  {
    defer { checkIsolation(#isolation) }
    let batch = 1000
    var count = 0
    while true {
      let removed = try editor.edit { (board) throws(BoardError) in try board.purge(madeBy: author, atMost: batch) }
      count += removed
      guard removed == batch else { break }
      await runtime.room()
      await persistence.room()
      await runtime.yield()
    }
    try await board.admission.giveBackRoom()
    return CommandOutcome(count: count)
  }

  /// Accepts a file, a peer that asks to join, or the verification words (ADM-8). If `isAlways` is true, the peer is
  /// admitted without asking from now on.
  nonisolated(nonsending) func accept(_ target: String, isAlways: Bool) async throws(CommandError) {
    defer { checkIsolation(#isolation) }
    if let file = fileOffer(target) { return try transfers.answerOffer(file, isAccepted: true, isAlways: isAlways) }
    try transfers.checkNotEnded(target)
    try await invitations.answer(target, with: .accept, isAlways: isAlways)
  }

  nonisolated(nonsending) func decline(_ target: String, reason: String) async throws(CommandError) {
    defer { checkIsolation(#isolation) }
    if let file = fileOffer(target) { return try transfers.answerOffer(file, isAccepted: false) }
    try transfers.checkNotEnded(target)
    try await invitations.answer(target, with: .decline(reason: reason))
  }
}

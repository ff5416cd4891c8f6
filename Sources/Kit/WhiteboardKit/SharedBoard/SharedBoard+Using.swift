import PeerSession
import Whiteboard
import WhiteboardSync

// The public interface of an open board.

extension SharedBoard {
  // MARK: - The session

  /// The link by which other peers join the board here; nil if this peer does not listen.
  ///
  /// The link contains the board's join code. Do not log the link.
  public var link: BoardLink? { serving.flatMap { try? BoardLink($0.ready.link) } }

  /// The path of the board's file; nil if boards are not saved.
  public var file: String? { persistence.document?.path }

  /// The peer id of the local member.
  public nonisolated var localMember: PeerID { configuration.identity.peerID }

  // MARK: - Reading

  /// The objects, from back to front.
  public var objects: [ObjectSnapshot] { replica?.board.objects.compactMap(\.snapshot) ?? [] }

  /// Returns the current state of an object.
  ///
  /// - Parameter id: The id of the object.
  /// - Returns: The state; nil if the object is not on the board.
  public func object(_ id: ObjectID) -> ObjectSnapshot? { replica?.board.snapshot(id) }

  /// The lines of the chat, from the oldest to the newest.
  public var chat: [ChatLine] { replica?.board.chat ?? [] }

  /// The settings of the board: its title, background, grid and language.
  public var settings: BoardSettings { replica?.board.settings ?? BoardSettings() }

  /// The digest of the board's contents, in hexadecimal; equal boards have equal digests.
  public var digest: String { replica?.digest.hex ?? "" }

  /// The members that are connected or reconnecting, without the local member, ordered by id.
  public var connectedMembers: [Member] { members.ids.map { members.described($0) } }

  // MARK: - Changing

  /// Adds an object, as one undo step.
  ///
  /// - Parameter object: The object.
  /// - Returns: The id of the object. When the function returns, the object is queued for all members. If boards are
  ///   saved, the object is also on disk.
  /// - Throws: ``CommandError``, for example `badArgument` for a point outside the board, `viewer` if the local member
  ///   is not allowed to edit, `notSaved` if the object is on the board but not on disk, or `ending` if the board is
  ///   closed.
  @discardableResult public func add(_ object: NewObject) async throws(CommandError) -> ObjectID {
    guard let id = try await perform(object.command()).id else {
      throw CommandError(.internal, "the new object has no id")
    }
    return id
  }

  /// Edits the board, as one undo step.
  ///
  /// `body` runs in the isolation of the board and sees its own edits; no other edit happens in between. If `body`
  /// throws, none of its edits are made.
  ///
  /// - Parameter body: A function that edits the board. The function blocks the board while it runs.
  /// - Returns: The result of `body`. When the function returns, the edits are queued for all members. If boards are
  ///   saved, the edits are also on disk.
  /// - Throws: The error of `body`, which is a `BoardError` if the board refuses an edit; or ``CommandError``:
  ///   `removed`, `notSaved` if the edits are on the board but not on disk, or `ending` if the board is closed.
  @discardableResult public func edit<Result: Sendable>(_ body: @Sendable (Board) throws -> Result) async throws
    -> Result
  {
    await room()
    guard ending == nil, let board else { throw CommandError.closed }
    await board.roles.waitForRole()
    guard ending == nil else { throw CommandError.closed }
    try localRemoval.checkMayChange()
    _ = try board.editor.liftPen()
    let (result, actions) = try board.replica.change(now: now, body)
    board.perform(actions)
    try await stored()
    return result
  }

  /// Runs a command, and waits for its result.
  ///
  /// - Parameter command: The command.
  /// - Returns: The result, when the command has finished and its changes are saved on disk.
  /// - Throws: ``CommandError`` if the command failed; `ending` if the board was closed before the command finished;
  ///   `cancelled` if the task was canceled, but the command may still run.
  @discardableResult public func perform(_ command: Command) async throws(CommandError) -> CommandOutcome {
    let command = try command.checked()
    await room()
    guard ending == nil, let board else { throw .closed }
    if command.name.changesBoard { await board.roles.waitForRole() }
    let caller = answers.reserveCaller()
    let result = await withCancellation {
      await withCheckedContinuation { continuation in
        answers.add(caller, continuation)
        if Task.isCancelled {
          answers.answer(caller, with: .failure(.callerCanceled))
        } else {
          spawn { board in await board.commandRunner.run(CommandRequest(command, caller: caller)) }
        }
      }
    } onCancel: {
      // This task returns soon, so no code awaits it.
      Task { await self.cancel(caller) }
    }
    return try result.get()
  }

  /// Adds a line to the chat.
  ///
  /// - Parameter text: The text of the line.
  /// - Throws: ``CommandError``, as for ``add(_:)``.
  public func say(_ text: String) async throws(CommandError) { try await perform(.say(words: text)) }

  /// Undoes the latest step of the local member.
  ///
  /// - Returns: The outcome: the undone step, and the changes that were not reverted because other members changed the
  ///   same objects later.
  /// - Throws: ``CommandError`` with `nothingToUndo`, or an error as for ``add(_:)``.
  @discardableResult public func undo() async throws(CommandError) -> CommandOutcome { try await perform(.undo) }

  /// Redoes the step that was undone last.
  ///
  /// - Returns: The outcome: the redone step, and the changes that could not be redone.
  /// - Throws: ``CommandError`` with `nothingToRedo`, or an error as for ``add(_:)``.
  @discardableResult public func redo() async throws(CommandError) -> CommandOutcome { try await perform(.redo) }

  // MARK: - Messages

  /// Sends a message to members, which receive it as ``Change/message(_:from:mode:)``.
  ///
  /// Use the ``session`` for resources and streams.
  ///
  /// - Parameters:
  ///   - bytes: The message. A reliable message must be smaller than 16 MiB, and an unreliable message smaller than 64
  ///     KiB.
  ///   - recipients: The recipients; empty for all connected members.
  ///   - mode: The delivery mode. A reliable message arrives exactly once and in order, even if a link breaks and is
  ///     restored. An unreliable message is sent once and may be lost.
  /// - Throws: ``CommandError`` with `notConnected` or `noSuchPeer` if a recipient is not connected, `tooBig` if the
  ///   message is too long, or `undelivered` if a recipient left before it confirmed a reliable message.
  public func send(_ bytes: [UInt8], to recipients: [Member] = [], mode: SendMode = .reliable)
    async throws(CommandError)
  {
    let isUnreliable = if case .unreliable = mode { true } else { false }
    try await perform(.send(bytes: bytes, to: recipients.map(\.id.text), isUnreliable: isUnreliable))
  }

  // MARK: - Waiting

  /// Waits until the local board has everything that another member has; returns immediately if the board is hosted
  /// here.
  ///
  /// - Parameter limit: The maximum wait.
  /// - Throws: ``CommandError`` with `notSynced` if the board did not arrive in time, `ending`, or `cancelled` if the
  ///   task was canceled.
  public func caughtUp(within limit: Duration = .seconds(30)) async throws(CommandError) {
    guard configuration.isGuest else { return }
    guard let catchUp = board?.catchUp else { throw .closed }
    if await runtime.wait(timeout: limit, endsWhenCanceled: true, until: { catchUp.hasBoard }) { return }
    guard ending == nil else { throw .closed }
    guard !Task.isCancelled else { throw .callerCanceled }
    throw CommandError(.notSynced, catchUp.absence(after: limit))
  }

  /// Waits until at least one member is connected, and all connected members have the same board.
  ///
  /// - Parameter limit: The maximum wait, at most one day; nil means one day.
  /// - Throws: ``CommandError`` with `timedOut`, whose message names the members with other boards, or `ending` if the
  ///   board is closed.
  public func synced(within limit: Duration? = nil) async throws(CommandError) {
    let seconds = limit.map { min($0 / .seconds(1), CommandLimits.maximumSeconds) } ?? CommandLimits.maximumSeconds
    try await perform(.wait(.synced, timeout: seconds))
  }

  func opened() async -> Bool { await wait { self.serving != nil } }

  /// Leaves the board: sends an exit message to the members, and closes the file.
  ///
  /// If members do not answer, leaving takes at most 2 s. ``changes`` then ends, and commands fail with `ending`.
  /// ``Boards/with(identity:name:directory:options:_:)`` leaves all boards.
  public func leave() async {
    requestEnd()
    await life?.value
  }

  // MARK: - Saving

  /// Waits until the board accepts more changes; otherwise, a fast caller could exhaust the memory.
  private func room() async {
    await runtime.room()
    await outbox.room()
    await persistence.room()
  }

  private func cancel(_ caller: Int) { answers.answer(caller, with: .failure(.callerCanceled)) }

  private func stored() async throws(CommandError) {
    let failure = await withCheckedContinuation { continuation in
      persistence.whenStored { continuation.resume(returning: $0) }
    }
    if let failure { throw CommandError(unsaved: failure) }
  }
}

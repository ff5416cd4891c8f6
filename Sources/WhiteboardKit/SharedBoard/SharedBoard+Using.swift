import PeerSession
import Whiteboard
import WhiteboardSync

// The public interface of an open board.

extension SharedBoard {
  // MARK: - The session

  /// The link by which others join the board here; nil if no other peer can connect.
  ///
  /// It contains the code of the board. Do not log it.
  public var link: BoardLink? { serving.flatMap { try? BoardLink($0.ready.link) } }

  /// The path of the board's file; nil if boards are not saved.
  public var file: String? { persistence.document?.path }

  /// The id of the local member.
  public nonisolated var localMember: PeerID { configuration.identity.peerID }

  // MARK: - Reading

  /// The objects, from back to front.
  public var objects: [ObjectSnapshot] { replica?.board.objects.compactMap(\.snapshot) ?? [] }

  /// Returns the state of an object; nil if it is not on the board.
  public func object(_ id: ObjectID) -> ObjectSnapshot? { replica?.board.snapshot(id) }

  /// The lines of the chat, from the oldest to the newest.
  public var chat: [ChatLine] { replica?.board.chat ?? [] }

  /// The settings of the board: its title, background, grid and language.
  public var settings: BoardSettings { replica?.board.settings ?? BoardSettings() }

  /// The hash of the board's contents, as hexadecimal text; equal boards have equal digests.
  public var digest: String { replica?.digest.hex ?? "" }

  /// The members that are connected or reconnecting, without the local one, ordered by id.
  public var connectedMembers: [Member] { members.ids.map { publisher.member($0) } }

  // MARK: - Changing

  /// Adds an object, as one undo step.
  ///
  /// - Parameter object: The object.
  /// - Returns: Its id. By then the object is saved on disk, unless boards are not saved, and is
  ///   on its way to all members.
  /// - Throws: ``CommandError``, for example `badArgument` for a point outside the board, `viewer`
  ///   if the local member may not edit, `notSaved` if the object is on the board but not on disk,
  ///   `ending` if the board is closed.
  @discardableResult
  public func add(_ object: NewObject) async throws(CommandError) -> ObjectID {
    guard let id = try await perform(object.command()).id else {
      throw CommandError(.internal, "the new object has no id")
    }
    return id
  }

  /// Edits the board, as one undo step.
  ///
  /// `body` runs in the isolation of the board and reads its own writes; nobody else changes the
  /// board meanwhile. If it throws, none of its edits are made.
  ///
  /// - Parameter body: Edits the board; it must return soon.
  /// - Returns: The result of `body`. By then the edits are saved on disk, unless boards are not
  ///   saved, and are on their way to all members.
  /// - Throws: The error of `body`, which is a `BoardError` if the board refuses an edit, and
  ///   ``CommandError``: `removed`, `notSaved` if the edits are on the board but not on disk,
  ///   `ending` if the board is closed.
  @discardableResult
  public func edit<Result: Sendable>(
    _ body: @Sendable (Board) throws -> Result
  ) async throws -> Result {
    await room()
    guard ending == nil, let board else { throw CommandError.closed }
    await board.roles.waitForRole()
    guard ending == nil else { throw CommandError.closed }
    try localRemoval.checkMayChange()
    _ = try board.editor.endStroke()
    let result = try board.replica.change(now: now, body)
    performActions()
    try await stored()
    return result
  }

  /// Runs a command, and waits for its result.
  ///
  /// - Parameter command: The command.
  /// - Returns: The result, when the command is complete and what it changed is saved on disk.
  /// - Throws: ``CommandError`` with the reason why the command failed, `ending` if the board was
  ///   closed meanwhile, or `cancelled` if the task was canceled; the command may then still be
  ///   carried out.
  @discardableResult
  public func perform(_ command: Command) async throws(CommandError) -> CommandOutcome {
    let command = try command.checked()
    await room()
    guard ending == nil, let board else { throw .closed }
    if command.name.changesBoard { await board.roles.waitForRole() }
    let caller = answers.reserveCaller()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        answers.add(caller, continuation)
        if Task.isCancelled {
          answers.answer(caller, with: .failure(.callerCanceled))
        } else {
          spawn { board in await board.commandRunner.run(CommandRequest(command, caller: caller)) }
        }
      }
    } onCancel: {
      // Returns at once; no code waits for it.
      Task { await self.cancel(caller) }
    }
    return try result.get()
  }

  /// Adds a line to the chat.
  ///
  /// - Throws: ``CommandError``, as ``add(_:)``.
  public func say(_ text: String) async throws(CommandError) {
    try await perform(.say(words: text))
  }

  /// Undoes the latest step of the local member.
  ///
  /// - Returns: What was undone, and what was left because others changed it since.
  /// - Throws: ``CommandError`` with `nothingToUndo`, and the errors of ``add(_:)``.
  @discardableResult
  public func undo() async throws(CommandError) -> CommandOutcome { try await perform(.undo) }

  /// Redoes the step that was undone last.
  ///
  /// - Throws: ``CommandError`` with `nothingToRedo`, and the errors of ``add(_:)``.
  @discardableResult
  public func redo() async throws(CommandError) -> CommandOutcome { try await perform(.redo) }

  // MARK: - Messages

  /// Sends a message to members, who get it as ``Change/message(_:from:mode:)``.
  ///
  /// Use the ``session`` for resources and streams.
  ///
  /// - Parameters:
  ///   - bytes: The message; at most 16 MiB - 1 if it is reliable, and 64 KiB - 1 otherwise.
  ///   - recipients: The recipients; empty for all connected members.
  ///   - mode: A reliable message arrives once and in order, also over broken links; an unreliable
  ///     one arrives at once or not at all.
  /// - Throws: ``CommandError`` with `notConnected` or `noSuchPeer` if a recipient is not
  ///   connected, `tooBig`, or `undelivered` if a recipient left before it confirmed a reliable
  ///   message.
  public func send(
    _ bytes: [UInt8],
    to recipients: [Member] = [],
    mode: SendMode = .reliable
  ) async throws(CommandError) {
    let isUnreliable = if case .unreliable = mode { true } else { false }
    try await perform(
      .send(bytes: bytes, to: recipients.map(\.id.text), isUnreliable: isUnreliable)
    )
  }

  // MARK: - Waiting

  /// Waits until the local board has everything that another member has; returns at once on a
  /// board that is hosted here.
  ///
  /// - Parameter limit: The maximum wait.
  /// - Throws: ``CommandError`` with `notSynced` if the board did not arrive in time, `ending`, or
  ///   `cancelled` if the task was canceled.
  public func caughtUp(within limit: Duration = .seconds(30)) async throws(CommandError) {
    guard configuration.isGuest else { return }
    guard let catchUp = board?.catchUp else { throw .closed }
    let deadline = runtime.clock.now + limit
    // Looks again now and then, because a canceled task must not wait any longer.
    while !catchUp.hasBoard {
      guard ending == nil else { throw .closed }
      guard !Task.isCancelled else { throw .callerCanceled }
      let left = deadline - runtime.clock.now
      guard left > .zero else { throw CommandError(.notSynced, catchUp.absence(after: limit)) }
      _ = await wait(timeout: min(left, .milliseconds(500)), until: { catchUp.hasBoard })
    }
  }

  /// Waits until every connected member has the same board, at least one.
  ///
  /// - Parameter limit: The maximum wait, at most a day; nil for a day.
  /// - Throws: ``CommandError`` with `timedOut` and the members that are not equal, or `ending`.
  public func synced(within limit: Duration? = nil) async throws(CommandError) {
    let seconds = limit.map { min($0 / .seconds(1), CommandLimits.maximumSeconds) }
    try await perform(.wait(.synced, timeout: seconds))
  }

  /// Waits until the session is open.
  ///
  /// - Returns: False if the board ended before.
  func opened() async -> Bool { await wait { self.serving != nil } }

  /// Leaves the board: says goodbye to the members, and closes the file; returns when that is done.
  ///
  /// That takes 2 s at most for members that do not answer. ``changes`` then ends, and commands
  /// fail with `ending`. ``Boards/with(identity:name:directory:options:_:)`` leaves all boards.
  public func leave() async {
    requestEnd()
    guard !isOver else { return }
    await withCheckedContinuation { endWaiters.append($0) }
  }

  // MARK: - Inside

  /// Waits until the board accepts more changes, so that a fast caller does not fill the memory.
  private func room() async {
    await runtime.room()
    await outbox.room()
    await persistence.room()
  }

  /// Lets a caller of ``perform(_:)`` wait no longer.
  private func cancel(_ caller: Int) { answers.answer(caller, with: .failure(.callerCanceled)) }

  /// Waits until everything recorded so far is on disk.
  private func stored() async throws(CommandError) {
    let failure = await withCheckedContinuation { continuation in
      persistence.whenStored { continuation.resume(returning: $0) }
    }
    if let failure { throw CommandError(unsaved: failure) }
  }
}

import Whiteboard

/// Functions with which the entries of the command table run their commands.
extension CommandRunner {
  /// Runs a command that changes the board, and adds to its result whether the board changed.
  ///
  /// If `endsStroke` is true, the current stroke ends first, since its undo step must contain no other change.
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

  /// Permanently removes all objects that an author created, except settings.
  ///
  /// Other commands and changes can run in between.
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
      await Task.yield()
    }
    try await board.admission.giveBackRoom()
    return CommandOutcome(count: count)
  }

  /// Accepts a file, a peer that asks to join, or the verification words (ADM-8).
  ///
  /// If `isAlways` is true, the peer is admitted without asking from now on.
  nonisolated(nonsending) func accept(_ target: String, isAlways: Bool) async throws(CommandError) {
    defer { checkIsolation(#isolation) }
    if let file = fileOffer(target) { return try transfers.answerOffer(file, isAccepted: true, isAlways: isAlways) }
    try transfers.checkNotEnded(target)
    try await invitations.answer(target, with: .accept, isAlways: isAlways)
  }

  /// Declines a file, a peer that asks to join, or the verification words.
  nonisolated(nonsending) func decline(_ target: String, reason: String) async throws(CommandError) {
    defer { checkIsolation(#isolation) }
    if let file = fileOffer(target) { return try transfers.answerOffer(file, isAccepted: false) }
    try transfers.checkNotEnded(target)
    try await invitations.answer(target, with: .decline(reason: reason))
  }
}

import PeerSession

/// The verification words that a user compares on both screens before the local peer joins.
extension Joiner {
  /// Asks the user to compare the verification words, if nothing else proves the identity of the host.
  ///
  /// - Returns: Whether the words are the same.
  static func compare(_ verification: Verification, timeout: Duration, on sharedBoard: isolated SharedBoard) async
    -> Bool
  { await sharedBoard.joiner?.compare(verification, timeout: timeout) ?? false }

  private nonisolated(nonsending) func compare(_ verification: Verification, timeout: Duration) async -> Bool {
    defer { checkIsolation(#isolation) }
    guard runtime.ending == nil else { return false }
    let mustAnswer = verification.mustBeCompared
    guard !mustAnswer || runtime.call({ $0.commandRunner.buffer.canHoldAnswer }) else {
      reportNoUser()
      return false
    }
    // If the attempt has ended in the meantime, no answer matters any more.
    guard !Task.isCancelled else { return false }
    let id = invitations.nextComparisonID()
    runtime.emit(
      .invitation(
        .init(
          id: id,
          peer: verification.peer.text,
          name: verification.name,
          words: verification.words.joined(separator: " "),
          direction: .outgoing,
          mustAnswer: mustAnswer,
          deadline: SystemTime.deadlineText(timeout),
          seconds: Int(timeout / .seconds(1))
        )
      )
    )
    guard mustAnswer else { return true }
    return await withCheckedContinuation { continuation in
      invitations.addComparison(id, with: verification.peer, named: verification.name, timeout: timeout, continuation)
      runtime.spawn { sharedBoard in
        await sharedBoard.commandRunner.runDueCommands()
        sharedBoard.joiner?.endUnanswerableComparisons()
      }
    }
  }

  /// Ends the pending questions about verification words if no further command can answer them.
  func endUnanswerableComparisons() {
    guard runtime.call({ $0.commandRunner.buffer.isAtEndOrFull && !$0.commandRunner.hasDueCommand }) else { return }
    for id in invitations.comparisons {
      reportNoUser()
      invitations.answerComparison(id, isSame: false)
    }
  }

  private func reportNoUser() {
    let message =
      "The host requires that you compare words, but this program has no user. Join on a terminal, or "
      + "by the board's link."
    attempt.problem = WhiteboardError(.notAllowed, message)
    runtime.emit(.warning(.init(code: "nobody-to-ask", message: message)))
  }
}

import PeerSession

/// The words that a user compares on both screens before the local peer joins.
extension Joiner {
  /// Has the user compare the words, if the answer matters.
  ///
  /// - Returns: Whether the words are the same.
  static func compare(
    _ verification: Verification,
    timeout: Duration,
    on node: isolated Node
  ) async -> Bool {
    await node.joiner?.compare(verification, timeout: timeout) ?? false
  }

  private nonisolated(nonsending) func compare(
    _ verification: Verification,
    timeout: Duration
  ) async -> Bool {
    guard runtime.ending == nil else { return false }
    let mustAnswer = verification.mustBeCompared
    guard !mustAnswer || runtime.call({ $0.canAnswerQuestions }) else {
      reportNoUser()
      return false
    }
    let id = "to-\(nextComparison)"
    nextComparison += 1
    runtime.emit(
      .invitation(
        .init(
          id: id,
          peer: verification.peer.text,
          name: verification.name.raw,
          words: verification.words.joined(separator: " "),
          direction: .outgoing,
          mustAnswer: mustAnswer,
          deadline: SystemTime.deadlineText(timeout)
        )
      )
    )
    guard mustAnswer else { return true }
    return await withCheckedContinuation { continuation in
      let question = Node.PendingInvitation(
        kind: .outgoing(continuation),
        peer: verification.peer,
        name: verification.name.raw
      )
      runtime.call { $0.invitations[id] = question }
      runtime.spawn { node in
        await node.runDueCommands()
        node.joiner?.endUnanswerableComparisons()
      }
      runtime.spawn { node in
        try? await node.clock.sleep(for: timeout)
        guard node.invitations[id] != nil else { return }
        node.joiner?.attempt.problem = NodeError(
          .timedOut,
          "It was not confirmed in time that the words are the same."
        )
        node.answer(id, with: false)
      }
    }
  }

  /// Ends the questions to compare words if no command can answer them any longer.
  func endUnanswerableComparisons() {
    let ids = runtime.call { node -> [String] in
      guard !node.hasMoreInput, !node.commands.contains(where: { node.isDue($0) }) else {
        return []
      }
      return node.invitations.compactMap { id, invitation in
        if case .outgoing = invitation.kind { id } else { nil }
      }
    }
    for id in ids {
      reportNoUser()
      runtime.call { $0.answer(id, with: false) }
    }
  }

  private func reportNoUser() {
    let message =
      "The host requires that you compare words, but this program has no user. Join on a terminal, or "
      + "by the board's link."
    attempt.problem = NodeError(.notAllowed, message)
    runtime.emit(.warning(.init(code: "nobody-to-ask", message: message)))
  }
}

extension Node {
  /// Whether another command can be read now.
  var hasMoreInput: Bool { input != nil && !isInputAtEnd && !commands.isFull }

  /// Whether a command that answers a question is queued or may follow.
  var canAnswerQuestions: Bool {
    hasMoreInput || commands.contains(where: \.answersInvitation)
  }

  /// Answers a question to compare words, if it is still pending.
  func answer(_ id: String, with answer: Bool) {
    guard case .outgoing(let continuation)? = invitations.removeValue(forKey: id)?.kind else {
      return
    }
    continuation.resume(returning: answer)
  }
}

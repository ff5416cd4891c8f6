import PeerSession
import WhiteboardRendering

/// Requests to join: asked, answered, and over.
extension Node {
  /// A question that is over, and what to tell a person who answers it late.
  struct EndedInvitation {
    let id: String
    let peer: PeerID
    let name: String
    /// What happened to it, in a sentence.
    let sentence: String
  }

  /// How many questions that are over are remembered.
  private static let endedLimit = 16

  /// Asks the person whether a peer may join.
  func invited(_ invitation: Invitation) {
    let id = invitation.id.description
    invitations[id] = PendingInvitation(
      kind: .incoming(invitation.id),
      peer: invitation.peer,
      name: invitation.name.raw
    )
    emit(
      .invitation(
        .init(
          id: id,
          peer: invitation.peer.text,
          name: invitation.name.raw,
          words: invitation.words.joined(separator: " "),
          direction: .incoming,
          mustAnswer: true,
          deadline: SystemTime.deadlineText(invitation.timeout),
          known: invitation.isProved ? true : nil
        )
      )
    )
    spawn { node in await node.runDueCommands() }
  }

  /// Takes the question back: the peer does not wait for an answer any more.
  ///
  /// - Parameters:
  ///   - id: The question.
  ///   - error: Why it is over.
  func invitationEnded(_ id: String, _ error: SessionError) {
    guard let pending = invitations.removeValue(forKey: id) else { return }
    let name = EventText.person(pending.name, pending.peer.text)
    let sentence =
      switch error.code {
      case .timedOut: "\(name) stopped waiting for an answer."
      case .withdrawn: "\(name) no longer asks to join."
      default: "The request of \(name) is over: \(TerminalText.cleaned(error.message))"
      }
    remember(pending, id, sentence)
    emit(
      .note(
        .init(
          code: NodeEvent.Remark.invitationEnded,
          message: sentence,
          peer: pending.peer.text,
          invitation: id
        )
      )
    )
  }

  /// Takes all questions of peers back: the session is over.
  func endInvitations() {
    for (id, pending) in invitations.sorted(by: { $0.key < $1.key }) {
      guard case .incoming = pending.kind else { continue }
      invitationEnded(id, SessionError(.sessionEnded, "the session has ended here."))
    }
  }

  private func remember(_ pending: PendingInvitation, _ id: String, _ sentence: String) {
    endedInvitations.append(
      EndedInvitation(id: id, peer: pending.peer, name: pending.name, sentence: sentence)
    )
    if endedInvitations.count > Self.endedLimit { endedInvitations.removeFirst() }
  }

  /// Returns the question that a word of `accept` or `decline` means.
  ///
  /// - Throws: ``CommandError``; of a question that is over, with what happened to it.
  func pendingInvitation(_ word: String) throws(CommandError) -> String {
    do throws(CommandError) {
      return try invitation(word)
    } catch {
      guard error.code == .noSuchInvitation, let ended = endedInvitation(word) else { throw error }
      throw isOver(ended)
    }
  }

  private func endedInvitation(_ word: String) -> EndedInvitation? {
    endedInvitations.last {
      $0.id == word || $0.name == word || word == "last"
        || (word.utf8.count >= 4 && $0.peer.text.hasPrefix(word.lowercased()))
    }
  }

  private func isOver(_ ended: EndedInvitation) -> CommandError {
    CommandError(.noSuchInvitation, "\(ended.sentence) There is nothing left to answer.")
  }

  /// Answers a question.
  ///
  /// - Parameters:
  ///   - id: The question.
  ///   - answer: The answer.
  ///   - isAlways: Whether the peer is admitted without asking from now on.
  /// - Throws: ``CommandError`` if the question is over, or the choice cannot be stored.
  func answer(
    _ id: String,
    with answer: InvitationAnswer,
    isAlways: Bool = false
  ) async throws(CommandError) {
    guard let pending = invitations[id] else {
      throw CommandError(
        .noSuchInvitation,
        "the request is over, so there is nothing left to answer"
      )
    }
    switch pending.kind {
    case .outgoing:
      guard !isAlways else {
        throw CommandError(.badArgument, "`always` is for a peer that asks to join here")
      }
      if answer != .accept {
        joiner?.attempt.problem = NodeError(
          .notAllowed,
          "The words are not the same on both screens."
        )
      }
      self.answer(id, with: answer == .accept)
    case .incoming(let invitation):
      invitations[id] = nil
      let name = EventText.person(pending.name, pending.peer.text)
      remember(pending, id, "The request of \(name) was answered already.")
      do throws(SessionError) {
        try await session?.respond(to: invitation, answer)
      } catch {
        guard error.code == .unknown else { throw CommandError(error) }
        // It ended at this very moment.
        throw CommandError(
          .noSuchInvitation,
          "\(name) stopped waiting for an answer. There is nothing left to answer."
        )
      }
      if isAlways { try await alwaysAdmit(pending) }
    }
  }

  private func alwaysAdmit(_ pending: PendingInvitation) async throws(CommandError) {
    do {
      try await session?.alwaysAdmit(pending.peer, name: pending.name)
    } catch {
      throw CommandError(
        .notSaved,
        "\(EventText.person(pending.name, pending.peer.text)) is admitted, but that you are not asked again is "
          + "not stored: \(TerminalText.cleaned("\(error)"))"
      )
    }
  }
}

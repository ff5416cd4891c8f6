import PeerCore
import PeerSession

/// The pending questions to the user: requests to join, and verification words to compare.
///
/// Also stores the questions that were closed most recently. Confined to the actor of its board.
final class Invitations {
  private enum Question {
    /// A peer asks to join.
    case incoming(InvitationID)
    /// The local peer joins if the verification words are the same on both screens.
    case outgoing(CheckedContinuation<Bool, Never>)
  }

  private struct Pending {
    let question: Question
    let peer: PeerID
    let name: UntrustedText

    /// The name with the id prefix, safe to display.
    var label: String { EventText.person(name, peer.text) }
  }

  /// A question that is no longer pending.
  ///
  /// It is stored to explain a late answer.
  private struct Ended {
    let id: String
    let peer: PeerID
    let name: UntrustedText
    /// A sentence that says how the question was closed.
    let sentence: String
  }

  /// The maximum number of closed questions that are stored.
  private static let endedLimit = 16

  private let runtime: BoardRuntime
  private let configuration: BoardConfiguration
  private var pending: [String: Pending] = [:]
  private var ended: [Ended] = []
  private var lastComparison = 0

  init(_ runtime: BoardRuntime, _ configuration: BoardConfiguration) {
    self.runtime = runtime
    self.configuration = configuration
  }

  // MARK: - Requests to join

  /// Asks the user or the program whether a peer may join.
  func received(_ invitation: Invitation) {
    let id = invitation.id.description
    pending[id] = Pending(
      question: .incoming(invitation.id),
      peer: invitation.peer,
      name: invitation.name
    )
    runtime.emit(
      .invitation(
        .init(
          id: id,
          peer: invitation.peer.text,
          name: invitation.name,
          words: invitation.words.joined(separator: " "),
          direction: .incoming,
          mustAnswer: true,
          deadline: SystemTime.deadlineText(invitation.timeout),
          known: invitation.isProved ? true : nil
        )
      )
    )
    runtime.spawn { sharedBoard in await sharedBoard.commandRunner.runDueCommands() }
    guard let answerInvitation = configuration.answerInvitation else { return }
    runtime.spawn { sharedBoard in
      let answer = await answerInvitation(invitation)
      // The peer may have stopped waiting in the meantime.
      try? await sharedBoard.invitations.answer(id, with: answer)
    }
  }

  /// Closes a question, because the peer is no longer waiting for an answer.
  ///
  /// - Parameters:
  ///   - id: The question.
  ///   - error: The reason why the question was closed.
  func end(_ id: String, because error: SessionError) {
    guard let question = pending.removeValue(forKey: id) else { return }
    let sentence =
      switch error.code {
      case .timedOut: "\(question.label) stopped waiting for an answer."
      case .withdrawn: "\(question.label) no longer asks to join."
      default:
        "\(question.label) is no longer asking to join: \(UntrustedText(error.message).escaped())"
      }
    remember(question, id, sentence)
    runtime.emit(
      .note(
        .init(
          code: BoardEvent.Remark.invitationEnded,
          message: sentence,
          peer: question.peer.text,
          invitation: id
        )
      )
    )
  }

  /// Closes all pending requests to join, because the session has ended.
  func endRequests() {
    for (id, question) in pending.sorted(by: { $0.key < $1.key }) {
      guard case .incoming = question.question else { continue }
      end(id, because: SessionError(.sessionEnded, "this program left the board."))
    }
  }

  private func remember(_ question: Pending, _ id: String, _ sentence: String) {
    ended.append(Ended(id: id, peer: question.peer, name: question.name, sentence: sentence))
    if ended.count > Self.endedLimit { ended.removeFirst() }
  }

  // MARK: - Verification words

  /// Returns an id for a new question about verification words.
  func nextComparisonID() -> String {
    lastComparison += 1
    return "to-\(lastComparison)"
  }

  /// Adds a question about verification words.
  ///
  /// - Parameters:
  ///   - id: The id of the question.
  ///   - peer: The host.
  ///   - name: The name of the host.
  ///   - continuation: Receives whether the words are the same.
  func addComparison(
    _ id: String,
    with peer: PeerID,
    named name: UntrustedText,
    _ continuation: CheckedContinuation<Bool, Never>
  ) {
    pending[id] = Pending(question: .outgoing(continuation), peer: peer, name: name)
  }

  /// The ids of the pending questions about verification words.
  var comparisons: [String] {
    pending.compactMap { id, question in
      if case .outgoing = question.question { id } else { nil }
    }
  }

  /// Whether a question is pending.
  func isPending(_ id: String) -> Bool { pending[id] != nil }

  /// Answers a question about verification words, if it is still pending.
  func answerComparison(_ id: String, isSame: Bool) {
    guard case .outgoing(let continuation)? = pending.removeValue(forKey: id)?.question else {
      return
    }
    continuation.resume(returning: isSame)
  }

  /// Closes all questions, because the board is closing.
  ///
  /// It can be called more than once.
  func close() {
    for id in comparisons { answerComparison(id, isSame: false) }
    pending = [:]
  }

  // MARK: - Answers from the user

  /// Returns the pending question that an argument of `accept` or `decline` names.
  ///
  /// - Throws: ``CommandError`` if no question or more than one matches.
  func find(_ word: String) throws(CommandError) -> String {
    var resolver = ReferenceResolver<String>()
    for (id, question) in pending {
      resolver.add(id: id, names: [question.name, UntrustedText(question.peer.text)], value: id)
    }
    if word == "last", pending.count == 1, let only = pending.keys.first { return only }
    do throws(CommandError) {
      return try resolver.find(word, what: "invitation", missing: .noSuchInvitation)
    } catch {
      // The id prefix of the peer also identifies the question.
      let matches = pending.filter {
        word.utf8.count >= 4 && $0.value.peer.text.hasPrefix(word.lowercased())
      }
      guard let only = matches.keys.first, matches.count == 1 else { throw error }
      return only
    }
  }

  /// Answers the question that an argument of `accept` or `decline` names.
  ///
  /// - Parameters:
  ///   - word: The argument.
  ///   - answer: The answer.
  ///   - isAlways: Whether to admit the peer without asking from now on.
  /// - Throws: ``CommandError`` if there is no such question, or the choice cannot be stored.
  nonisolated(nonsending) func answer(
    _ word: String,
    with answer: InvitationAnswer,
    isAlways: Bool = false
  ) async throws(CommandError) {
    let id = try findOrExplain(word)
    guard let question = pending[id] else {
      throw CommandError(
        .noSuchInvitation,
        "the request has ended, so there is nothing left to answer"
      )
    }
    switch question.question {
    case .outgoing:
      guard !isAlways else {
        throw CommandError(
          .badArgument,
          "`always` works only for a peer that asks to join this board"
        )
      }
      if answer != .accept {
        runtime.call {
          $0.joiner?.attempt.problem = WhiteboardError(
            .notAllowed,
            "The words are not the same on both screens."
          )
        }
      }
      answerComparison(id, isSame: answer == .accept)
    case .incoming(let invitation):
      pending[id] = nil
      remember(question, id, "The request of \(question.label) has already been answered.")
      let session = runtime.call { $0.session }
      do throws(SessionError) {
        try await session?.respond(to: invitation, answer)
      } catch {
        guard error.code == .unknown else { throw CommandError(error) }
        // The request ended before the session received the answer.
        throw CommandError(
          .noSuchInvitation,
          "\(question.label) stopped waiting for an answer. There is nothing left to answer."
        )
      }
      if isAlways { try await alwaysAdmit(question, session) }
    }
  }

  private func findOrExplain(_ word: String) throws(CommandError) -> String {
    do throws(CommandError) {
      return try find(word)
    } catch {
      let match = ended.last {
        $0.id == word || $0.name.raw == word || word == "last"
          || (word.utf8.count >= 4 && $0.peer.text.hasPrefix(word.lowercased()))
      }
      guard error.code == .noSuchInvitation, let match else { throw error }
      throw CommandError(
        .noSuchInvitation,
        "\(match.sentence) There is nothing left to answer."
      )
    }
  }

  private nonisolated(nonsending) func alwaysAdmit(
    _ question: Pending,
    _ session: Session?
  ) async throws(CommandError) {
    defer { checkIsolation(#isolation) }
    do {
      try await session?.alwaysAdmit(question.peer, name: question.name.raw)
    } catch {
      throw CommandError(
        .notSaved,
        "\(question.label) is admitted now, but `always` was not stored, so you will be asked again: "
          + UntrustedText("\(error)").escaped()
      )
    }
  }
}

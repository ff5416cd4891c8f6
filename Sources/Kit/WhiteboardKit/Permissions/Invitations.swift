import PeerCore
import PeerSession

/// Owns the pending questions to the user: requests to join, and verification words to compare. Also remembers the
/// questions that were closed most recently. Confined to the actor of its board.
final class Invitations {
  private enum Question {
    case incoming(InvitationID)
    /// The local peer joins if the verification words are the same on both screens.
    case outgoing(CheckedContinuation<WordComparison, Never>)
  }

  private struct Pending {
    let question: Question
    let peer: PeerID
    let name: UntrustedText
    let end: ContinuousClock.Instant

    /// The name with an id prefix, safe to display.
    var label: String { EventText.person(name, peer.text) }
  }

  /// A question that is no longer pending, stored to explain a late answer.
  private struct Ended {
    let id: String
    let peer: PeerID
    let name: UntrustedText
    let sentence: String
  }

  private static let endedLimit = 16
  private let runtime: BoardRuntime
  private let configuration: BoardConfiguration
  private var pending: [String: Pending] = [:]
  /// The accepted requests of peers whose users are still comparing the words.
  private var accepted: [String: Pending] = [:]
  private var ended: [Ended] = []
  private var lastComparison = 0

  init(_ runtime: BoardRuntime, _ configuration: BoardConfiguration) {
    self.runtime = runtime
    self.configuration = configuration
  }

  // MARK: - Requests to join

  func received(_ invitation: Invitation) {
    let id = invitation.id.description
    pending[id] = Pending(
      question: .incoming(invitation.id),
      peer: invitation.peer,
      name: invitation.name,
      end: runtime.clock.now + invitation.timeout
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
          seconds: Int(invitation.timeout / .seconds(1)),
          known: invitation.isProved ? true : nil
        )
      )
    )
    runtime.spawn { sharedBoard in await sharedBoard.commandRunner.runDueCommands() }
    guard let answerInvitation = configuration.answerInvitation else { return }
    runtime.spawn { sharedBoard in
      // The program's function may block its thread.
      let answer = await withTaskExecutorPreference(globalConcurrentExecutor) { await answerInvitation(invitation) }
      // The peer may have stopped waiting in the meantime.
      try? await sharedBoard.invitations.answer(id, with: answer)
    }
  }

  func end(_ id: String, because error: SessionError) {
    let wasAccepted = accepted[id] != nil
    guard let question = accepted.removeValue(forKey: id) ?? pending.removeValue(forKey: id) else { return }
    let label = question.label
    let sentence =
      switch error.code {
      case .timedOut where wasAccepted: "\(label) did not confirm the verification words in time, and did not join."
      case .timedOut: "\(label) stopped waiting, because the time to answer has passed."
      case .withdrawn: "\(label) no longer asks to join."
      case .noUser: "\(label) has no user to compare the words, and did not join."
      case .notVerified:
        "\(label) saw other verification words, and did not join. Another computer may be intercepting "
          + "the connection."
      default: "\(label) is no longer asking to join: \(UntrustedText(error.message).escaped())"
      }
    end(question, id, sentence)
  }

  private func end(_ question: Pending, _ id: String, _ sentence: String) {
    remember(question, id, sentence)
    runtime.emit(
      .note(
        .init(
          code: SharedBoard.News.Remark.invitationEnded,
          message: sentence,
          peer: question.peer.text,
          invitation: id
        )
      )
    )
  }

  func joined(_ peer: PeerID) { accepted = accepted.filter { $0.value.peer != peer } }

  func endRequests() {
    for (id, question) in pending.merging(accepted, uniquingKeysWith: { $1 }).sorted(by: { $0.key < $1.key }) {
      guard case .incoming = question.question else { continue }
      end(id, because: SessionError(.sessionEnded, "this program left the board."))
    }
  }

  private func remember(_ question: Pending, _ id: String, _ sentence: String) {
    ended.append(Ended(id: id, peer: question.peer, name: question.name, sentence: sentence))
    if ended.count > Self.endedLimit { ended.removeFirst() }
  }

  // MARK: - Verification words

  func nextComparisonID() -> String {
    lastComparison += 1
    return "to-\(lastComparison)"
  }

  func addComparison(
    _ id: String,
    with peer: PeerID,
    named name: UntrustedText,
    timeout: Duration,
    _ continuation: CheckedContinuation<WordComparison, Never>
  ) {
    pending[id] = Pending(question: .outgoing(continuation), peer: peer, name: name, end: runtime.clock.now + timeout)
  }

  var comparisons: [String] {
    pending.compactMap { id, question in if case .outgoing = question.question { id } else { nil } }
  }

  func endComparisons(because error: SessionError) {
    for id in comparisons {
      guard let question = pending[id] else { continue }
      answerComparison(id, .stopped)
      let sentence =
        error.code == .timedOut
        ? "You did not confirm the verification words with \(question.label) in time."
        : "The request to \(question.label) has ended."
      end(question, id, sentence)
    }
  }

  func answerComparison(_ id: String, _ comparison: WordComparison) {
    guard case .outgoing(let continuation)? = pending.removeValue(forKey: id)?.question else { return }
    continuation.resume(returning: comparison)
  }

  func close() {
    for id in comparisons { answerComparison(id, .stopped) }
    pending = [:]
    accepted = [:]
  }

  // MARK: - Answers from the user

  /// Returns the id of the question that `word` names. `word` is an argument of `accept` or `decline`. Throws if no
  /// question or more than one question matches.
  func find(_ word: String) throws(CommandError) -> String {
    var resolver = ReferenceResolver<String>()
    for (id, question) in pending {
      resolver.add(id: id, names: [question.name, UntrustedText(question.peer.text)], value: id)
    }
    if word == "last", let only = pending.keys.first {
      // A request may arrive while the user types, so `last` is refused if several requests are pending.
      guard pending.count == 1 else {
        throw CommandError(
          .ambiguous,
          "\(pending.count) requests are waiting for an answer; give the name or the id of one"
        )
      }
      return only
    }
    do throws(CommandError) { return try resolver.find(word, what: "invitation", missing: .noSuchInvitation) } catch {
      // The id prefix of the peer also identifies the question.
      let matches = pending.filter { word.utf8.count >= 4 && $0.value.peer.text.hasPrefix(word.lowercased()) }
      guard let only = matches.keys.first, matches.count == 1 else { throw error }
      return only
    }
  }

  /// Answers the question that `word` names. `word` is an argument of `accept` or `decline`. Throws if `word` names no
  /// question, or the choice cannot be stored.
  nonisolated(nonsending) func answer(_ word: String, with answer: InvitationAnswer, isAlways: Bool = false)
    async throws(CommandError)
  {
    defer { checkIsolation(#isolation) }
    let id = try findOrExplain(word)
    guard let question = pending[id] else {
      throw CommandError(.noSuchInvitation, "the request has ended, so there is nothing left to answer")
    }
    switch question.question {
    case .outgoing:
      guard !isAlways else {
        throw CommandError(.badArgument, "`always` works only for a peer that asks to join this board")
      }
      if answer != .accept { runtime.call { $0.joiner?.attempt.problem = WordComparison.different.problem } }
      answerComparison(id, answer == .accept ? .same : .different)
    case .incoming(let invitation):
      pending[id] = nil
      remember(question, id, "The request of \(question.label) has already been answered.")
      let session = runtime.call { $0.session }
      accepted[id] = answer == .accept ? question : nil
      do throws(SessionError) {
        if try await session?.respond(to: invitation, answer) == true {
          reportComparing(id)
        } else {
          accepted[id] = nil
        }
      } catch {
        accepted[id] = nil
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

  /// Reports that the accepted peer joins only after its user has confirmed the words.
  private func reportComparing(_ id: String) {
    // The request may have ended in the meantime.
    guard let question = accepted[id] else { return }
    let left = question.end - runtime.clock.now
    runtime.emit(
      .note(
        .init(
          code: SharedBoard.News.Remark.comparing,
          message: "\(question.label) joins as soon as its user has compared the verification words "
            + "(\(EventText.timeLeft(left)) left).",
          peer: question.peer.text,
          invitation: id,
          deadline: SystemTime.deadlineText(left)
        )
      )
    )
  }

  private func findOrExplain(_ word: String) throws(CommandError) -> String {
    do throws(CommandError) { return try find(word) } catch {
      let match = ended.last {
        $0.id == word || $0.name.raw == word || word == "last"
          || (word.utf8.count >= 4 && $0.peer.text.hasPrefix(word.lowercased()))
      }
      guard error.code == .noSuchInvitation, let match else { throw error }
      throw CommandError(
        .noSuchInvitation,
        word == "last"
          ? "no request is waiting for an answer; the last request has ended: \(match.sentence)"
          : "\(match.sentence) There is nothing left to answer."
      )
    }
  }

  private nonisolated(nonsending) func alwaysAdmit(_ question: Pending, _ session: Session?) async throws(CommandError)
  {
    defer { checkIsolation(#isolation) }
    do { try await session?.alwaysAdmit(question.peer, name: question.name.raw) } catch {
      throw CommandError(
        .notSaved,
        "\(question.label) is admitted now, but `always` was not stored, so you will be asked again: "
          + UntrustedText("\(error)").escaped()
      )
    }
  }
}

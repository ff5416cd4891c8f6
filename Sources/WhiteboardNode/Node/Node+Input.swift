import PeerSession
import Whiteboard
import WhiteboardRendering
import WhiteboardSync

extension Node {
  /// Reads commands until there are no more, no faster than they run.
  func readCommands(_ input: any CommandSource) async {
    while ending == nil {
      let next: CommandInput?
      do throws(InputError) {
        next = try await input.next()
      } catch {
        end(.failed(NodeError(.inputOutput, "the input cannot be read")))
        return
      }
      guard let next else { break }
      await enqueue(next)
    }
    isInputAtEnd = true
    wakeCommands()
    giveUpComparing()
  }

  private func enqueue(_ input: CommandInput) async {
    commands.append(input)
    wakeCommands()
    await runDueCommands()
    giveUpComparing()
    while commands.isFull, ending == nil {
      await withCheckedContinuation { readerWaiter = $0 }
    }
  }

  private func wakeCommands() {
    commandWaiter?.resume()
    commandWaiter = nil
  }

  /// Carries out what stands first in the queue and answers something that is pending.
  ///
  /// While we join, nothing else is carried out, so that it need not stand first.
  func runDueCommands() async {
    while ending == nil,
      let request = isJoining
        ? commands.takeAny(where: isDueWhileJoining) : commands.takeFirst(where: isDue)
    {
      wakeReader()
      await run(request)
    }
  }

  /// Whether we have asked, or are about to ask, to be let in.
  var isJoining: Bool {
    guard case .join = configuration.part else { return false }
    return session == nil
  }

  /// Whoever types `quit` waits no longer; in a script it stands behind what is to be done first.
  private func isDueWhileJoining(_ verb: Command, isFirst: Bool) -> Bool {
    switch verb {
    case .quit, .quitAnyway, .leave:
      configuration.isTyped || (isFirst && configuration.script == .none)
    default: isDue(verb)
    }
  }

  /// Whether a verb answers something that is pending.
  func isDue(_ verb: Command) -> Bool {
    switch verb {
    case .accept(let target, _), .decline(let target, _):
      (try? invitation(target)) != nil || fileOffer(target) != nil
    case .cancel(let target, _):
      (try? transfers.transfer(target)) != nil
    default:
      false
    }
  }

  private func wakeReader() {
    readerWaiter?.resume()
    readerWaiter = nil
  }

  /// Carries out verbs in their order, until there are no more and the script is over.
  func runCommands() async {
    while ending == nil {
      guard let entry = commands.takeFirst() else {
        if isInputAtEnd || input == nil {
          await inputEnded()
          return
        }
        await withCheckedContinuation { commandWaiter = $0 }
        continue
      }
      wakeReader()
      // What stands behind this may answer something that is pending, and this may take long.
      spawn { node in await node.runDueCommands() }
      switch entry {
      case .failure(let error): fail(error)
      case .request(let request):
        if let error = await hold(for: request.command.name.requirement) {
          fail(error, answering: request)
        } else {
          if request.command.name.changesBoard { await untilRoleIsTold() }
          await run(request)
        }
      }
      await runtime.room()
      await outbox.room()
      await persistence.room()
    }
  }

  /// The script is over: `run` sees that everything is everywhere, and ends.
  private func inputEnded() async {
    guard case .run = configuration.script else {
      // No other command can come, so the node ends as soon as that loses no work.
      if isQuitRefused, await wait(until: { !self.persistence.state.wouldLoseWork }) { end(.asked) }
      return
    }
    // A script without commands fetches the board.
    if let error = await hold(for: .board), firstFailure == nil {
      end(.failed(NodeError(error)))
      return
    }
    let outcome = configuration.isOffline ? .asked : await endOfScript()
    end(firstFailure.map { .failed($0) } ?? outcome)
  }

  // MARK: - Answers

  /// Tells that a verb failed; the first failure ends a script that does not keep going.
  ///
  /// It is told after what was answered before it, and ends the script at once.
  func fail(_ error: CommandError) {
    persistence.whenStored { _ in self.emit(.error(error)) }
    guard case .run(let keepsGoing) = configuration.script else { return }
    let failure = NodeError(error)
    firstFailure = firstFailure ?? failure
    if !keepsGoing {
      end(.failed(failure))
    }
  }

  /// Tells that a verb failed, as the answer to its line.
  func fail(_ error: CommandError, answering request: CommandRequest) {
    fail(
      error.answering(
        verb: request.command.name.rawValue,
        request: request.request,
        line: request.line
      )
    )
  }

  /// Tells that a verb was carried out, once what it did is kept.
  func done(_ request: CommandRequest, _ outcome: CommandOutcome = CommandOutcome()) {
    let done = NodeEvent.Done(
      verb: request.command.name.rawValue,
      request: request.request,
      id: outcome.id?.description,
      ids: outcome.ids?.map(\.description),
      transfers: outcome.transfers,
      changed: outcome.hasChanged,
      file: outcome.file,
      objects: outcome.count,
      step: outcome.step,
      skipped: outcome.skipped,
      left: outcome.left,
      skippedSteps: outcome.skippedSteps?.map {
        NodeEvent.PassedStep(step: $0.label, reason: $0.reason.rawValue)
      },
      synced: outcome.sync?.synced,
      notSynced: outcome.sync.flatMap { $0.notSynced.isEmpty ? nil : $0.notSynced }
    )
    let isAboutChanges = outcome.hasChanged ?? !request.command.name.changesNothing
    persistence.whenStored(isAboutChanges: isAboutChanges) { failure in
      guard let failure else {
        self.emit(.done(done))
        return
      }
      let problem = SaveProblem(failure)
      let error = CommandError(
        .notSaved,
        "\(problem.headline). The change is on the board, but not on disk: \(problem.message)"
      )
      self.fail(
        error.answering(verb: done.verb, request: request.request, line: request.line)
      )
    }
  }
}

extension NodeError {
  /// Creates the error with which a script ends because a command failed.
  package init(_ error: CommandError) {
    let code: Code =
      switch error.code {
      case .syntax, .lineTooLong, .unknownCommand, .missingArgument, .badArgument, .unknownArgument:
        .badData
      case .notSynced: .timedOut
      default: .no
      }
    let line = error.line.map { "line \($0): " } ?? ""
    let verb = error.verb.map { "\($0): " } ?? ""
    self.init(code, "\(line)\(verb)\(error.message)")
  }
}

extension CommandError {
  /// What the session refused, as the answer to a verb.
  init(_ error: SessionError) {
    let code: Code =
      switch error.code {
      case .declined: .declined
      case .timedOut: .timedOut
      case .cancelled, .transferCancelled: .cancelled
      case .peerLost, .left, .shuttingDown, .kicked, .disconnected: .peerGone
      case .notConnected, .sessionEnded: .notConnected
      case .messageTooLarge, .invalidName: .tooBig
      case .sourceUnreadable, .sourceChanged: .fileUnreadable
      case .diskFull, .quota, .hashMismatch, .reset: .transferFailed
      case .notHost, .notByCode, .busy: .refused
      case .unknown: .noSuchInvitation
      default: .internal
      }
    self.init(code, TerminalText.cleaned(error.message))
  }
}

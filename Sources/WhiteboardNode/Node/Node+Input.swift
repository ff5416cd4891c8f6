import PeerSession
import Whiteboard
import WhiteboardSync

extension Node {
  /// Reads lines until there are no more, no faster than they are carried out.
  func readLines(_ input: any LineSource) async {
    while ending == nil {
      let line: LineReader.Line?
      do throws(InputError) {
        line = try await input.next()
      } catch {
        end(.failed(NodeError(.inputOutput, "the input cannot be read")))
        return
      }
      guard let line else { break }
      await take(line)
    }
    isInputAtEnd = true
    wakeVerbs()
    giveUpComparing()
  }

  private func take(_ line: LineReader.Line) async {
    lineCount += 1
    // A script has lines to look up; what is typed or piped live has its marks.
    let number = configuration.script == .none ? nil : lineCount
    let entry: VerbQueue.Entry
    switch line {
    case .tooLong:
      entry = .failure(
        VerbError(
          .lineTooLong,
          "the line has more than \(VerbParser.maximumLineLength) bytes",
          line: number
        )
      )
    case .line(let bytes):
      do throws(VerbError) {
        guard var request = try VerbParser.parse(bytes: bytes) else { return }
        request.line = number
        entry = .request(request)
      } catch {
        entry = .failure(error.answering(verb: nil, request: nil, line: number))
      }
    }
    verbs.append(entry)
    wakeVerbs()
    await carryOutDueVerbs()
    giveUpComparing()
    while verbs.isFull, ending == nil {
      await withCheckedContinuation { readerWaiter = $0 }
    }
  }

  private func wakeVerbs() {
    verbWaiter?.resume()
    verbWaiter = nil
  }

  /// Carries out what stands first in the queue and answers something that is pending.
  ///
  /// While we join, nothing else is carried out, so that it need not stand first.
  func carryOutDueVerbs() async {
    while ending == nil,
      let request = isJoining
        ? verbs.takeAny(where: isDueWhileJoining) : verbs.takeFirst(where: isDue)
    {
      wakeReader()
      await carryOut(request)
    }
  }

  /// Whether we have asked, or are about to ask, to be let in.
  var isJoining: Bool {
    guard case .join = configuration.part else { return false }
    return session == nil
  }

  /// Whoever types `quit` waits no longer; in a script it stands behind what is to be done first.
  private func isDueWhileJoining(_ verb: Verb, isFirst: Bool) -> Bool {
    switch verb {
    case .quit, .leave: configuration.isTyped || (isFirst && configuration.script == .none)
    default: isDue(verb)
    }
  }

  /// Whether a verb answers something that is pending.
  func isDue(_ verb: Verb) -> Bool {
    switch verb {
    case .accept(let target), .decline(let target, _):
      (try? invitation(target)) != nil
    case .cancel(let target, _):
      (try? transfer(target)) != nil
    default:
      false
    }
  }

  private func wakeReader() {
    readerWaiter?.resume()
    readerWaiter = nil
  }

  /// Carries out verbs in their order, until there are no more and the script is over.
  func carryOutVerbs() async {
    while ending == nil {
      guard let entry = verbs.takeFirst() else {
        if isInputAtEnd || input == nil {
          await inputEnded()
          return
        }
        await withCheckedContinuation { verbWaiter = $0 }
        continue
      }
      wakeReader()
      // What stands behind this may answer something that is pending, and this may take long.
      spawn { node in await node.carryOutDueVerbs() }
      switch entry {
      case .failure(let error): fail(error)
      case .request(let request): await carryOut(request)
      }
      await room()
      await roomToSend()
    }
  }

  /// The script is over: `run` sees that everything is everywhere, and ends.
  private func inputEnded() async {
    guard case .run = configuration.script else { return }
    // Longer than a lost peer is waited for, so that this ends whatever happens.
    let isSynced = await waitUntilSynced(timeout: configuration.lostAfter + .seconds(60))
    if let firstFailure {
      end(.failed(firstFailure))
    } else if !isSynced, ending == nil {
      end(.failed(NodeError(.timedOut, "not everything has reached every peer")))
    } else {
      end(.asked)
    }
  }

  // MARK: - Answers

  /// Tells that a verb failed; the first failure ends a script that does not keep going.
  func fail(_ error: VerbError) {
    emit(.error(error))
    guard case .run(let keepsGoing) = configuration.script else { return }
    let failure = NodeError(error)
    firstFailure = firstFailure ?? failure
    if !keepsGoing {
      end(.failed(failure))
    }
  }

  /// Tells that a verb failed, as the answer to its line.
  func fail(_ error: VerbError, answering request: VerbRequest) {
    fail(
      error.answering(
        verb: request.verb.name.rawValue,
        request: request.request,
        line: request.line
      )
    )
  }

  /// Tells that a verb was carried out.
  ///
  /// - Parameters:
  ///   - request: The verb and its mark.
  ///   - id: The object that it made or changed.
  ///   - transfers: The transfers that it made.
  ///   - hasChanged: Whether it changed the board, where that is what it is for.
  func done(
    _ request: VerbRequest,
    id: ObjectID? = nil,
    transfers: [String]? = nil,
    hasChanged: Bool = true
  ) {
    emit(
      .done(
        .init(
          verb: request.verb.name.rawValue,
          request: request.request,
          id: id?.description,
          transfers: transfers,
          hasChanged: hasChanged
        )
      )
    )
  }
}

extension NodeError {
  /// A verb that failed, as the end of a script.
  init(_ error: VerbError) {
    let code: Code =
      switch error.code {
      case .syntax, .lineTooLong, .unknownVerb, .missingArgument, .badArgument, .unknownArgument:
        .badData
      default: .no
      }
    let line = error.line.map { "line \($0): " } ?? ""
    let verb = error.verb.map { "\($0): " } ?? ""
    self.init(code, "\(line)\(verb)\(error.message)")
  }
}

extension VerbError {
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
      case .notHost: .refused
      case .unknown: .noSuchInvitation
      default: .internal
      }
    self.init(code, TerminalText.cleaned(error.message))
  }

  /// What the board refused, as the answer to a verb.
  ///
  /// - Parameters:
  ///   - error: What the board refused.
  ///   - name: What to call a member.
  init(_ error: BoardError, name: (MemberID) -> String) {
    switch error {
    case .unknownObject(let id):
      self.init(.noSuchObject, "there is no object \(id)")
    case .held(let id, let member):
      self.init(.held, "\(name(member)) has \(id) in hand; wait until it is free")
    case .unfinished(let id):
      self.init(.held, "\(id) is still being drawn; wait until it is finished")
    case .wrongKind(let id):
      self.init(.wrongKind, "\(id) is of another kind than the verb is for")
    case .outOfRange(let what):
      self.init(.badArgument, "\(what) is out of range")
    case .tooLong(let what):
      self.init(.tooBig, "\(what) is longer than its limit")
    case .empty:
      self.init(.badArgument, "there is nothing in it")
    case .tooManyOperations:
      self.init(.tooBig, "this is more than fits in one step")
    case .boardFull:
      self.init(.refused, "the board is full; delete something")
    case .clockExhausted:
      self.init(.refused, "that property cannot be written any more")
    case .viewer:
      self.init(.refused, "you only look on at this board")
    }
  }
}

import PeerCore
import PeerSession
import WhiteboardDocument
import WhiteboardSync

/// Sends the answers to commands. Each answer waits for all earlier answers, and until the changes that it confirms are
/// on disk. Owns the first failure of a script, and the callers that wait for results. Confined to the actor of its
/// board.
final class CommandAnswers {
  private let runtime: BoardRuntime
  private let script: BoardConfiguration.Script
  private let persistence: Persistence
  /// The first failed command of a script that continues after failures.
  private(set) var firstFailure: WhiteboardError?
  private var callers = Callers()

  init(_ runtime: BoardRuntime, _ script: BoardConfiguration.Script, persistence: Persistence) {
    self.runtime = runtime
    self.script = script
    self.persistence = persistence
  }

  // MARK: - Callers

  func reserveCaller() -> Int { callers.reserve() }

  func add(_ caller: Int, _ continuation: CheckedContinuation<Callers.Outcome, Never>) {
    callers.add(caller, continuation)
  }

  func answer(_ caller: Int, with outcome: Callers.Outcome) { callers.answer(caller, with: outcome) }

  func close() { callers.close() }

  // MARK: - Answers

  /// Emits the answer to a successful command when its changes are stored.
  func succeed(_ request: CommandRequest, _ outcome: CommandOutcome) {
    let isAboutChanges = outcome.hasChanged ?? !request.command.name.changesNothing
    persistence.whenStored(isAboutChanges: isAboutChanges) { failure in
      if let failure { return self.fail(CommandError(unsaved: failure), answering: request) }
      if let caller = request.caller {
        self.callers.answer(caller, with: .success(outcome))
      } else if request.request != nil || self.runtime.sink.contents.contains(.unmarkedAnswers) {
        self.runtime.answer(.done(request.command.name, outcome), to: request.request)
      }
    }
  }

  func fail(_ error: CommandError, answering request: CommandRequest) {
    if let caller = request.caller {
      persistence.whenStored { _ in self.callers.answer(caller, with: .failure(error)) }
      return
    }
    fail(error.answering(verb: request.command.name.rawValue, request: request.request, line: request.line))
  }

  /// Emits a failure after all earlier answers. A script that does not continue after failures ends immediately.
  func fail(_ error: CommandError) {
    persistence.whenStored { _ in self.runtime.answer(.error(error), to: error.request) }
    guard case .run(let continues) = script else { return }
    let failure = WhiteboardError(error)
    firstFailure = firstFailure ?? failure
    if !continues { runtime.end(.failed(failure)) }
  }

  /// Answers `send` without waiting for the disk, because messages are not stored.
  func answer(_ request: CommandRequest, with report: DeliveryReport) {
    if report.undelivered.isEmpty, let caller = request.caller {
      callers.answer(caller, with: .success(CommandOutcome()))
    } else if report.undelivered.isEmpty {
      runtime.answer(.done(request.command.name, CommandOutcome()), to: request.request)
    } else {
      fail(CommandError(report), answering: request)
    }
  }

  func note(_ remark: SharedBoard.News.Remark) { persistence.whenStored { _ in self.runtime.emit(.note(remark)) } }
}

extension WhiteboardError {
  package init(_ error: CommandError) {
    let code: Code =
      switch error.code {
      case .syntax, .lineTooLong, .unknownCommand, .missingArgument, .badArgument, .unknownArgument: .badData
      case .notSynced: .timedOut
      default: .no
      }
    let line = error.line.map { "line \($0): " } ?? ""
    let verb = error.verb.map { "\($0): " } ?? ""
    self.init(code, "\(line)\(verb)\(error.message)")
  }
}

extension CommandError {
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
    self.init(code, UntrustedText(error.message).escaped())
  }

  init(_ report: DeliveryReport) {
    let missing = report.undelivered.map { "\(EventText.person($0.name, $0.peer)) (\($0.reason))" }
    let count = report.delivered.count
    let others = count == 0 ? "" : "; delivered to \(count) other\(count == 1 ? "" : "s")"
    self.init(.undelivered, "not delivered to \(missing.joined(separator: ", "))\(others)", delivery: report)
  }
}

/// The callers of ``SharedBoard/perform(_:)`` that wait for the result of their command.
struct Callers {
  typealias Outcome = Result<CommandOutcome, CommandError>

  private var waiting: [Int: CheckedContinuation<Outcome, Never>] = [:]
  private var last = 0
  private var isClosed = false

  mutating func reserve() -> Int {
    last += 1
    return last
  }

  mutating func add(_ caller: Int, _ continuation: CheckedContinuation<Outcome, Never>) {
    guard !isClosed else { return continuation.resume(returning: .failure(.closed)) }
    waiting[caller] = continuation
  }

  mutating func answer(_ caller: Int, with outcome: Outcome) {
    waiting.removeValue(forKey: caller)?.resume(returning: outcome)
  }

  mutating func close() {
    isClosed = true
    for continuation in waiting.values { continuation.resume(returning: .failure(.closed)) }
    waiting = [:]
  }
}

extension CommandError {
  static let closed = CommandError(.ending, "the board is closed")
  static let callerCanceled = CommandError(.cancelled, "the task that waited for the command was canceled")

  init(unsaved failure: DocumentError) {
    let problem = SaveProblem(failure)
    self.init(.notSaved, "\(problem.headline). The change is on the board, but not on disk: \(problem.message)")
  }
}

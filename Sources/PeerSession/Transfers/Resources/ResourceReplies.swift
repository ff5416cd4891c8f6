import PeerCore
import PeerWire

/// Receives the answers from a resource's receiver, and checks them against the sender's state.
final class ResourceReplies: BulkFrameSink {
  enum Reply: Sendable {
    case accepted(Control.ResourceAccept)
    case done
    case cancelled(Control.ResourceCancel)
    case ended(BulkEnd)
    /// The waiting task was canceled.
    case interrupted
  }

  /// The sender's last message.
  ///
  /// The message determines the allowed answers.
  enum Phase: Sendable {
    case offered
    case started
    case finished
    /// The local side sent CANCEL. A message that the receiver sent before it received CANCEL is accepted as an answer.
    case cancelled
    /// The last answer arrived.
    case over
  }

  private struct State {
    var phase = Phase.offered
    var replies: [Reply] = []
    var waiter: CheckedContinuation<Reply, Never>?
  }

  private let id: TransferID
  private let size: Int
  private let state = Locked(State())

  init(id: TransferID, size: Int) {
    self.id = id
    self.size = size
  }

  /// Records which message will be sent next.
  func advance(to phase: Phase) { state.withLock { $0.phase = phase } }

  /// Returns the next answer if it has arrived.
  func poll() -> Reply? { state.withLock { $0.replies.isEmpty ? nil : $0.replies.removeFirst() } }

  func next() async -> Reply {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let reply: Reply? = state.withLock { state in
          if !state.replies.isEmpty { return state.replies.removeFirst() }
          if Task.isCancelled { return .interrupted }
          state.waiter = waiter
          return nil
        }
        if let reply { waiter.resume(returning: reply) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        defer { state.waiter = nil }
        return state.waiter
      }
      waiter?.resume(returning: .interrupted)
    }
  }

  func receive(_ frame: BulkFrame, from link: BulkLinkRunner) async throws(BulkViolation) -> Bool {
    let reply: Reply
    switch frame.type {
    case .resourceAccept:
      let accept = try Control.ResourceAccept.decode(frame)
      guard accept.id == id else { return try late(frame, link) }
      guard accept.offset <= size else {
        throw .protocolError("The receiver asks for an offset beyond the end of the file.")
      }
      reply = .accepted(accept)
    case .resourceDone:
      guard try Control.ResourceDone.decode(frame).id == id else { return try late(frame, link) }
      reply = .done
    case .resourceCancel:
      let cancel = try Control.ResourceCancel.decode(frame)
      guard cancel.id == id else { return try late(frame, link) }
      reply = .cancelled(cancel)
    default: throw .unexpected(frame.type)
    }
    let isExpected = state.withLock { state in
      switch (state.phase, reply) {
      case (.offered, .accepted), (.cancelled, .accepted): return true
      case (.finished, .done), (.cancelled, .done): break
      case (.offered, .cancelled), (.started, .cancelled), (.finished, .cancelled), (.cancelled, .cancelled): break
      default: return false
      }
      state.phase = .over
      return true
    }
    guard isExpected else { throw .unexpected(frame.type) }
    put(reply)
    return true
  }

  func linkEnded(_ end: BulkEnd) async { put(.ended(end)) }

  private func late(_ frame: BulkFrame, _ link: BulkLinkRunner) throws(BulkViolation) -> Bool {
    guard link.isLate(frame) else { throw .protocolError("A \(frame.type.name) frame names another transfer.") }
    return true
  }

  private func put(_ reply: Reply) {
    let waiter = state.withLock { state in
      guard let waiter = state.waiter else {
        state.replies.append(reply)
        return nil as CheckedContinuation<Reply, Never>?
      }
      state.waiter = nil
      return waiter
    }
    waiter?.resume(returning: reply)
  }
}

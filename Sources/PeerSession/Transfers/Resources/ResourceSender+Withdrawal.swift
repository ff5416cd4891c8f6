import PeerWire

// The withdrawal of an attempt that the receiver has not ended (RES-4).
extension ResourceSender {
  /// How long to wait for the answer to the local CANCEL.
  private static let withdrawalLimit = Duration.seconds(10)

  /// Sends CANCEL to the receiver, and returns the link to the pool when it is idle (RES-4).
  func withdraw(_ attempt: Attempt, _ code: Control.ResourceCode, _ reason: String, _ pool: BulkPool) async {
    let link = attempt.link
    guard attempt.hasOffered else { return pool.release(link) }
    attempt.replies.advance(to: .cancelled)
    link.markLate(id)
    link.writer.push(Control.ResourceCancel(id: id, code: code, message: reason).bulkFrame())
    guard attempt.hasStarted else { return pool.release(link) }
    let isAnswered = await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        while true {
          switch await attempt.replies.next() {
          case .cancelled, .done: return true
          case .ended, .interrupted: return false
          case .accepted: break
          }
        }
      }
      group.addTask { [context] in
        // The sleep is canceled when the answer has arrived.
        try? await context.time.sleep(Self.withdrawalLimit)
        return false
      }
      let first = await group.next() ?? false
      group.cancelAll()
      return first
    }
    if isAnswered { pool.release(link) } else { link.abandon() }
  }
}

extension SessionError {
  /// Whether a later attempt to open a link may succeed (``BulkLinkProvider/openLink(to:)``).
  var mayTryLater: Bool { code == .busy || code == .unreachable || code == .timedOut }
}

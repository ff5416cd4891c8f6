import NIOConcurrencyHelpers

/// Counts the messages that were sent to one relayed peer, and those that it confirmed (RLY-9).
///
/// An acknowledgement by the relay does not cover the peer behind it. Senders count messages while they hold the lock
/// of the session's published state, so that message numbers and CONFIRMs follow the order of the outbox.
final class RouteLedger: Sendable {
  private struct State {
    var sent: UInt64 = 0
    var confirmed: UInt64 = 0
    /// The number of messages sent before each unanswered CONFIRM.
    var asked: [(token: UInt64, sent: UInt64)] = []
  }

  /// The maximum number of remembered CONFIRMs; an answer to an older one is ignored.
  private static let maximumAsked = 1_024

  private let state = NIOLockedValueBox(State())

  /// Counts one message.
  ///
  /// - Returns: The number of the message, starting at 1.
  func countMessage() -> UInt64 {
    state.withLockedValue { state in
      state.sent += 1
      return state.sent
    }
  }

  /// Records that CONFIRM was sent after all messages so far.
  ///
  /// - Parameter token: The token of the CONFIRM; each token is greater than the previous one.
  func asked(_ token: UInt64) {
    state.withLockedValue { state in
      if state.asked.count >= Self.maximumAsked { state.asked.removeFirst() }
      state.asked.append((token, state.sent))
    }
  }

  /// Records the answer to a CONFIRM.
  ///
  /// - Parameter token: The token in the answer; an unknown token is ignored.
  func confirmed(_ token: UInt64) {
    state.withLockedValue { state in
      guard let index = state.asked.firstIndex(where: { $0.token == token }) else { return }
      state.confirmed = max(state.confirmed, state.asked[index].sent)
      state.asked.removeSubrange(...index)
    }
  }

  /// Returns whether the peer confirmed a message.
  ///
  /// - Parameter number: The number that ``countMessage()`` returned.
  /// - Returns: Whether the peer confirmed the message.
  func isConfirmed(_ number: UInt64) -> Bool { state.withLockedValue { number <= $0.confirmed } }

  /// The number of messages that the peer has not confirmed.
  var unconfirmed: Int { state.withLockedValue { Int($0.sent - $0.confirmed) } }
}

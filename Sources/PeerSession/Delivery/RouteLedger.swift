import NIOConcurrencyHelpers

/// Counts the messages that were sent to one relayed peer, and those that it confirmed (RLY-9).
///
/// An acknowledgement by the relay says nothing of the peer behind it. Senders count under the lock of
/// the session's published state, so that numbers and CONFIRM are in the order of the outbox.
final class RouteLedger: Sendable {
  private struct State {
    var sent: UInt64 = 0
    var confirmed: UInt64 = 0
    /// How many messages were sent before each CONFIRM that is not answered.
    var asked: [(token: UInt64, sent: UInt64)] = []
  }

  /// How many unanswered CONFIRMs are remembered; an answer to an older one tells nothing.
  private static let maximumAsked = 1_024

  private let state = NIOLockedValueBox(State())

  /// Counts one message.
  ///
  /// - Returns: Its number, from 1.
  func countMessage() -> UInt64 {
    state.withLockedValue { state in
      state.sent += 1
      return state.sent
    }
  }

  /// Notes that CONFIRM was sent behind all messages so far.
  ///
  /// - Parameter token: Its token; tokens rise.
  func asked(_ token: UInt64) {
    state.withLockedValue { state in
      if state.asked.count >= Self.maximumAsked { state.asked.removeFirst() }
      state.asked.append((token, state.sent))
    }
  }

  /// Notes the answer to CONFIRM.
  ///
  /// - Parameter token: The token in it; an unknown one changes nothing.
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
  /// - Returns: Whether it did.
  func isConfirmed(_ number: UInt64) -> Bool { state.withLockedValue { number <= $0.confirmed } }

  /// How many messages the peer has not confirmed.
  var unconfirmed: Int { state.withLockedValue { Int($0.sent - $0.confirmed) } }
}

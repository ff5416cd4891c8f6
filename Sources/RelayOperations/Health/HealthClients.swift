import NIOConcurrencyHelpers
import NIOCore

/// The clients of a server, and the number of their pending requests.
final class HealthClients: Sendable {
  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var questions = 0
  }

  private let limit: Int
  private let state = NIOLockedValueBox(State())

  init(limit: Int) { self.limit = limit }

  /// Whether there is room for one more.
  ///
  /// One that there is no room for counts all the same until it is closed.
  func admit(_ channel: any Channel) -> Bool {
    let id = ObjectIdentifier(channel)
    let count = state.withLockedValue {
      $0.channels[id] = channel
      return $0.channels.count
    }
    channel.closeFuture.whenComplete { _ in
      self.state.withLockedValue { $0.channels[id] = nil }
    }
    return count <= limit
  }

  /// Whether one more request may be thought about.
  ///
  /// An endpoint that hangs would otherwise gather them for ever.
  func beginAsking() -> Bool {
    state.withLockedValue {
      guard $0.questions < limit else { return false }
      $0.questions += 1
      return true
    }
  }

  func endAsking() { state.withLockedValue { $0.questions -= 1 } }

  func closeAll(after listener: any Channel) async {
    // Either may be closed by now, and that is what is wanted.
    try? await listener.close()
    let channels = state.withLockedValue { Array($0.channels.values) }
    for channel in channels { try? await channel.close() }
  }
}

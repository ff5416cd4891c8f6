import NIOCore
import PeerCore

/// The clients of a server, and the number of their pending requests.
final class HealthClients: Sendable {
  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    /// The clients whose requests are incomplete, oldest first.
    var incomplete: [ObjectIdentifier] = []
    var requests = 0
  }

  private let limit: Int
  private let state = Locked(State())

  init(limit: Int) { self.limit = limit }

  /// If the limit is reached, the connection of the oldest client with an incomplete request is closed, so that silent
  /// connections cannot block a health check.
  ///
  /// A client for which there is no room is included in the limit until its connection is closed.
  func admit(_ channel: any Channel) -> Bool {
    let id = ObjectIdentifier(channel)
    let (isAdmitted, dropped) = state.withLock { state -> (Bool, (any Channel)?) in
      let isFull = state.channels.count >= limit
      state.channels[id] = channel
      guard isFull else {
        state.incomplete.append(id)
        return (true, nil)
      }
      guard let oldest = state.incomplete.first else { return (false, nil) }
      state.incomplete.removeFirst()
      state.incomplete.append(id)
      // The slot becomes free immediately, even before the dropped connection has closed.
      return (true, state.channels.removeValue(forKey: oldest))
    }
    channel.closeFuture.whenComplete { _ in
      self.state.withLock {
        $0.channels[id] = nil
        $0.incomplete.removeAll { $0 == id }
      }
    }
    dropped?.close(promise: nil)
    return isAdmitted
  }

  /// Records that a client has nothing more to send, because its request is complete or refused.
  func endReading(_ channel: any Channel) {
    let id = ObjectIdentifier(channel)
    state.withLock { $0.incomplete.removeAll { $0 == id } }
  }

  /// Returns whether one more request may be passed to an endpoint.
  ///
  /// If so, the request is counted. The limit prevents requests from piling up if an endpoint hangs.
  func beginRequest() -> Bool {
    state.withLock {
      guard $0.requests < limit else { return false }
      $0.requests += 1
      return true
    }
  }

  /// Records that an endpoint has answered.
  func endRequest() { state.withLock { $0.requests -= 1 } }

  func closeAll(after listener: any Channel) async {
    // Ignore errors, because the channels may already be closed.
    try? await listener.close()
    let channels = state.withLock { Array($0.channels.values) }
    for channel in channels { try? await channel.close() }
  }
}

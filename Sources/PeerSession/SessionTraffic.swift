import PeerCore

/// Traffic between an application and a session, as `Session.observeTraffic(_:)` reports it.
public enum SessionTraffic: Sendable {
  /// The application received an event.
  indirect case event(SessionEvent)
  /// A message to these peers was accepted.
  case message([UInt8], to: [PeerID])
  /// A datagram to these peers was accepted.
  case datagram([UInt8], to: [PeerID])
  /// The application opened a stream. A stream opened by a peer is reported as an event.
  case openedStream(PeerStream)
  /// Bytes of a stream were written or read.
  case streamBytes([UInt8], of: PeerStream, isSent: Bool)
  /// One direction of a stream ended.
  case streamFinished(PeerStream, isSent: Bool)
  /// A stream broke or was reset. This may be reported more than once for a stream.
  indirect case streamBroke(PeerStream, SessionError)
}

final class TrafficObservation: Sendable {
  private let observer = Locked<(@Sendable (SessionTraffic) -> Void)?>(nil)

  func set(_ observer: (@Sendable (SessionTraffic) -> Void)?) { self.observer.withLock { $0 = observer } }

  func report(_ traffic: @autoclosure () -> SessionTraffic) {
    guard let observer = observer.withLock({ $0 }) else { return }
    let traffic = traffic()
    switch traffic {
    case .openedStream(let stream), .event(.streamOpened(let stream)): stream.observation.set(observer)
    default: break
    }
    observer(traffic)
  }

  func report(_ event: SessionEvent) { report(.event(event)) }
}

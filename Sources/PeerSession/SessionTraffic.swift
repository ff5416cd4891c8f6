import NIOConcurrencyHelpers

/// One exchange between an application and a session (``Session/observeTraffic(_:)``).
public enum SessionTraffic: Sendable {
  /// The application received an event.
  indirect case event(SessionEvent)
  /// A message was accepted for these peers.
  case message([UInt8], to: [PeerID])
  /// A datagram was accepted for these peers.
  case datagram([UInt8], to: [PeerID])
  /// The application opened a stream; one that a peer opened is an event.
  case openedStream(PeerStream)
  /// Bytes of a stream were written or read.
  case streamBytes([UInt8], of: PeerStream, isSent: Bool)
  /// One direction of a stream ended.
  case streamFinished(PeerStream, isSent: Bool)
  /// A stream broke or was reset; it may be reported more than once.
  indirect case streamBroke(PeerStream, SessionError)
}

/// The observers of the traffic of a session or a stream.
final class TrafficObservation: Sendable {
  private let observer = NIOLockedValueBox<(@Sendable (SessionTraffic) -> Void)?>(nil)

  func set(_ observer: (@Sendable (SessionTraffic) -> Void)?) {
    self.observer.withLockedValue { $0 = observer }
  }

  /// Passes traffic to the observer, if there is one.
  func report(_ traffic: @autoclosure () -> SessionTraffic) {
    guard let observer = observer.withLockedValue({ $0 }) else { return }
    let traffic = traffic()
    switch traffic {
    case .openedStream(let stream), .event(.streamOpened(let stream)):
      stream.observation.set(observer)
    default: break
    }
    observer(traffic)
  }

  /// Reports an event that the application received.
  func report(_ event: SessionEvent) { report(.event(event)) }
}

import PeerCore
import PeerDiscovery

/// One step of an attempt to join, to show to a waiting user.
public enum JoinStep: Equatable, Sendable {
  /// The local peer dials an address.
  case connecting(PeerAddress)
  /// A program at the address accepted the connection, but has not answered yet.
  case awaitingAnswer(PeerAddress)
  /// The peer asked for the code; the local peer sends a proof that it knows the code.
  case provingCode
  /// The other peer's user is deciding; the value is the user's display name.
  case awaitingAcceptance(UntrustedText)
  /// An announced peer that the link does not name did not admit the local peer; the next one is dialed.
  case refused(by: PeerID, SessionError)
  /// The attempt failed for a temporary reason, and the local peer will soon dial the listener again.
  case retrying(SessionError)
}

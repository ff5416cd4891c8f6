import PeerCore
import PeerDiscovery

/// One step of an attempt to join, to show to a waiting user.
public enum JoinStep: Equatable, Sendable {
  /// The local peer dials an address.
  case connecting(PeerAddress)
  /// A program at the address accepted the connection and has not answered yet.
  case awaitingAnswer(PeerAddress)
  /// The peer asked for the code; the local peer sends a proof that it knows the code.
  case provingCode
  /// The user of the other program, with this display name, decides.
  case awaitingAcceptance(UntrustedText)
  /// The attempt failed for a reason that may pass, and the listener is dialed again in a moment.
  case retrying(SessionError)
}

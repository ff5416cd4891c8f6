import PeerDiscovery

/// One step of an attempt to join, for people who wait for it.
public enum JoinStep: Equatable, Sendable {
  /// An address is dialled.
  case connecting(PeerAddress)
  /// Something at the address accepted the connection and has not answered yet.
  case awaitingAnswer(PeerAddress)
  /// The peer at the other end asked for the code, and is sent a proof of it.
  case provingCode
  /// The user of the other program, with this display name, decides.
  case awaitingAcceptance(UntrustedText)
}

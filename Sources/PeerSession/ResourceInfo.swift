import PeerDiscovery

/// The properties of a transfer that are known before its bytes.
public struct ResourceInfo: Sendable, Hashable {
  /// Which way the bytes go.
  public enum Direction: String, Sendable {
    /// From the peer to us.
    case incoming
    /// From us to the peer.
    case outgoing
  }

  /// Names the transfer; the same when it goes on over another link.
  public var id: TransferID
  /// The name given by the sender; free text, never a path.
  public var name: UntrustedText
  /// The number of bytes; 0 for a transfer of ours that ended before its file was open.
  public var size: Int
  /// The peer at the other end.
  public var peer: PeerID
  /// Which way the bytes go.
  public var direction: Direction
  /// The bytes that the receiver had from before when the transfer began here.
  public var resumedFrom: Int
}

/// A transfer that is whole and verified.
public struct ReceivedResource: Sendable, Hashable {
  /// The path of the file in the inbox; `nil` on the sender's side.
  public var path: String?
  /// Lower-case hex SHA-256 of the whole.
  public var sha256: String
  /// The number of bytes.
  public var size: Int
}

/// How far a transfer is.
public struct ResourceProgress: Sendable, Hashable {
  /// The bytes that are across, those of earlier links counted.
  public var bytes: Int
  /// The bytes there are.
  public var total: Int
}

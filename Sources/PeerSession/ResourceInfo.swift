import PeerCore
import PeerDiscovery

/// The properties of a transfer that are known before its bytes arrive.
public struct ResourceInfo: Sendable, Hashable {
  /// The direction of the bytes.
  public enum Direction: String, Sendable {
    /// From the other peer to the local peer.
    case incoming
    /// From the local peer to the other peer.
    case outgoing
  }

  /// The identifier of the transfer, the same on every link that it uses.
  public var id: TransferID
  /// The name given by the sender; free text, never a path.
  public var name: UntrustedText
  /// The size in bytes; 0 for an outgoing transfer that ended before its file was opened.
  public var size: Int
  /// The peer at the other end.
  public var peer: PeerID
  /// The direction of the bytes.
  public var direction: Direction
  /// The number of bytes that the receiver already had when this transfer began.
  public var resumedFrom: Int
}

/// A resource that was transferred completely and verified.
public struct ReceivedResource: Sendable, Hashable {
  /// The path of the file in the inbox; `nil` on the sender's side.
  public var path: String?
  /// The SHA-256 of the whole resource, 32 bytes.
  public var sha256: [UInt8]
  /// The number of bytes.
  public var size: Int
}

/// The progress of a transfer.
public struct ResourceProgress: Sendable, Hashable {
  /// The number of bytes transferred so far, including those over earlier links.
  public var bytes: Int
  /// The size of the resource in bytes.
  public var total: Int
}

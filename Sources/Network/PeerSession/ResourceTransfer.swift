import PeerCore
import PeerDiscovery

/// The outgoing transfer of a resource to one peer.
///
/// Releasing this object does not end the transfer.
public final class ResourceTransfer: Sendable {
  /// The identifier of the transfer, the same on both sides.
  public let id: TransferID
  /// The progress, at most ten times a second; a slow reader gets only the newest element.
  ///
  /// The sequence supports one reader and ends with the transfer. If the receiver has the whole file, the last element
  /// counts all bytes.
  public let progress: AsyncStream<ResourceProgress>

  private let sender: ResourceSender

  init(_ sender: ResourceSender) {
    self.sender = sender
    id = sender.id
    progress = sender.progress
  }

  /// Waits until the receiver has received and verified the whole resource.
  ///
  /// If a link breaks, the transfer continues from where it stopped, unless the peer is lost (RES-5). Canceling the
  /// waiting task does not cancel the transfer.
  ///
  /// - Returns: The size and the hash of the resource; `path` is `nil`.
  /// - Throws: The reason why the transfer failed: `transferCancelled`, `declined`, `busy`, `sourceChanged`,
  ///   `sourceUnreadable`, `diskFull`, `quota`, `hashMismatch` or `system`; `peerLost` if the peer is out of the
  ///   session; `sessionEnded` if the local peer left the session; `cancelled` if the waiting task is canceled.
  public func result() async throws(SessionError) -> ReceivedResource { try await sender.outcome.value() }

  /// Cancels the transfer.
  ///
  /// The transfer fails with `transferCancelled`, and the receiver drops the received bytes. If the transfer has
  /// already ended, this method does nothing.
  public func cancel() { sender.cancel() }
}

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
  /// The number of bytes transferred so far, including the bytes over earlier links.
  public var bytes: Int
  /// The size of the resource in bytes.
  public var total: Int
}

/// A receipt that reports whether each recipient has confirmed a reliable message.
///
/// ``Session/send(_:to:mode:)`` returns a receipt. A receipt stays valid after a peer leaves the session.
/// ``SessionEvent/peerLeft(_:_:undelivered:)`` reports the number of messages that a peer had not confirmed when it
/// left.
public struct SendReceipt: Sendable {
  struct Track: Sendable {
    var peer: PeerID
    var joinGeneration: UInt64
    var means: Means
  }

  enum Means: Sendable {
    case link(Outbox, UInt64)
    case relay(RouteLedger, UInt64)
  }

  var tracks: [Track]

  /// The recipients; empty for a datagram.
  public var peers: [PeerID] { tracks.map(\.peer) }

  /// Returns whether a peer's process has confirmed the message.
  ///
  /// A relayed peer confirms only on request: ``Session/confirmation(of:by:)`` sends the request.
  ///
  /// - Parameter peer: One of ``peers``.
  /// - Returns: Whether the peer has confirmed the message; `false` for a peer that is not a recipient.
  public func isConfirmed(by peer: PeerID) -> Bool {
    guard let track = tracks.first(where: { $0.peer == peer }) else { return false }
    return switch track.means {
    case .link(let outbox, let sequence): outbox.acknowledged >= sequence
    case .relay(let ledger, let number): ledger.isConfirmed(number)
    }
  }
}

extension SendReceipt.Track {
  init(_ recipient: Routes.Recipient, _ means: SendReceipt.Means) {
    self.init(peer: recipient.peer, joinGeneration: recipient.joinGeneration, means: means)
  }
}

extension Outbox {
  func track(_ sequence: UInt64) -> SendReceipt.Track {
    SendReceipt.Track(peer: peer, joinGeneration: joinGeneration, means: .link(self, sequence))
  }
}

extension Session {
  /// Waits until a peer's process has received a message.
  ///
  /// A relayed peer is asked for a confirmation (RLY-9).
  ///
  /// - Parameters:
  ///   - receipt: The receipt of the message.
  ///   - peer: One of its ``SendReceipt/peers``.
  /// - Throws: `notConnected` if the message was not sent to that peer, or the peer left before it confirmed the
  ///   message; `peerLost` if the peer was lost; `sessionEnded`; `cancelled`.
  public func confirmation(of receipt: SendReceipt, by peer: PeerID) async throws(SessionError) {
    try await sender.confirmation(of: receipt, by: peer)
  }
}

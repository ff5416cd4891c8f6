/// The outgoing transfer of a resource to one peer.
///
/// Releasing this object does not end the transfer.
public final class ResourceTransfer: Sendable {
  /// The identifier of the transfer, the same on both sides.
  public let id: TransferID
  /// The progress, at most ten times a second; a slow reader gets only the newest element.
  ///
  /// The sequence supports one reader and ends with the transfer. If the receiver has the whole file, the last element
  /// has all bytes.
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

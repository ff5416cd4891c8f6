/// The outgoing transfer of a resource to one peer.
///
/// Releasing this object does not end the transfer.
public final class ResourceTransfer: Sendable {
  /// The identifier of the transfer, the same on both sides.
  public let id: TransferID
  /// The progress, at most ten times a second; a slow reader gets only the newest element.
  ///
  /// The sequence supports one reader and ends with the transfer. If the receiver has the whole
  /// file, the last element has all bytes.
  public let progress: AsyncStream<ResourceProgress>

  private let sender: ResourceSender

  init(_ sender: ResourceSender) {
    self.sender = sender
    id = sender.id
    progress = sender.progress
  }

  /// Waits until the receiver has the whole resource and verified it.
  ///
  /// A broken link does not end a transfer: it continues from where it stopped, unless the peer is
  /// lost (RES-5). Canceling the waiting task does not cancel the transfer.
  ///
  /// - Returns: The size and the hash; the sender's side has no path.
  /// - Throws: `transferCancelled`, `declined`, `busy`, `sourceChanged`, `sourceUnreadable`,
  ///   `diskFull`, `quota`, `hashMismatch`, `system`; `peerLost` if the peer is out of the session;
  ///   `sessionEnded` if the local peer left the session; `cancelled` if the waiting task is
  ///   canceled.
  public func result() async throws(SessionError) -> ReceivedResource {
    try await sender.outcome.value()
  }

  /// Cancels the transfer, which ends with `transferCancelled`; the receiver drops its bytes.
  ///
  /// Does nothing if the transfer has ended.
  public func cancel() { sender.cancel() }
}

/// A resource on its way to one peer.
///
/// Letting go of it does not end the transfer.
public final class ResourceTransfer: Sendable {
  /// Names the transfer, here and at the receiver.
  public let id: TransferID
  /// The progress, at most ten times a second; a slow reader gets the newest element.
  ///
  /// For one reader. It ends with the transfer. If the receiver has the whole file, the last element
  /// has all bytes.
  public let progress: AsyncStream<ResourceProgress>

  private let sender: ResourceSender

  init(_ sender: ResourceSender) {
    self.sender = sender
    id = sender.id
    progress = sender.progress
  }

  /// Waits until the receiver has all of it, verified.
  ///
  /// A broken link does not end a transfer: it goes on where it was, while the peer is not lost
  /// (RES-5). Cancelling the waiting task does not cancel the transfer.
  ///
  /// - Returns: Size and hash; there is no path on this side.
  /// - Throws: `transferCancelled`, `declined`, `busy`, `sourceChanged`, `sourceUnreadable`,
  ///   `diskFull`, `quota`, `hashMismatch`, `system`; `peerLost` when the peer is out of the
  ///   session; `sessionEnded` when the session was left here; `cancelled` when the waiting task is
  ///   cancelled.
  public func result() async throws(SessionError) -> ReceivedResource {
    try await sender.outcome.value()
  }

  /// Ends the transfer with `transferCancelled`; the receiver drops what it has of it.
  ///
  /// Does nothing when it has ended.
  public func cancel() { sender.cancel() }
}

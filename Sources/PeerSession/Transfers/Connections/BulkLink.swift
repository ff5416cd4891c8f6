import NIOCore
import NIOPosix
import PeerWire

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A bulk link that is attached and not in use yet.
///
/// The owner must pass it to a ``BulkEndpoint`` or end it with ``discard()``.
struct BulkLink: Sendable {
  /// The incoming frames.
  ///
  /// Outgoing frames are written to the channel by ``BulkWriter``.
  let channel: NIOAsyncChannel<BulkFrame, ByteBuffer>

  /// Adds the remaining handlers to a channel after ATTACHED.
  ///
  /// At most two reads of 256 KiB are buffered for the task that reads the link. ``StreamCore`` buffers its own limit
  /// and one more read. Together, they stay below the 1 MiB limit of STR-2.
  ///
  /// - Precondition: Called on the channel's event loop.
  @Sendable static func wrap(_ channel: any Channel) throws -> BulkLink {
    try prepare(channel)
    try channel.pipeline.syncOperations.addHandler(BulkFrameDecoder())
    return BulkLink(
      channel: try NIOAsyncChannel(
        wrappingChannelSynchronously: channel,
        configuration: .init(backPressureStrategy: .init(lowWatermark: 1, highWatermark: 2))
      )
    )
  }

  /// Sets the options of all bulk links: large reads, and keep-alive.
  static func prepare(_ channel: any Channel) throws {
    let options = channel.syncOptions
    try options?.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 262_144))
    try options?.setOption(.maxMessagesPerRead, value: 1)
    // A side that only reads needs keep-alive to detect a broken path.
    try options?.setOption(.socketOption(.so_keepalive), value: 1)
    for (name, value) in [(TCP_KEEPIDLE, 10), (TCP_KEEPINTVL, 3), (TCP_KEEPCNT, 4)] {
      try options?.setOption(.tcpOption(NIOBSDSocket.Option(rawValue: name)), value: .init(value))
    }
  }

  /// Closes an unused link with `left` (BLK-5).
  func discard() async {
    // The link is unused, so an error in closing it does not matter.
    try? await channel.executeThenClose { _, outbound in try await outbound.write(Control.Close(.left, "").bulkFrame())
    }
  }
}

/// Opens bulk links on which the local peer is the opener (8.1).
protocol BulkLinkProvider: Sendable {
  /// Dials and attaches a link, or asks the peer to dial one; throws ``SessionError``.
  ///
  /// After `busy`, `unreachable` or `timedOut`, the caller can try again later. After any other code, no further link
  /// can be opened. The call waits while the peer is reconnecting.
  func openLink(to peer: PeerID) async throws(SessionError) -> BulkLink
}

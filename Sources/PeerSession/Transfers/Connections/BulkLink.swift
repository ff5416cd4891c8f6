import NIOCore
import NIOPosix
import PeerWire

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A bulk link that is attached, before anything runs on it.
///
/// Whoever has one must hand it to a ``BulkEndpoint`` or end it with ``discard()``.
struct BulkLink: Sendable {
  /// Frames in; whole encoded frames out, written to the channel itself by ``BulkWriter``.
  let channel: NIOAsyncChannel<BulkFrame, ByteBuffer>

  /// Adds the last handlers to a channel on which ATTACHED has passed.
  ///
  /// At most two reads of 256 KiB wait here for whoever reads the link; with what ``StreamCore``
  /// holds, its limit and one read more, that stays under the 1 MiB of STR-2.
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

  /// Sets what every bulk link has: large reads, and keep-alive.
  static func prepare(_ channel: any Channel) throws {
    let options = channel.syncOptions
    try options?.setOption(
      .recvAllocator,
      value: FixedSizeRecvByteBufferAllocator(capacity: 262_144)
    )
    try options?.setOption(.maxMessagesPerRead, value: 1)
    // A side that only reads learns of a dead path by these alone.
    try options?.setOption(.socketOption(.so_keepalive), value: 1)
    for (name, value) in [(TCP_KEEPIDLE, 10), (TCP_KEEPINTVL, 3), (TCP_KEEPCNT, 4)] {
      try options?.setOption(.tcpOption(NIOBSDSocket.Option(rawValue: name)), value: .init(value))
    }
  }

  /// Closes a link that nobody will use, with `left` (BLK-5).
  func discard() async {
    // The link is worthless already: an error in closing it tells nothing.
    try? await channel.executeThenClose { _, outbound in
      try await outbound.write(Control.Close(.left, "").bulkFrame())
    }
  }
}

/// Who makes bulk links on which we are the opener (8.1).
protocol BulkLinkProvider: Sendable {
  /// Dials and attaches a link, or asks the peer for one; waits while the peer is reconnecting.
  ///
  /// - Throws: ``SessionError``; with `busy`, `unreachable` or `timedOut` the caller tries again
  ///   later, with any other there will be no more links.
  func openLink(to peer: PeerID) async throws(SessionError) -> BulkLink
}

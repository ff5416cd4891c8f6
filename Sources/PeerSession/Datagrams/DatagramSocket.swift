import NIOCore
import NIOPosix
import PeerWire

/// Reads the UDP socket and passes each packet to the link with its key id.
///
/// A packet that belongs to no link is dropped without being opened. The handler never answers a packet.
private final class DatagramSocketHandler: ChannelInboundHandler {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>

  private unowned let transport: TransportCore

  init(_ transport: TransportCore) { self.transport = transport }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let envelope = unwrapInboundIn(data)
    let packet = Array(envelope.data.readableBytesView)
    guard let header = try? PacketHeader.read(packet: packet.span), let link = transport.datagramLinks[header.keyID]
    else { return }
    link.packetReceived(packet, from: envelope.remoteAddress)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    for session in transport.sessions.values { session.deliverEvents() }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // An ICMP error from one peer must not close the socket that all peers share.
  }
}

extension TransportCore {
  private static let packetsPerRead = 32

  /// Binds the UDP socket, on all interfaces if `interface` is zero.
  func bindDatagrams(_ address: SocketAddress, on interface: CInt) -> EventLoopFuture<any Channel> {
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let bootstrap = DatagramBootstrap(group: eventLoop)
    return (interface == 0 ? bootstrap : bootstrap.channelOption(.boundInterface, value: Int(interface))).channelOption(
      .datagramVectorReadMessageCount,
      value: Self.packetsPerRead
    )  // One read returns many packets, so a second read would rarely find any.
    .channelOption(.maxMessagesPerRead, value: 1).channelOption(
      .recvAllocator,
      value: FixedSizeRecvByteBufferAllocator(capacity: Self.packetsPerRead * 2_048)
    ).channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(DatagramSocketHandler(bound.value))
      }
    }.bind(to: address)
  }

  /// Queues a packet, or drops it if the socket's buffer is full.
  func writeDatagram(_ packet: [UInt8], to remote: SocketAddress) {
    guard let channel = datagramChannel, channel.isWritable else { return }
    channel.write(AddressedEnvelope(remoteAddress: remote, data: ByteBuffer(bytes: packet)), promise: nil)
  }

  func flushDatagrams() { datagramChannel?.flush() }
}

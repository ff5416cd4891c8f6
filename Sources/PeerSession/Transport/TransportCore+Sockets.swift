import NIOCore
import NIOPosix

extension TransportCore {
  /// Binds TCP and UDP to the same port and begins to listen.
  ///
  /// - Returns: The port.
  func bind(_ host: String, _ port: Int) -> EventLoopFuture<Int> {
    let address: SocketAddress
    do {
      address = try .makeScoped(host: host, port: port)
    } catch {
      return eventLoop.makeFailedFuture(error)
    }
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    return serverBootstrap().bind(to: address).flatMap { tcp in
      let transport = bound.value
      guard let port = tcp.localAddress?.port,
        let udpAddress = try? SocketAddress.makeScoped(host: host, port: port)
      else {
        return transport.eventLoop.makeFailedFuture(ChannelError.unknownLocalAddress)
      }
      return transport.bindDatagrams(udpAddress).map { udp in
        bound.value.listening(on: tcp, udp, port: port)
        return port
      }.flatMapError { error in
        tcp.close().recover { _ in }.flatMapThrowing { throw error }
      }
    }
  }
}

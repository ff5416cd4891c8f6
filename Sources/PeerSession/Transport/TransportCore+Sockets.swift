import NIOCore
import NIOPosix

extension TransportCore {
  /// Binds TCP and UDP to the same port and begins to listen.
  ///
  /// If the configuration names an interface, the first TCP socket is that of the loopback interface;
  /// ``listenOnInterface()`` adds the other one.
  ///
  /// - Returns: The port.
  func bind(_ host: String, _ port: Int) -> EventLoopFuture<Int> {
    let address: SocketAddress
    do { address = try .makeScoped(host: host, port: port) } catch { return eventLoop.makeFailedFuture(error) }
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let isRestricted = interface != nil && isAny(host)
    let first = isRestricted ? ListeningInterface.loopback ?? 0 : 0
    return serverBootstrap(on: first).bind(to: address).flatMap { tcp in
      let transport = bound.value
      guard let port = tcp.localAddress?.port, let udpAddress = try? SocketAddress.makeScoped(host: host, port: port)
      else { return transport.eventLoop.makeFailedFuture(ChannelError.unknownLocalAddress) }
      let index = isRestricted ? transport.interface?.index ?? first : 0
      return transport.bindDatagrams(udpAddress, on: index).flatMap { udp in
        let transport = bound.value
        transport.listening(on: tcp, udp, port: port)
        guard isRestricted else { return transport.eventLoop.makeSucceededFuture(port) }
        transport.restrictedHost = host
        return transport.listenOnInterface().map { port }.flatMapError { error in
          udp.close().recover { _ in }.flatMapThrowing { throw error }
        }
      }.flatMapError { error in tcp.close().recover { _ in }.flatMapThrowing { throw error } }
    }
  }

  private func isAny(_ host: String) -> Bool { host == "::" || host == "0.0.0.0" }

  /// Listens on the interface that the configuration names, also after the interface was replaced.
  @discardableResult func listenOnInterface() -> EventLoopFuture<Void> {
    guard let restrictedHost, let index = interface?.index, index != interfaceIndex,
      index != ListeningInterface.loopback,
      let address = try? SocketAddress.makeScoped(host: restrictedHost, port: port)
    else { return eventLoop.makeSucceededVoidFuture() }
    interfaceIndex = index
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    return serverBootstrap(on: index).bind(to: address).map { bound.value.add($0) }.flatMapErrorThrowing { error in
      bound.value.interfaceIndex = 0
      throw error
    }
  }
}

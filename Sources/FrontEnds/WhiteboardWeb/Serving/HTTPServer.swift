import NIOCore
import NIOPosix
import NIOSSL
import WhiteboardKit

/// The routes of a server, and its connections. Confined to the event loop of the server.
package protocol HTTPServerRoutes: HTTPRoutes {
  /// Adds the handlers of HTTP to a new connection.
  func accept(_ channel: any Channel) throws

  /// The open connections.
  var channels: [any Channel] { get }
}

/// The reason why a server cannot listen on its address.
package struct HTTPBindError: Error, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

/// Runs a server while `body` runs, and then closes every connection. `body` gets the port. If `security` is nil, the
/// server does not use TLS. Throws ``HTTPBindError`` if the server cannot listen on the address.
package func withHTTPServer<Result>(
  _ routes: sending any HTTPServerRoutes,
  host: String,
  port: Int,
  group: any EventLoopGroup,
  security: NIOSSLContext? = nil,
  isolation: isolated (any Actor)? = #isolation,
  _ body: (Int) async throws -> Result
) async throws -> Result {
  // Use one event loop, because there are few connections, and they must be counted in order of arrival.
  let loop = group.next()
  let routes = NIOLoopBoundBox.makeBoxSendingValue(routes, eventLoop: loop)
  let listener: any Channel
  do {
    listener = try await ServerBootstrap(group: loop).serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.allowRemoteHalfClosure, value: true).childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          if let security { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: security)) }
          try routes.value.accept(channel)
        }
      }.bind(host: host, port: port).get()
  } catch {
    let reason =
      switch error {
      case let error as IOError: SystemError.words(for: error.errnoCode)
      case is SocketAddressError.UnknownHost: "this host name is unknown"
      default: "\(error)"
      }
    throw HTTPBindError("cannot listen on \(host) port \(port): \(reason)")
  }
  let result: Swift.Result<Result, any Error>
  do { result = .success(try await body(listener.localAddress?.port ?? port)) } catch { result = .failure(error) }
  // Ignore errors, because the channels may already be closed.
  try? await listener.close()
  // Close all at once, because a client that does not answer delays the end of TLS.
  let closed = try await loop.submit { routes.value.channels.map { $0.close() } }.get()
  for future in closed { try? await future.get() }
  return try result.get()
}

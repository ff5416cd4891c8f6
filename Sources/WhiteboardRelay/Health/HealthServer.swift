import Glibc
import NIOCore
import NIOPosix

/// A server that answers `/healthz`, `/readyz`, `/metrics` and `/version` over HTTP/1.1.
///
/// By default it is reachable only from this machine. Each connection gets one answer and is closed. The size of a
/// request's head is limited, and a request must not have a body. If a client does not send its request and read the
/// answer in time, its connection is closed.
public struct HealthServer: Sendable {
  /// The address on which the server listens, and its limits.
  public struct Configuration: Sendable {
    /// The address on which to listen.
    ///
    /// Any address other than loopback exposes the metrics to the network.
    public var host = "127.0.0.1"
    /// The port on which to listen; 0 chooses any free port.
    public var port = 26_274
    /// The maximum number of open connections.
    ///
    /// At the limit, a new connection replaces the oldest connection with an incomplete request. If there is no such
    /// connection, the server answers the new connection with 503.
    public var maximumConnections = 32
    /// The maximum size of a request's head in bytes.
    public var maximumHeadSize = 8 * 1_024
    /// The maximum time that a connection may stay open.
    public var connectionTimeout: Duration = .seconds(10)
    /// The maximum time that an endpoint may take to answer.
    public var answerTimeout: Duration = .seconds(5)

    /// Creates a configuration with the default port, on loopback.
    public init() {}
  }

  /// The reason why the server cannot listen.
  public struct BindError: Error, Sendable, CustomStringConvertible {
    /// A description of the reason.
    public let description: String
  }

  /// The port on which the server listens.
  public let port: Int
}

/// Runs a health server while `body` runs.
///
/// When `body` returns or throws, the server closes every connection.
/// - Throws: ``HealthServer/BindError`` if the server cannot listen on the address, and the errors of `body`.
public func withHealthServer<Result>(
  _ endpoints: HealthEndpoints,
  configuration: HealthServer.Configuration = HealthServer.Configuration(),
  group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
  isolation: isolated (any Actor)? = #isolation,
  _ body: (HealthServer) async throws -> Result
) async throws -> Result {
  let clients = HealthClients(limit: configuration.maximumConnections)
  let listener: any Channel
  do {
    // Use one event loop, because there are few connections, and they must be counted in order of arrival.
    listener = try await ServerBootstrap(group: group.next()).serverChannelOption(
      .socketOption(.so_reuseaddr),
      value: 1
    ).childChannelOption(.allowRemoteHalfClosure, value: true).childChannelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHealthHandlers(endpoints, configuration: configuration, clients: clients)
      }
    }.bind(host: configuration.host, port: configuration.port).get()
  } catch {
    throw HealthServer.BindError(
      description: "cannot listen on \(configuration.host) port \(configuration.port): \(reason(error))"
    )
  }
  let server = HealthServer(port: listener.localAddress?.port ?? configuration.port)
  do {
    let result = try await body(server)
    await clients.closeAll(after: listener)
    return result
  } catch {
    await clients.closeAll(after: listener)
    throw error
  }
}

private func reason(_ error: any Error) -> String {
  guard let error = error as? IOError, let words = strerror(error.errnoCode) else { return "\(error)" }
  return String(cString: words)
}

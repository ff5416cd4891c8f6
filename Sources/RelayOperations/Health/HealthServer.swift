import Glibc
import NIOCore
import NIOPosix

/// Answers `/healthz`, `/readyz`, `/metrics` and `/version` over HTTP/1.1, to this machine alone unless told otherwise.
///
/// Every connection is answered once and closed. Nothing that is sent to it is kept: a request has a bounded head and no
/// body. A client that does not send its request and read the answer in time is closed.
public struct HealthServer: Sendable {
  /// The address to listen on, and the limits.
  public struct Configuration: Sendable {
    /// The address to listen on; everything but loopback shows the metrics to the network.
    public var host = "127.0.0.1"
    /// The port; 0 is any.
    public var port = 26_274
    /// Open connections; one more takes the place of the oldest whose request is incomplete, or is
    /// answered with 503 if there is none.
    public var maximumConnections = 32
    /// The bytes of a request's head.
    public var maximumHeadSize = 8 * 1_024
    /// How long a connection lives in all.
    public var connectionTimeout: Duration = .seconds(10)
    /// How long an endpoint may think.
    public var answerTimeout: Duration = .seconds(5)

    /// The port of the programs, on loopback.
    public init() {}
  }

  /// A description of why a server cannot listen.
  public struct BindError: Error, Sendable, CustomStringConvertible {
    /// The sentence.
    public let description: String
  }

  /// The port it listens on.
  public let port: Int
}

/// Answers health requests while `body` runs; when it returns or throws, every connection is
/// closed.
///
/// - Throws: ``HealthServer/BindError`` if it cannot listen on the address, and the errors of
///   `body`.
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
    // One loop: connections are few, and are counted in the order they come.
    listener = try await ServerBootstrap(group: group.next())
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHealthHandlers(
            endpoints,
            configuration: configuration,
            clients: clients
          )
        }
      }
      .bind(host: configuration.host, port: configuration.port).get()
  } catch {
    throw HealthServer.BindError(
      description:
        "cannot listen on \(configuration.host) port \(configuration.port): \(reason(error))"
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
  guard let error = error as? IOError, let words = strerror(error.errnoCode) else {
    return "\(error)"
  }
  return String(cString: words)
}

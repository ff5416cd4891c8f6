import Glibc
import NIOCore
import NIOPosix
import PeerCore

/// A server that answers `/healthz`, `/readyz`, `/metrics` and `/version` over HTTP/1.1. By default it is reachable
/// only from this machine. Each connection gets one answer and is closed. The size of a request's head is limited, and
/// a request must not have a body. If a client does not send its request and read the answer in time, its connection is
/// closed.
package struct HealthServer: Sendable {
  package struct Configuration: Sendable {
    /// Any address other than loopback exposes the metrics to the network.
    package var host = "127.0.0.1"
    /// The value 0 chooses any free port.
    package var port = 26_274
    /// The maximum number of open connections. At the limit, a new connection replaces the oldest connection with an
    /// incomplete request. If there is no such connection, the server answers the new connection with 503.
    package var maximumConnections = 32
    package var maximumHeadSize = 8 * 1_024
    package var connectionTimeout: Duration = .seconds(10)
    package var answerTimeout: Duration = .seconds(5)

    package init() {}
  }

  package struct BindError: Error, Sendable, CustomStringConvertible {
    package let description: String
  }

  package let port: Int
}

/// Runs a health server while `body` runs, and then closes every connection. Throws ``HealthServer/BindError`` if the
/// server cannot listen on the address.
package func withHealthServer<Result>(
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

final class HealthClients: Sendable {
  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    /// The clients whose requests are incomplete, oldest first.
    var incomplete: [ObjectIdentifier] = []
    var requests = 0
  }

  private let limit: Int
  private let state = Locked(State())

  init(limit: Int) { self.limit = limit }

  /// If the limit is reached, the connection of the oldest client with an incomplete request is closed, so that silent
  /// connections cannot block a health check. A client for which there is no room is included in the limit until its
  /// connection is closed.
  func admit(_ channel: any Channel) -> Bool {
    let id = ObjectIdentifier(channel)
    let (isAdmitted, dropped) = state.withLock { state -> (Bool, (any Channel)?) in
      let isFull = state.channels.count >= limit
      state.channels[id] = channel
      guard isFull else {
        state.incomplete.append(id)
        return (true, nil)
      }
      guard let oldest = state.incomplete.first else { return (false, nil) }
      state.incomplete.removeFirst()
      state.incomplete.append(id)
      // The slot becomes free immediately, even before the dropped connection has closed.
      return (true, state.channels.removeValue(forKey: oldest))
    }
    channel.closeFuture.whenComplete { _ in
      self.state.withLock {
        $0.channels[id] = nil
        $0.incomplete.removeAll { $0 == id }
      }
    }
    dropped?.close(promise: nil)
    return isAdmitted
  }

  func endReading(_ channel: any Channel) {
    let id = ObjectIdentifier(channel)
    state.withLock { $0.incomplete.removeAll { $0 == id } }
  }

  /// Returns whether one more request may be passed to an endpoint. If so, the request is counted. The limit prevents
  /// requests from piling up if an endpoint hangs.
  func beginRequest() -> Bool {
    state.withLock {
      guard $0.requests < limit else { return false }
      $0.requests += 1
      return true
    }
  }

  func endRequest() { state.withLock { $0.requests -= 1 } }

  func closeAll(after listener: any Channel) async {
    // Ignore errors, because the channels may already be closed.
    try? await listener.close()
    let channels = state.withLock { Array($0.channels.values) }
    for channel in channels { try? await channel.close() }
  }
}

/// The functions that produce the answers of a ``HealthServer``. The server calls a function for each request. If a
/// function does not return in time, the server answers with 503, but does not cancel the function.
package struct HealthEndpoints: Sendable {
  /// A function that returns descriptions of the process's problems, for `/healthz`; empty if the process is healthy.
  /// The function should call the component that does the work, such as an event loop or an actor. If that component
  /// hangs, the function then hangs too.
  package var ailments: @Sendable () async -> [String]

  /// A function that returns the reasons why the program cannot serve clients now, for `/readyz`; empty if it is ready.
  package var hindrances: @Sendable () async -> [String]

  package var metrics: @Sendable () async -> String

  package var program: String

  package var version: String

  package init(
    program: String,
    version: String,
    ailments: @escaping @Sendable () async -> [String] = { [] },
    hindrances: @escaping @Sendable () async -> [String],
    metrics: @escaping @Sendable () async -> String
  ) {
    self.program = program
    self.version = version
    self.ailments = ailments
    self.hindrances = hindrances
    self.metrics = metrics
  }

  func answer(to request: HealthRequest) async -> HealthAnswer {
    switch request.path {
    case .healthz: .verdict("ok", "unwell", against: await ailments(), isJSON: request.wantsJSON)
    case .readyz: .verdict("ready", "not ready", against: await hindrances(), isJSON: request.wantsJSON)
    case .metrics: HealthAnswer(status: .ok, contentType: RelayMetrics.contentType, body: await metrics())
    case .version: request.wantsJSON ? .json(.ok, versionObject) : .text(.ok, "\(program) \(version)")
    }
  }

  private var versionObject: JSONObject {
    var object = JSONObject()
    object.add("program", string: program)
    object.add("version", string: version)
    return object
  }
}

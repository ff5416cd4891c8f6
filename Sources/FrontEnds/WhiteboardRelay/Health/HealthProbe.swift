import NIOCore
import NIOHTTP1
import NIOPosix

/// A client that requests one path of a ``HealthServer``, for example for a container's health check.
package struct HealthProbe: Sendable {
  package struct Answer: Hashable, Sendable {
    /// The HTTP status code; 200 means that the server is healthy.
    package let status: Int
    /// The body of the answer, at most 64 KiB.
    package let body: String
  }

  package struct Failure: Error, Sendable, CustomStringConvertible {
    package let description: String
  }

  package var host: String
  package var port: Int
  /// The time within which the server must answer after the client has connected.
  package var timeout: Duration = .seconds(10)

  package init(host: String = "127.0.0.1", port: Int = 26_274) {
    self.host = host
    self.port = port
  }

  /// Throws if the answer does not come in time, or is not valid HTTP.
  package func ask(_ path: String) async throws(Failure) -> Answer {
    let client: NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>
    do {
      client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(host: host, port: port) {
        channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHTTPClientHandlers()
          return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
        }
      }
    } catch { throw Failure(description: "no server answers at \(host) port \(port)") }
    let channel = client.channel
    // If the connection closes before the answer is complete, reading the answer fails.
    let end = channel.eventLoop.scheduleTask(in: TimeAmount(timeout)) { channel.close(promise: nil) }
    defer { end.cancel() }
    let incomplete = Failure(description: "no complete answer arrived in time")
    do {
      return try await client.executeThenClose { inbound, outbound in
        let headers: HTTPHeaders = ["Host": "localhost", "Connection": "close"]
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: headers)
        try await outbound.write(contentsOf: [.head(head), .end(nil)])
        var status = 0
        var body = ByteBuffer()
        for try await part in inbound {
          switch part {
          case .head(let head): status = Int(head.status.code)
          case .body(var piece):
            let room = min(64 * 1_024 - body.readableBytes, piece.readableBytes)
            if var kept = piece.readSlice(length: room) { body.writeBuffer(&kept) }
          case .end: return Answer(status: status, body: String(buffer: body))
          }
        }
        throw incomplete
      }
    } catch { throw incomplete }
  }
}

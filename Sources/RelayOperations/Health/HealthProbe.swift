import NIOCore
import NIOHTTP1
import NIOPosix

/// A client that requests one path of a ``HealthServer``, as the health check of a container does.
public struct HealthProbe: Sendable {
  /// The server's answer.
  public struct Answer: Hashable, Sendable {
    /// The HTTP status code; 200 means that the server is healthy.
    public let status: Int
    /// The body of the answer, at most 64 KiB.
    public let body: String
  }

  /// The reason why the server did not answer.
  public struct Failure: Error, Sendable, CustomStringConvertible {
    /// The reason as text.
    public let description: String
  }

  /// The address on which the server listens.
  public var host: String
  /// The port on which the server listens.
  public var port: Int
  /// The time in which the server must answer, once the client is connected.
  public var timeout: Duration = .seconds(10)

  /// Creates a client of the server at an address.
  public init(host: String = "127.0.0.1", port: Int = 26_274) {
    self.host = host
    self.port = port
  }

  /// Requests one path on a new connection.
  ///
  /// - Throws: ``Failure`` if the server does not answer in time, or not in HTTP.
  public func ask(_ path: String) async throws(Failure) -> Answer {
    do {
      let answer = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connect(host: host, port: port) { [timeout] channel in
          channel.eventLoop.makeCompletedFuture {
            let answer = channel.eventLoop.makePromise(of: Answer.self)
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHTTPClientHandlers()
            try pipeline.addHandler(HealthAsker(path: path, timeout: timeout, answer: answer))
            return answer.futureResult
          }
        }
      return try await answer.get()
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure(description: "no server answers at \(host) port \(port)")
    }
  }
}

/// The handler that sends the request once connected, and collects the answer.
private final class HealthAsker: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart

  private static let bodyLimit = 64 * 1_024

  private let path: String
  private let timeout: Duration
  private let answer: EventLoopPromise<HealthProbe.Answer>
  private var status: Int?
  private var body = ByteBuffer()
  private var end: Scheduled<Void>?

  init(path: String, timeout: Duration, answer: EventLoopPromise<HealthProbe.Answer>) {
    self.path = path
    self.timeout = timeout
    self.answer = answer
  }

  func channelActive(context: ChannelHandlerContext) {
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    end = context.eventLoop.scheduleTask(in: TimeAmount(timeout)) {
      bound.value.close(promise: nil)
    }
    let headers: HTTPHeaders = ["Host": "localhost", "Connection": "close"]
    let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: headers)
    context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
    context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch Self.unwrapInboundIn(data) {
    case .head(let head): status = Int(head.status.code)
    case .body(var piece):
      let room = Self.bodyLimit - body.readableBytes
      if var kept = piece.readSlice(length: min(room, piece.readableBytes)) {
        body.writeBuffer(&kept)
      }
    case .end:
      if let status {
        answer.succeed(HealthProbe.Answer(status: status, body: String(buffer: body)))
      }
      context.close(promise: nil)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  /// Called at the end of every channel, even if it was never connected.
  ///
  /// If the answer has already arrived, failing the promise has no effect.
  func handlerRemoved(context: ChannelHandlerContext) {
    end?.cancel()
    answer.fail(HealthProbe.Failure(description: "no complete answer arrived in time"))
  }
}

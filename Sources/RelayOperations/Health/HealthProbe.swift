import NIOCore
import NIOHTTP1
import NIOPosix

/// Asks a ``HealthServer`` how it is, as the health check of a container does.
public struct HealthProbe: Sendable {
  /// The server's answer.
  public struct Answer: Hashable, Sendable {
    /// The status of HTTP; 200 is well.
    public let status: Int
    /// The text of the answer, at most 64 KiB.
    public let body: String
  }

  /// A description of why there is no answer.
  public struct Failure: Error, Sendable, CustomStringConvertible {
    /// The sentence.
    public let description: String
  }

  /// The address on which the server listens.
  public var host: String
  /// The port it listens on.
  public var port: Int
  /// How long it has for its answer, once it is connected.
  public var timeout: Duration = .seconds(10)

  /// Asks the server there.
  public init(host: String = "127.0.0.1", port: Int = 26_274) {
    self.host = host
    self.port = port
  }

  /// Asks once for a path, in a connection of its own.
  ///
  /// - Throws: ``Failure`` when nobody answers there in time and in HTTP.
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
      throw Failure(description: "nobody answers at \(host) port \(port)")
    }
  }
}

/// Asks when it is connected, and gathers the answer.
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

  /// At the end of every channel, also of one that was never connected; a second answer counts for nothing.
  func handlerRemoved(context: ChannelHandlerContext) {
    end?.cancel()
    answer.fail(HealthProbe.Failure(description: "no answer that is whole came in time"))
  }
}

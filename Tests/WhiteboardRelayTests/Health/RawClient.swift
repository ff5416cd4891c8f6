import NIOCore
import NIOPosix

/// A client that sends raw bytes, and collects the answer until the other end closes.
struct RawClient {
  private let channel: any Channel
  private let received: EventLoopFuture<String>

  /// Connects to a server; a client with `isReading` false never reads.
  init(host: String = "127.0.0.1", port: Int, isReading: Bool = true) async throws {
    let group = MultiThreadedEventLoopGroup.singleton
    let (channel, received) = try await ClientBootstrap(group: group).channelOption(
      .allowRemoteHalfClosure,
      value: false
    ).channelOption(.autoRead, value: isReading).connect(host: host, port: port) { channel in
      channel.eventLoop.makeCompletedFuture {
        let promise = channel.eventLoop.makePromise(of: String.self)
        try channel.pipeline.syncOperations.addHandler(Gatherer(promise))
        return (channel, promise.futureResult)
      }
    }
    self.channel = channel
    self.received = received
  }

  func send(_ text: String) async { await send(Array(text.utf8)) }

  /// Sends bytes; ignores the error if the server closed before it had read all.
  func send(_ bytes: [UInt8]) async { try? await channel.writeAndFlush(channel.allocator.buffer(bytes: bytes)) }

  /// Closes the sending side; ignores the error if the server has already closed the connection.
  func endSending() async { try? await channel.close(mode: .output) }

  /// Closes the connection; ignores the error if the server has already closed it.
  func close() async { try? await channel.close() }

  /// Returns all received text, once the other end has closed.
  func read() async throws -> String { try await received.get() }
}

private final class Gatherer: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let promise: EventLoopPromise<String>
  private var gathered = ByteBuffer()

  init(_ promise: EventLoopPromise<String>) { self.promise = promise }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    gathered.writeImmutableBuffer(Self.unwrapInboundIn(data))
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  /// Called at the end of every channel, even of a channel that was never connected.
  func handlerRemoved(context: ChannelHandlerContext) { promise.succeed(String(buffer: gathered)) }
}

struct RawAnswer {
  let status: Int
  let head: [Substring]
  let body: String

  init?(_ text: String) {
    guard let end = text.firstRange(of: "\r\n\r\n") else { return nil }
    head = text[..<end.lowerBound].split(separator: "\r\n")
    guard let line = head.first?.split(separator: " "), line.count > 2, line[0] == "HTTP/1.1", let status = Int(line[1])
    else { return nil }
    self.status = status
    body = String(text[end.upperBound...])
  }

  func header(_ name: String) -> String? {
    head.first { $0.lowercased().hasPrefix(name.lowercased() + ":") }.map { String($0.dropFirst(name.count + 2)) }
  }
}

extension RawClient {
  static func ask(_ request: String, port: Int) async throws -> RawAnswer? {
    let client = try await RawClient(port: port)
    await client.send(request)
    return RawAnswer(try await client.read())
  }

  static func get(_ path: String, _ headers: String = "", port: Int) async throws -> RawAnswer? {
    try await ask("GET \(path) HTTP/1.1\r\nHost: x\r\n\(headers)\r\n", port: port)
  }
}

import NIOCore
import NIOHTTP1
import NIOPosix
import PeerCore
import WhiteboardKit

/// A server that shows a broadcast to programs on this computer: `/` as a stream of pictures
/// (`multipart/x-mixed-replace`), and `/still` as the last picture. The server listens only on a loopback address, because
/// it requires no code.
package struct BroadcastServer: Sendable {
  /// The maximum number of open connections.
  static let connectionLimit = 32

  package let port: Int

  /// The reason why an address that other computers can reach is refused, and what the user can do.
  package static func refusal(port: Int) -> String {
    "the server requires no code and has no certificate, so it serves the pictures only to this computer: use "
      + "127.0.0.1:\(port). On other computers, run `whiteboard-peer watch`, or open the board in a browser (--web)"
  }

  package static func isLoopback(_ host: String) -> Bool {
    host == "localhost" || host == "::1"
      || (host.hasPrefix("127.") && (try? SocketAddress(ipAddress: host, port: 0)) != nil)
  }
}

/// Serves a broadcast while `body` runs, and then closes every connection. Throws ``HTTPBindError`` if the
/// address is not a loopback address, or the server cannot listen on it.
package func withBroadcastServer<Result>(
  of broadcast: Broadcast,
  host: String,
  port: Int,
  group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
  isolation: isolated (any Actor)? = #isolation,
  _ body: (BroadcastServer) async throws -> Result
) async throws -> Result {
  guard BroadcastServer.isLoopback(host) else { throw HTTPBindError(BroadcastServer.refusal(port: port)) }
  return try await withHTTPServer(BroadcastRoutes(broadcast), host: host, port: port, group: group) { port in
    try await body(BroadcastServer(port: port))
  }
}

private final class BroadcastRoutes: HTTPServerRoutes {
  private let broadcast: Broadcast
  private var clients: [ObjectIdentifier: any Channel] = [:]

  init(_ broadcast: Broadcast) { self.broadcast = broadcast }

  var channels: [any Channel] { Array(clients.values) }

  func accept(_ channel: any Channel) throws {
    let isFull = clients.count >= BroadcastServer.connectionLimit
    let id = ObjectIdentifier(channel)
    clients[id] = channel
    let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
    channel.closeFuture.whenComplete { _ in bound.value.clients[id] = nil }
    let connection = HTTPConnection(
      self,
      requestTime: .seconds(10),
      refusal: isFull ? .broadcast(.serviceUnavailable, "too many connections") : nil
    )
    try connection.addHandlers(to: channel, maximumHead: 8_192)
  }

  func answer(to fault: HTTPFault, on channel: any Channel) -> HTTPAnswer { .broadcast(.badRequest, "bad request") }

  func route(_ head: HTTPRequestHead, on channel: any Channel) throws(HTTPAnswer) -> HTTPRoute {
    guard head.method == .GET || head.method == .HEAD else {
      throw .broadcast(.methodNotAllowed, "method not allowed; use GET")
    }
    // A page of another site could otherwise show the board under a name that it controls (DNS rebinding).
    guard head.headers["host"].count == 1, let host = head.headers["host"].first.flatMap({ HostPort($0) })?.host,
      BroadcastServer.isLoopback(host)
    else { throw .broadcast(.misdirectedRequest, "use the address 127.0.0.1") }
    let broadcast = broadcast
    switch String(head.uri.prefix { $0 != "?" && $0 != "#" }) {
    case "/" where head.method == .GET: return .takeOver { channel in try Self.stream(broadcast, on: channel) }
    case "/still", "/still.jpg":
      return .get { Self.still(broadcast, on: channel) }
    default: throw .broadcast(.notFound, "not found; the paths are / and /still")
    }
  }

  private static func still(_ broadcast: Broadcast, on channel: any Channel) -> EventLoopFuture<HTTPAnswer> {
    let viewer = StillViewer()
    // When the connection closes, the viewer must leave, so that its place is free for another viewer.
    channel.closeFuture.whenComplete { _ in viewer.leave() }
    return channel.eventLoop.makeFutureWithTask {
      await broadcast.serve(BroadcastRequest(codecs: [.jpeg, .png], acceptsChanges: false), over: viewer)
      guard let (bytes, codec) = viewer.picture else {
        return .broadcast(.serviceUnavailable, "there is no picture now")
      }
      return .broadcast(.ok, type: "image/\(codec.rawValue)", ByteBuffer(bytes: bytes))
    }
  }

  private static func stream(_ broadcast: Broadcast, on channel: any Channel) throws {
    // A client that closes its side has stopped watching. Without this option, the channel would stay open, and the
    // viewer would keep its place, until the next picture.
    try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: false)
    var headers = HTTPAnswer.broadcastHeaders(type: "multipart/x-mixed-replace; boundary=\(StreamViewer.boundary)")
    headers.add(name: "Connection", value: "close")
    let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
    channel.writeAndFlush(HTTPServerResponsePart.head(head), promise: nil)
    let viewer = StreamViewer(channel)
    // This task ends when the channel closes, or the broadcast ends, which closes the channel.
    let task = Task {
      await broadcast.serve(BroadcastRequest(codecs: [.jpeg, .png], acceptsChanges: false), over: viewer)
      try? await channel.close()
    }
    channel.closeFuture.whenComplete { _ in
      viewer.leave()
      task.cancel()
    }
  }
}

extension HTTPAnswer {
  fileprivate static func broadcast(_ status: HTTPResponseStatus, _ line: String) -> HTTPAnswer {
    .broadcast(status, type: "text/plain; charset=utf-8", ByteBuffer(string: line + "\n"))
  }

  fileprivate static func broadcast(_ status: HTTPResponseStatus, type: String, _ body: ByteBuffer) -> HTTPAnswer {
    HTTPAnswer(status, headers: broadcastHeaders(type: type), body: body)
  }

  /// The headers of every answer. They forbid pages of other sites to embed the pictures.
  fileprivate static func broadcastHeaders(type: String) -> HTTPHeaders {
    [
      "Content-Type": type, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
      "Cross-Origin-Resource-Policy": "same-origin",
    ]
  }
}

/// A viewer that receives one picture.
private final class StillViewer: ViewerConnection {
  private let state = Locked((picture: Optional<([UInt8], FrameCodec)>.none, codec: FrameCodec.jpeg))
  private let left = AsyncStream<Void>.makeStream()

  var picture: ([UInt8], FrameCodec)? { state.withLock { $0.picture } }

  func write(_ record: BroadcastRecord) async throws {
    switch record {
    case .start(let format): state.withLock { $0.codec = format.codec }
    case .picture(let picture):
      guard case .whole(let bytes) = picture.content else { return }
      state.withLock { $0.picture = (bytes, $0.codec) }
      leave()
    // PAUSE comes after the picture, so if PAUSE arrives first, the broadcast has no picture. After an error, the next
    // picture may come only when the board changes.
    case .pause, .finish, .error: leave()
    default: break
    }
  }

  func read() async throws -> BroadcastRecord? {
    for await _ in left.stream {}
    return nil
  }

  func leave() { left.continuation.finish() }

  func finish() async {}

  func reset(because error: BroadcastError) {}
}

/// A viewer that receives the pictures as the parts of one HTTP response.
///
/// Browsers show a part only when the headers of the next part arrive. Therefore the last picture is sent once more if no
/// other picture follows it soon.
private final class StreamViewer: ViewerConnection {
  static let boundary = "picture"
  private static let repetitionDelay = TimeAmount.milliseconds(100)

  private let channel: any Channel
  private let codec = Locked(FrameCodec.jpeg)
  private let seen = AsyncStream<UInt64>.makeStream()
  private let repetition = Locked(Scheduled<Void>?.none)

  init(_ channel: any Channel) { self.channel = channel }

  func write(_ record: BroadcastRecord) async throws {
    switch record {
    case .start(let format): codec.withLock { $0 = format.codec }
    case .picture(let picture):
      guard case .whole(let bytes) = picture.content else { return }
      let type = codec.withLock { $0.rawValue }
      var buffer = ByteBuffer(
        string: "--\(Self.boundary)\r\nContent-Type: image/\(type)\r\nContent-Length: \(bytes.count)\r\n\r\n"
      )
      buffer.writeBytes(bytes)
      buffer.writeString("\r\n")
      cancelRepetition()
      // The write ends when the system has accepted the bytes, so a slow reader gets fewer pictures.
      let part = HTTPServerResponsePart.body(.byteBuffer(buffer))
      try await channel.writeAndFlush(part)
      let scheduled = channel.eventLoop.scheduleTask(in: Self.repetitionDelay) { [channel] in
        channel.writeAndFlush(part, promise: nil)
      }
      repetition.withLock { $0 = scheduled }
      seen.continuation.yield(picture.number)
    default: break
    }
  }

  func read() async throws -> BroadcastRecord? {
    for await number in seen.stream { return .seen(number) }
    return nil
  }

  func leave() {
    cancelRepetition()
    seen.continuation.finish()
  }

  func finish() async {
    cancelRepetition()
    try? await channel.writeAndFlush(HTTPServerResponsePart.end(nil))
  }

  private func cancelRepetition() { repetition.withLock { $0.take() }?.cancel() }

  func reset(because error: BroadcastError) { channel.close(promise: nil) }
}

import Crypto
import NIOCore
import NIOHTTP1
import NIOPosix
import PeerCore
import PeerSession
import WhiteboardKit

/// A server that shows a broadcast over HTTP (`Protocol/broadcast.md`, section 4): `/` as a stream of pictures
/// (`multipart/x-mixed-replace`), and `/still` as the last picture. On a loopback address, programs on this computer need
/// no code. On any other address, the server uses TLS, and a secret precedes the paths.
package struct BroadcastServer: Sendable {
  /// The maximum number of open connections on a loopback address.
  static let connectionLimit = 32

  package let port: Int
  /// The links to the stream, best first.
  package let links: [String]
  /// The SHA-256 hash of the certificate, as browsers show it; nil if browsers do not warn about the certificate.
  package let fingerprint: String?

  package static func isLoopback(_ host: String) -> Bool {
    host == "localhost" || host == "::1"
      || (host.hasPrefix("127.") && (try? SocketAddress(ipAddress: host, port: 0)) != nil)
  }
}

/// The certificate of a server of pictures on an address that other computers can reach.
package struct PictureSecurity: Sendable {
  let certificate: WebCertificate
  /// Returns the origins of a server on a port, and the fingerprint of its certificate.
  let page: @Sendable (_ port: Int) -> BrowserPage
}

/// Serves a broadcast while `body` runs, and then closes every connection. Throws ``HTTPBindError`` if the server cannot
/// listen on the address, or the address is not a loopback address and `security` is nil.
package func withBroadcastServer<Result>(
  of broadcast: Broadcast,
  host: String,
  port: Int,
  security: PictureSecurity? = nil,
  group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
  isolation: isolated (any Actor)? = #isolation,
  _ body: (BroadcastServer) async throws -> Result
) async throws -> Result {
  guard let security else {
    guard BroadcastServer.isLoopback(host) else {
      throw HTTPBindError("other computers can reach \(host), so the server needs a certificate")
    }
    return try await withHTTPServer(BroadcastRoutes(broadcast), host: host, port: port, group: group) { port in
      let link = "http://\(WebOrigin.authority(host: host, port: port))/"
      return try await body(BroadcastServer(port: port, links: [link], fingerprint: nil))
    }
  }
  let secret = GuestSecret.random()
  return try await withHTTPServer(
    BroadcastRoutes(broadcast, secret),
    host: host,
    port: port,
    group: group,
    security: WebServer.security(security.certificate)
  ) { port in
    let page = security.page(port)
    let links = page.origins.map { "\($0)/\(secret.text)/" }
    return try await body(
      BroadcastServer(port: port, links: links, fingerprint: page.isSelfMade ? page.fingerprint : nil)
    )
  }
}

private final class BroadcastRoutes: HTTPServerRoutes {
  private let broadcast: Broadcast
  /// The secret in the paths; nil on a loopback address.
  private let secret: GuestSecret?
  private var clients: [ObjectIdentifier: any Channel] = [:]
  private var connections = WebConnections()

  init(_ broadcast: Broadcast, _ secret: GuestSecret? = nil) {
    self.broadcast = broadcast
    self.secret = secret
  }

  var channels: [any Channel] { Array(clients.values) }

  func accept(_ channel: any Channel) throws {
    let id = ObjectIdentifier(channel)
    guard connections.enter(id, from: channel.remoteAddress?.ipAddress ?? "") else {
      throw ChannelError.ioOnClosedChannel
    }
    let isFull = secret == nil && clients.count >= BroadcastServer.connectionLimit
    clients[id] = channel
    let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
    channel.closeFuture.whenComplete { _ in
      bound.value.connections.leave(id)
      bound.value.clients[id] = nil
    }
    let connection = HTTPConnection(
      self,
      requestTime: secret == nil ? .seconds(10) : .seconds(30),
      refusal: isFull ? .broadcast(.serviceUnavailable, "too many connections") : nil
    )
    try connection.addHandlers(to: channel, maximumHead: 8_192)
  }

  func answer(to fault: HTTPFault, on channel: any Channel) -> HTTPAnswer { .broadcast(.badRequest, "bad request") }

  func route(_ head: HTTPRequestHead, on channel: any Channel) throws(HTTPAnswer) -> HTTPRoute {
    guard head.method == .GET || head.method == .HEAD else {
      throw .broadcast(.methodNotAllowed, "method not allowed; use GET")
    }
    var path = head.uri.prefix { $0 != "?" && $0 != "#" }
    if let secret {
      let given = path.dropFirst().prefix { $0 != "/" }
      // Digests are compared in constant time.
      guard SHA256.hash(data: Array(given.utf8)) == SHA256.hash(data: Array(secret.text.utf8)) else {
        throw .broadcast(.notFound, "not found; use the whole link, and only while the broadcast is running")
      }
      path = path.dropFirst(1 + given.count)
      if path.isEmpty { path = "/" }
    } else {
      // Without this check, a page of another site could read the board through a host name that the site controls
      // (DNS rebinding). With a secret, the check is not needed, because such a page does not know the path.
      guard head.headers["host"].count == 1, let host = head.headers["host"].first.flatMap({ HostPort($0) })?.host,
        BroadcastServer.isLoopback(host)
      else { throw .broadcast(.misdirectedRequest, "use the address 127.0.0.1") }
    }
    let broadcast = broadcast
    switch path {
    case "/":
      let isHeadOnly = head.method == .HEAD
      return .takeOver { channel in try Self.stream(broadcast, isHeadOnly: isHeadOnly, on: channel) }
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
        return .broadcast(.serviceUnavailable, viewer.problem)
      }
      return .broadcast(.ok, type: "image/\(codec.rawValue)", ByteBuffer(bytes: bytes))
    }
  }

  private static func stream(_ broadcast: Broadcast, isHeadOnly: Bool, on channel: any Channel) throws {
    // A client that closes its side has stopped watching. Without this option, the channel would stay open, and the
    // viewer would keep its place, until the next picture.
    try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: false)
    var headers = HTTPAnswer.broadcastHeaders(type: "multipart/x-mixed-replace; boundary=\(StreamViewer.boundary)")
    headers.add(name: "Connection", value: "close")
    let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
    let written = channel.writeAndFlush(HTTPServerResponsePart.head(head))
    // The end of the response would be a part of its body.
    guard !isHeadOnly else { return written.whenComplete { _ in channel.close(promise: nil) } }
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
    var headers = broadcastHeaders(type: type)
    if status == .serviceUnavailable { headers.add(name: "Retry-After", value: "5") }
    return HTTPAnswer(status, headers: headers, body: body)
  }

  /// The headers of every answer. They forbid pages of other sites to embed the pictures.
  fileprivate static func broadcastHeaders(type: String) -> HTTPHeaders {
    [
      "Content-Type": type, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
      "Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer",
    ]
  }
}

/// A viewer that receives one picture.
private final class StillViewer: ViewerConnection {
  private struct State {
    var picture: ([UInt8], FrameCodec)?
    var codec = FrameCodec.jpeg
    var problem = "there is no picture now; try again later"
  }

  private let state = Locked(State())
  private let left = AsyncStream<Void>.makeStream()

  var picture: ([UInt8], FrameCodec)? { state.withLock { $0.picture } }
  /// The reason why there is no picture.
  var problem: String { state.withLock { $0.problem } }

  func write(_ record: BroadcastRecord) async throws {
    switch record {
    case .start(let format): state.withLock { $0.codec = format.codec }
    case .picture(let picture):
      guard case .whole(let bytes) = picture.content else { return }
      state.withLock { $0.picture = (bytes, $0.codec) }
      leave()
    // PAUSE comes after the picture, so if PAUSE arrives first, the broadcast has no picture.
    case .pause: leave(because: "the broadcast is paused, and has no picture yet; try again when it continues")
    // After an error, the next picture may come only when the board changes.
    case .finish(let notice), .error(let notice):
      leave(because: notice.message.isEmpty ? nil : notice.message.escaped())
    default: break
    }
  }

  func read() async throws -> BroadcastRecord? {
    for await _ in left.stream {}
    return nil
  }

  private func leave(because problem: String?) {
    if let problem { state.withLock { $0.problem = problem } }
    leave()
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

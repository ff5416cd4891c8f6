import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket
import PeerSession
import WhiteboardKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The state that the connections of a gateway share. Confined to the event loop of the transport's links.
final class WebServer: HTTPRoutes {
  private let invite: (PageInvitation.Request, any EventLoop) -> EventLoopFuture<HTTPAnswer>
  private let acceptLink: (any Channel, _ origin: String) throws -> Void
  private let page: WebPage
  /// The certificates with their TLS settings, the oldest first.
  private var certificates: [(certificate: WebCertificate, security: NIOSSLContext)] = []
  private let port: Int
  /// The web links whose pages send their bytes in requests.
  private var posts: [TransferID: PostedBytes] = [:]
  private var connections = WebConnections()
  /// The valid values of the `Host` header.
  private var authorities: Set<String> = []

  /// Throws if TLS cannot use the certificate. `acceptLink` turns a connection into a web link of the transport. The
  /// link reads and writes its bytes through the last handler of the channel. If `acceptLink` throws, the connection is
  /// closed.
  init(
    _ page: WebPage,
    _ certificate: WebCertificate,
    port: Int,
    invite: @escaping (PageInvitation.Request, any EventLoop) -> EventLoopFuture<HTTPAnswer>,
    acceptLink: @escaping (any Channel, _ origin: String) throws -> Void
  ) throws {
    self.invite = invite
    self.acceptLink = acceptLink
    self.page = page
    self.port = port
    try use(certificate)
  }

  /// Uses another certificate for new connections. If TLS cannot use the certificate, throws, and nothing changes.
  /// Certificates that the gateway made earlier remain in use for the addresses that they name. Browsers warn again
  /// about each new certificate, and cannot ask the user while a web link reconnects.
  func use(_ new: WebCertificate) throws {
    let security = try Self.security(new)
    if new.authority == nil { certificates = [] }
    certificates = certificates.suffix(7) + [(new, security)]
    let hosts = certificates.flatMap(\.certificate.hosts)
    authorities = Set(hosts.map { WebOrigin.authority(host: $0, port: port) })
  }

  var newest: WebCertificate { certificates[certificates.count - 1].certificate }

  private func certificate(for channel: any Channel) -> (certificate: WebCertificate, security: NIOSSLContext) {
    certificate(at: channel.localAddress?.ipAddress.flatMap { IPAddressBytes($0) }?.unmapped.text)
  }

  private func certificate(at address: String?, now: Date = .now) -> (
    certificate: WebCertificate, security: NIOSSLContext
  ) {
    let known = certificates.first { known in
      guard let address, !known.certificate.isDue(now) else { return false }
      return known.certificate.hosts.contains(address)
    }
    return known ?? certificates[certificates.count - 1]
  }

  /// Returns the certificate of the first host, and all hosts with the same certificate. Only these hosts can be shown
  /// together with the fingerprint of this certificate.
  func shown(of hosts: [String], now: Date) -> (certificate: WebCertificate, hosts: [String]) {
    let first = certificate(at: hosts.first, now: now).certificate
    let same = hosts.filter { host in
      guard first.hosts.contains(host) else { return false }
      // The certificate for a connection to a name depends on the address to which the name resolves.
      guard IPAddressBytes(host) != nil else { return true }
      return certificate(at: host, now: now).certificate.fingerprint == first.fingerprint
    }
    return (first, same)
  }

  static func security(_ certificate: WebCertificate) throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: certificate.chain.map { .certificate($0) },
      privateKey: .privateKey(certificate.key)
    )
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    configuration.shutdownTimeout = .seconds(2)
    return try NIOSSLContext(configuration: configuration)
  }

  // MARK: Connections

  func accept(_ channel: any Channel) throws {
    let id = ObjectIdentifier(channel)
    guard connections.enter(id, from: channel.remoteAddress?.ipAddress ?? "") else {
      throw ChannelError.ioOnClosedChannel
    }
    let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
    channel.closeFuture.whenComplete { _ in bound.value.connections.leave(id) }
    let security = certificate(for: channel).security
    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: security))
    try addRequestHandlers(channel)
  }

  /// Adds the handlers of HTTP to a connection, which already has the handler of TLS.
  func addRequestHandlers(_ channel: any Channel) throws {
    // Idle connections count toward the limits, and a browser may open six of them.
    let connection = HTTPConnection(self, requestTime: .seconds(30), nextRequestTime: .seconds(5))
    let upgrader = upgrader(NIOLoopBound(self, eventLoop: channel.eventLoop))
    try connection.addHandlers(to: channel, maximumHead: 16_384, upgrader: upgrader)
  }

  private func upgrader(_ bound: NIOLoopBound<WebServer>) -> NIOWebSocketServerUpgrader {
    NIOWebSocketServerUpgrader(
      maxFrameSize: WebSocketBytes.maximumMessage,
      shouldUpgrade: { channel, head in
        let server = bound.value
        guard head.method == .GET, head.uri == "/link", server.isFromPage(head),
          head.headers[canonicalForm: "Connection"].contains(where: { $0.lowercased() == "upgrade" }),
          head.headers[canonicalForm: "Sec-WebSocket-Protocol"].contains(where: { $0 == "whiteboard-p2p" })
        else { return channel.eventLoop.makeSucceededFuture(nil) }
        return channel.eventLoop.makeSucceededFuture(["Sec-WebSocket-Protocol": "whiteboard-p2p"])
      },
      upgradePipelineHandler: { channel, head in
        channel.eventLoop.makeCompletedFuture {
          do {
            try bound.value.begin(WebSocketBytes(), on: channel, origin: head.headers.first(name: "Origin") ?? "")
          } catch {
            // NIO leaves the connection open after a failed upgrade, and no handler would close it when it is idle.
            channel.close(promise: nil)
            throw error
          }
        }
      }
    )
  }

  /// Begins a web link, which has its own timeouts (session.md, section 9).
  private func begin(_ bytes: any ChannelHandler, on channel: any Channel, origin: String) throws {
    try channel.pipeline.syncOperations.addHandler(bytes)
    try acceptLink(channel, origin)
  }

  /// Opens a web link without a WebSocket.
  private func open(_ channel: any Channel, origin: String) throws {
    let (id, bytes) = (TransferID.random(), PostedBytes())
    posts[id] = bytes
    let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
    channel.closeFuture.whenComplete { _ in bound.value.posts[id] = nil }
    let answer = HTTPAnswer.page(
      .ok,
      headers: [
        "Content-Type": "application/octet-stream", "Cache-Control": "no-store", "Whiteboard-Link": id.text,
      ]
    )
    let head = HTTPResponseHead(version: .http1_1, status: answer.status, headers: answer.headers)
    channel.writeAndFlush(HTTPServerResponsePart.head(head), promise: nil)
    try begin(bytes, on: channel, origin: origin)
  }

  // MARK: Requests

  func answer(to fault: HTTPFault, on channel: any Channel) -> HTTPAnswer {
    fault == .unexpectedBody ? .text(.badRequest, "This request must not have a body.") : HTTPAnswer(.badRequest)
  }

  func route(_ head: HTTPRequestHead, on channel: any Channel) throws(HTTPAnswer) -> HTTPRoute {
    guard head.headers["Host"].count == 1, let host = head.headers.first(name: "Host"),
      authorities.contains(host.lowercased())
    else {
      throw .text(
        .misdirectedRequest,
        "This address is not in the certificate of the board. Open the link exactly as the host shows it."
      )
    }
    let path = String(head.uri.prefix { $0 != "?" })
    let loop = channel.eventLoop
    switch head.method {
    case .GET, .HEAD:
      guard path != "/link" else { throw .text(.upgradeRequired, "Only the page of this board can use this address.") }
      let file = try file(path, head, certificate(for: channel).certificate)
      return .get { loop.makeSucceededFuture(file) }
    case .POST:
      guard path == "/link" || path.hasPrefix("/link/") || path == "/invite" else {
        throw .text(.notFound, "There is nothing at this address.")
      }
      guard isFromPage(head), let origin = head.headers.first(name: "Origin") else {
        throw .text(.forbidden, "Only the page of this board can use this address.")
      }
      // Without a stated length, the size of a body would not be known in advance.
      guard head.headers["Transfer-Encoding"].isEmpty, head.headers["Content-Length"].count == 1 else {
        throw .text(.lengthRequired, "The request must have a Content-Length.")
      }
      guard let length = head.headers.first(name: "Content-Length").flatMap({ Int($0) }),
        length <= (path == "/invite" ? PageInvitation.Request.maximumLength : PostedBytes.maximumPost)
      else { throw .text(.payloadTooLarge, "The body is too long.") }
      if path == "/invite" {
        return .post(isLast: true) { [invite] body in
          guard let request = PageInvitation.Request(body, origin: origin) else {
            return loop.makeSucceededFuture(.text(.badRequest, "This is not a request for a link."))
          }
          return invite(request, loop)
        }
      }
      if path == "/link" { return .takeOver { channel in try self.open(channel, origin: origin) } }
      guard let id = TransferID(text: String(path.dropFirst("/link/".count))),
        let start = head.headers.first(name: "Whiteboard-Position").flatMap({ Int($0) }), start >= 0
      else { throw .text(.badRequest, "The link or the position is not valid.") }
      // Only the page that opened a link knows its id, so no other client can make the gateway store a body.
      guard posts[id] != nil else { throw PostedBytes.ended }
      return .post(isLast: false) { body in
        self.posts[id]?.receive(body, at: start, on: loop) ?? loop.makeSucceededFuture(PostedBytes.ended)
      }
    default: throw .text(.methodNotAllowed, "This method is not allowed.")
    }
  }

  /// Returns whether a script of the gateway's own page sent a request (WEB-52).
  private func isFromPage(_ head: HTTPRequestHead) -> Bool {
    let origins = head.headers["Origin"]
    let hosts = head.headers["Host"]
    guard origins.count == 1, hosts.count == 1, authorities.contains(hosts[0].lowercased()) else { return false }
    return origins[0] == "https://\(hosts[0].lowercased())"
  }

  private func file(_ path: String, _ head: HTTPRequestHead, _ certificate: WebCertificate) throws(HTTPAnswer)
    -> HTTPAnswer
  {
    if path == "/about.json" {
      return .page(
        .ok,
        headers: ["Content-Type": "application/json", "Cache-Control": "no-store"],
        body: ByteBuffer(
          string: "{\"authority\":\(certificate.authority != nil)," + "\"fingerprint\":\"\(certificate.fingerprint)\"}"
        )
      )
    }
    if path == "/ca.crt", let authority = certificate.authority {
      return .page(
        .ok,
        headers: [
          "Content-Type": "application/x-x509-ca-cert", "Cache-Control": "no-store",
          "Content-Disposition": "attachment; filename=\"whiteboard-ca.crt\"",
        ],
        body: ByteBuffer(bytes: authority)
      )
    }
    guard let file = page.file(at: path) else { throw .text(.notFound, "There is nothing at this address.") }
    var headers: HTTPHeaders = [
      "Content-Type": file.type, "Cache-Control": "no-cache", "ETag": file.tag, "Vary": "Accept-Encoding",
    ]
    if head.headers[canonicalForm: "If-None-Match"].contains(where: { $0 == file.tag }) {
      return .page(.notModified, headers: headers)
    }
    let accepted = head.headers[canonicalForm: "Accept-Encoding"].map { $0.prefix { $0 != ";" } }
    if let (bytes, encoding) = file.compressed, accepted.contains(where: { $0 == encoding }) {
      headers.add(name: "Content-Encoding", value: encoding)
      return .page(.ok, headers: headers, body: bytes)
    }
    guard let bytes = file.bytes else {
      throw .text(.notAcceptable, "This browser does not support Brotli. Update the browser.")
    }
    return .page(.ok, headers: headers, body: bytes)
  }
}

/// The text forms of hosts and ports in URLs (RFC 6454).
enum WebOrigin {
  /// Returns the host and the port of a page, as browsers send them in the `Host` header; `host` has no brackets.
  static func authority(host: String, port: Int) -> String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == 443 ? name : "\(name):\(port)"
  }
}

/// The open connections of a gateway, which are limited in total and for each address (WEB-55).
struct WebConnections {
  /// The maximum number of open connections, if the process may have enough file descriptors.
  static let maximum = 1_024
  /// The maximum number of open connections from one address, which many guests may share.
  static let maximumPerAddress = 256

  private let limit: Int
  private var addresses: [ObjectIdentifier: AddressBlock] = [:]

  /// At least half of `descriptors` remain for peers and files.
  init(descriptors: Int = raiseDescriptorLimit()) { limit = min(Self.maximum, descriptors / 2) }

  /// Adds a connection. Returns false if a limit is reached. `host` is the IP address of the other end. As for peers
  /// (LNK-6), all addresses in an IPv6 /64 usually count as one address.
  mutating func enter(_ id: ObjectIdentifier, from host: String) -> Bool {
    let address = AddressBlock(host: host)
    let isFull = addresses.values.count { $0 == address } >= Self.maximumPerAddress
    guard addresses.count < limit, !isFull else { return false }
    addresses[id] = address
    return true
  }

  mutating func leave(_ id: ObjectIdentifier) { addresses[id] = nil }
}

/// Raises the limit of the process for open file descriptors as far as allowed, and returns the new limit.
@discardableResult package func raiseDescriptorLimit() -> Int {
  let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  var current = rlimit()
  guard getrlimit(kind, &current) == 0 else { return 1_024 }
  var raised = current
  raised.rlim_cur = current.rlim_max
  if setrlimit(kind, &raised) == 0 { current = raised }
  return Int(clamping: current.rlim_cur)
}

import FoundationEssentials
import NIOCore
import NIOPosix
import PeerSession
import WhiteboardKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A gateway for browsers, which serves the page and accepts web links from it (`Protocol/web.md`). A gateway belongs
/// to a transport. Each session of the transport decides whether browsers may join it (`Session.openToGuests()`).
package actor WebGateway {
  package struct Configuration: Sendable {
    /// The port that the gateway tries first if ``port`` is nil.
    package static let defaultPort = 26_443

    package var directory: String
    package var host: String?
    /// The port; nil for ``defaultPort`` or the next free port.
    package var port: Int?
    /// The files of the user's own certificate and its private key; nil for a certificate that the gateway creates.
    package var certificate: (certificates: String, key: String)?
    /// Returns the addresses of this machine, best first.
    var addresses: @Sendable (PeerTransport) async -> [String] = { await $0.addresses() }

    package init(directory: String) { self.directory = directory }
  }

  package private(set) var page: BrowserPage
  private let configuration: Configuration
  private let transport: PeerTransport
  private let listening: Listening

  private init(
    _ configuration: Configuration,
    _ transport: PeerTransport,
    _ certificate: WebCertificate,
    _ hosts: [String],
    _ listening: Listening
  ) {
    self.configuration = configuration
    self.transport = transport
    self.listening = listening
    page = Self.page(configuration, certificate, hosts, listening.port)
  }

  /// Opens a gateway. Throws if the certificate or the port cannot be used. `invite` answers the pages that ask for a
  /// link to show to others.
  package static func open(
    _ configuration: Configuration,
    on transport: PeerTransport,
    invite: @escaping PageInvitation.Answer
  ) async throws(WebGatewayError) -> WebGateway {
    let hosts = await reachableHosts(configuration, transport)
    let certificate = try load(configuration, hosts, now: .now)
    let listening = try await listen(configuration, certificate, transport, invite)
    return WebGateway(configuration, transport, certificate, hosts, listening)
  }

  /// Closes the gateway; open web links stay open.
  package func close() async { for channel in listening.channels { try? await channel.close() } }

  /// Adopts the current addresses of this machine, and renews the certificate if necessary. Returns whether ``page``
  /// changed. The user's own certificate is loaded again from its files. If the new certificate cannot be used, the old
  /// certificate remains.
  func refresh(now: Date = .now) async -> Bool {
    let hosts = await Self.reachableHosts(configuration, transport)
    let isOwn = configuration.certificate != nil
    // Without a network, the old addresses are more useful than none.
    guard isOwn || !hosts.isEmpty else { return false }
    let (server, loop) = (listening.server, transport.linkEventLoop)
    guard let old = try? await loop.submit({ server.value?.newest }).get() else { return false }
    var new: WebCertificate?
    if isOwn || !old.fits(Self.names(hosts), now: now) { new = try? Self.load(configuration, hosts, now: now) }
    let shown = try? await loop.submit { [new] in
      if let new, new.fingerprint != old.fingerprint { try server.value?.use(new) }
      return server.value?.shown(of: hosts, now: now)
    }.get()
    guard let shown, isOwn || !shown.hosts.isEmpty else { return false }
    let before = page
    page = Self.page(configuration, shown.certificate, shown.hosts, listening.port)
    return page != before
  }

  /// Returns the hosts at which browsers can reach this machine, best first; an empty array if there is no network.
  private static func reachableHosts(_ configuration: Configuration, _ transport: PeerTransport) async -> [String] {
    if let host = configuration.host, !isWildcard(host) { return [host] }
    let addresses = await configuration.addresses(transport)
    guard !addresses.isEmpty, let name = HostName.local else { return addresses }
    return addresses + [name]
  }

  /// Returns the certificate of the gateway for another server, which listens on `host`, and the page that the gateway
  /// would have on a port of that server. A certificate that the gateway creates also names the hosts of the gateway,
  /// so that the gateway does not replace it.
  static func certificate(_ configuration: Configuration, forServerOn host: String, addresses: [String])
    throws(WebGatewayError) -> (WebCertificate, @Sendable (Int) -> BrowserPage)
  {
    let own = configuration.host.map { [$0] } ?? []
    let all = addresses + [HostName.local].compactMap(\.self)
    // The certificate names hosts in this form.
    let host = IPAddressBytes(host)?.text ?? host.lowercased()
    // A server on 0.0.0.0 does not listen on IPv6.
    let shown = host == "0.0.0.0" ? all.filter { !$0.contains(":") } : isWildcard(host) ? all : [host]
    let certificate = try load(configuration, all + shown + own.filter { !isWildcard($0) }, now: .now)
    return (certificate, { port in page(configuration, certificate, shown, port, orElse: shown.first) })
  }

  private static func isWildcard(_ host: String) -> Bool { host == "::" || host == "0.0.0.0" }

  private static func load(_ configuration: Configuration, _ hosts: [String], now: Date) throws(WebGatewayError)
    -> WebCertificate
  {
    if let own = configuration.certificate { return try WebCertificate(certificates: own.certificates, key: own.key) }
    return try WebCertificate(inDirectory: configuration.directory, for: names(hosts), now: now)
  }

  private static func names(_ hosts: [String]) -> Set<String> { Set(hosts + ["localhost", "127.0.0.1", "::1"]) }

  private static func page(
    _ configuration: Configuration,
    _ certificate: WebCertificate,
    _ hosts: [String],
    _ port: Int,
    orElse last: String? = nil
  ) -> BrowserPage {
    var hosts = configuration.certificate == nil ? hosts.filter(certificate.hosts.contains) : certificate.shownHosts
    if hosts.isEmpty { hosts = [last ?? "127.0.0.1"] }
    return BrowserPage(
      origins: hosts.map { "https://\(WebOrigin.authority(host: $0, port: port))" },
      fingerprint: certificate.fingerprint,
      isSelfMade: certificate.authority != nil
    )
  }

  private struct Listening {
    let channels: [any Channel]
    let port: Int
    let server: NIOLoopBoundBox<WebServer?>
  }

  private static func listen(
    _ configuration: Configuration,
    _ certificate: WebCertificate,
    _ transport: PeerTransport,
    _ invite: @escaping PageInvitation.Answer
  ) async throws(WebGatewayError) -> Listening {
    let first = Configuration.defaultPort
    let ports = configuration.port.map { [$0] } ?? Array(first..<first + 100)
    let hosts = configuration.host.map { [$0] } ?? ["::", "0.0.0.0"]
    let interfaces = configuration.host == nil ? transport.interface?.indexes ?? [0] : [0]
    let loop = transport.linkEventLoop
    let page = WebPage()
    var problem = "no address"
    for port in ports {
      for host in hosts {
        do {
          // The server checks the port in requests, so it is created after the port is known.
          let box = NIOLoopBoundBox<WebServer?>.makeBoxSendingValue(nil, eventLoop: loop)
          var listeners: [any Channel] = []
          var bound = port
          do {
            for interface in interfaces {
              let listener = try await ServerBootstrap(group: loop, childGroup: loop).serverChannelOption(
                .backlog,
                value: 256
              ).serverChannelOption(.socketOption(.so_reuseaddr), value: 1).restricted(to: interface)
                .childChannelInitializer { channel in
                  channel.eventLoop.makeCompletedFuture {
                    guard let server = box.value else { throw ChannelError.ioOnClosedChannel }
                    try server.accept(channel)
                  }
                }.bind(host: host, port: bound).get()
              listeners.append(listener)
              bound = listener.localAddress?.port ?? bound
            }
            let port = bound
            try await loop.submit {
              let answer = { (request: PageInvitation.Request, loop: any EventLoop) in
                loop.makeFutureWithTask { await HTTPAnswer.invitation(request, invite) }
              }
              box.value = try WebServer(page, certificate, port: port, invite: answer) { channel, origin in
                try transport.acceptBrowser(channel, origin: origin)
              }
            }.get()
          } catch {
            for listener in listeners { try? await listener.close() }
            throw error
          }
          return Listening(channels: listeners, port: bound, server: box)
        } catch let error as IOError { problem = SystemError.words(for: error.errnoCode) } catch {
          throw WebGatewayError("cannot use the certificate for browsers: \(error)")
        }
      }
    }
    throw WebGatewayError(
      "cannot listen for browsers on port \(configuration.port ?? first): \(problem); "
        + "choose another port with --web-port PORT"
    )
  }
}

enum HostName {
  static var local: String? {
    var buffer = [CChar](repeating: 0, count: 256)
    guard gethostname(&buffer, buffer.count - 1) == 0 else { return nil }
    let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    let name = String(decoding: bytes, as: UTF8.self).lowercased().prefix { $0 != "." }
    guard !name.isEmpty, name != "localhost",
      name.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D })
    else { return nil }
    return "\(name).local"
  }
}

/// The reason why a gateway for browsers cannot open.
public struct WebGatewayError: Error, Sendable, CustomStringConvertible {
  /// The reason, and what the user can do.
  public let description: String

  init(_ description: String) { self.description = description }
}

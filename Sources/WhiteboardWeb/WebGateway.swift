import NIOCore
import NIOPosix
import PeerSession
import WhiteboardKit

/// A gateway for browsers, which serves the page and accepts web links from it (`Protocol/web.md`).
///
/// A gateway belongs to a transport. Each session of the transport decides whether browsers may
/// join it (`Session.openToGuests()`).
public struct WebGateway: Sendable {
  /// The settings of a gateway.
  public struct Configuration: Sendable {
    /// The port that the gateway tries first if ``port`` is nil.
    public static let defaultPort = 26_443

    /// The directory for the gateway's certificates.
    public var directory: String
    /// The address to listen on; nil for all.
    public var host: String?
    /// The port; nil for ``defaultPort`` or the next free one.
    public var port: Int?
    /// The files of the user's own certificate and its private key; nil for a certificate that the
    /// gateway creates.
    public var certificate: (certificates: String, key: String)?

    /// Creates a configuration for the default port on all addresses.
    public init(directory: String) { self.directory = directory }
  }

  /// The origins of the page, best first, such as `https://192.168.1.5:26443`.
  public let origins: [String]
  /// The SHA-256 hash of the certificate, as browsers show it.
  public let fingerprint: String
  /// Whether browsers warn about the certificate, because the gateway made it.
  public let isSelfMade: Bool
  private let listener: any Channel

  /// Opens a gateway.
  ///
  /// - Parameters:
  ///   - configuration: The settings.
  ///   - transport: The transport whose sessions browsers can join.
  /// - Returns: The open gateway.
  /// - Throws: ``WebGatewayError`` if the certificate or the port cannot be used.
  public static func open(
    _ configuration: Configuration,
    on transport: PeerTransport
  ) async throws(WebGatewayError) -> WebGateway {
    let addresses = await reachableHosts(configuration, transport)
    let certificate: WebCertificate
    if let own = configuration.certificate {
      certificate = try WebCertificate(certificates: own.certificates, key: own.key)
    } else {
      certificate = try WebCertificate(
        inDirectory: configuration.directory,
        for: Set(addresses + ["localhost", "127.0.0.1", "::1"])
      )
    }
    let (listener, port) = try await listen(configuration, certificate, transport)
    let hosts = configuration.certificate == nil ? addresses : certificate.shownHosts
    return WebGateway(
      origins: hosts.map { "https://\(WebOrigin.authority(host: $0, port: port))" },
      fingerprint: certificate.fingerprint,
      isSelfMade: certificate.authority != nil,
      listener: listener
    )
  }

  /// Closes the gateway; open web links stay open.
  public func close() async { try? await listener.close() }

  private static func reachableHosts(
    _ configuration: Configuration,
    _ transport: PeerTransport
  ) async -> [String] {
    if let host = configuration.host, host != "::", host != "0.0.0.0" { return [host] }
    var hosts = await transport.addresses()
    if hosts.isEmpty { hosts = ["127.0.0.1"] }
    if let name = HostName.local { hosts.append(name) }
    return hosts
  }

  private static func listen(
    _ configuration: Configuration,
    _ certificate: WebCertificate,
    _ transport: PeerTransport
  ) async throws(WebGatewayError) -> (any Channel, port: Int) {
    let first = Configuration.defaultPort
    let ports = configuration.port.map { [$0] } ?? Array(first..<first + 100)
    let hosts = configuration.host.map { [$0] } ?? ["::", "0.0.0.0"]
    let loop = transport.linkEventLoop
    let page = WebPage()
    var problem = "no address"
    for port in ports {
      for host in hosts {
        do {
          // The server checks the port in requests, so it is created after the port is known.
          let box = NIOLoopBoundBox<WebServer?>.makeBoxSendingValue(nil, eventLoop: loop)
          let listener = try await ServerBootstrap(group: loop, childGroup: loop)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
              channel.eventLoop.makeCompletedFuture {
                guard let server = box.value else { throw ChannelError.ioOnClosedChannel }
                try server.accept(channel)
              }
            }
            .bind(host: host, port: port).get()
          let bound = listener.localAddress?.port ?? port
          do {
            try await loop.submit {
              box.value = try WebServer(page, certificate, port: bound) { channel, origin in
                try transport.acceptBrowser(channel, origin: origin)
              }
            }.get()
          } catch {
            try? await listener.close()
            throw error
          }
          return (listener, bound)
        } catch let error as IOError {
          problem = SystemError.words(for: error.errnoCode)
        } catch {
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

import PeerSession
import WhiteboardKit

/// The gateway that all boards of a program share.
///
/// It is open while at least one board lets browsers join.
public actor SharedGateway: BrowserGateway {
  private let configuration: WebGateway.Configuration
  private var gateway: WebGateway?
  private var users = 0

  /// Creates a gateway that is not open yet.
  public init(_ configuration: WebGateway.Configuration) { self.configuration = configuration }

  /// Creates a gateway from the settings of a program.
  ///
  /// - Parameters:
  ///   - directory: The data directory.
  ///   - host: The address to listen on; nil for all.
  ///   - port: The port; nil for the default.
  ///   - certificate: The file of the user's own certificate; nil if there is none.
  ///   - key: The file of its private key.
  /// - Throws: ``WhiteboardError`` if only one of the two files is given.
  package init(
    directory: String,
    host: String?,
    port: Int?,
    certificate: String?,
    key: String?
  ) throws(WhiteboardError) {
    var configuration = WebGateway.Configuration(directory: directory)
    configuration.host = host
    configuration.port = port
    switch (certificate, key) {
    case (let certificate?, let key?): configuration.certificate = (certificate, key)
    case (nil, nil): break
    default:
      throw WhiteboardError(.usage, "--web-certificate and --web-key must be given together")
    }
    self.init(configuration)
  }

  package func open(on transport: PeerTransport) async throws(WhiteboardError) -> BrowserPage {
    users += 1
    if gateway == nil {
      do throws(WebGatewayError) {
        let new = try await WebGateway.open(configuration, on: transport)
        // Another board may have opened the gateway in the meantime.
        if gateway == nil { gateway = new } else { await new.close() }
      } catch {
        users -= 1
        throw WhiteboardError(.system, error.description)
      }
    }
    guard let gateway else {
      users -= 1
      throw WhiteboardError(.system, "the gateway for browsers was closed")
    }
    return BrowserPage(
      origins: gateway.origins,
      fingerprint: gateway.fingerprint,
      isSelfMade: gateway.isSelfMade
    ) { await self.release() }
  }

  private func release() async {
    users -= 1
    guard users == 0, let gateway else { return }
    self.gateway = nil
    await gateway.close()
  }
}

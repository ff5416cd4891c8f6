import PeerSession
import WhiteboardKit

/// The gateway that all boards of a program share.
///
/// It is open while at least one board lets browsers join.
public actor SharedGateway: BrowserGateway {
  private let configuration: WebGateway.Configuration
  /// The gateway that is open or being opened; nil while no board uses it.
  private var opening: Task<Result<WebGateway, WebGatewayError>, Never>?
  /// The gateway that was closed last, whose port may still be in use until the task ends.
  private var closing: Task<Void, Never>?
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
    let opening = opening ?? begin(on: transport)
    self.opening = opening
    switch await opening.value {
    case .success(let gateway):
      return BrowserPage(
        origins: gateway.origins,
        fingerprint: gateway.fingerprint,
        isSelfMade: gateway.isSelfMade
      ) { await self.release() }
    case .failure(let error):
      users -= 1
      // Another attempt may have begun in the meantime.
      if self.opening == opening { self.opening = nil }
      throw WhiteboardError(.system, error.description)
    }
  }

  private func begin(
    on transport: PeerTransport
  ) -> Task<Result<WebGateway, WebGatewayError>, Never> {
    let (configuration, closing) = (configuration, closing)
    return Task {
      await closing?.value
      do throws(WebGatewayError) {
        return .success(try await WebGateway.open(configuration, on: transport))
      } catch {
        return .failure(error)
      }
    }
  }

  private func release() async {
    users -= 1
    guard users == 0, let opening else { return }
    self.opening = nil
    let closing = Task {
      if case .success(let gateway) = await opening.value { await gateway.close() }
    }
    self.closing = closing
    await closing.value
  }
}

import PeerSession
import WhiteboardKit

/// The gateway that all boards of a program share, open while at least one of them lets browsers join.
package actor SharedGateway: BrowserGateway {
  private let configuration: WebGateway.Configuration
  private let nextCheck: @Sendable () async throws -> Void
  /// The gateway that is open or being opened; nil while no board uses it.
  private var opening: Task<Result<WebGateway, WebGatewayError>, Never>?
  /// The task that closes the previous gateway. Until the task ends, that gateway may still use its port.
  private var closing: Task<Void, Never>?
  /// A task that adopts new addresses; nil while no board uses the gateway.
  private var refreshing: Task<Void, Never>?
  private var users: [Int: User] = [:]
  private var nextUser = 0

  private struct User {
    let session: SessionID
    let changes: AsyncStream<BrowserPage>.Continuation
    let invite: PageInvitation.Answer
  }

  /// `nextCheck` returns when addresses and certificate must be checked again, or throws if its task is canceled.
  package init(
    _ configuration: WebGateway.Configuration,
    nextCheck: @escaping @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(10)) }
  ) {
    self.configuration = configuration
    self.nextCheck = nextCheck
  }

  /// Throws if only one of the two files is given; a nil argument means all addresses, the default port, or a generated
  /// certificate.
  package init(directory: String, host: String?, port: Int?, certificate: String?, key: String?) throws(WhiteboardError)
  {
    var configuration = WebGateway.Configuration(directory: directory)
    configuration.host = host
    configuration.port = port
    switch (certificate, key) {
    case (let certificate?, let key?): configuration.certificate = (certificate, key)
    case (nil, nil): break
    default: throw WhiteboardError(.usage, "--web-certificate and --web-key must be given together")
    }
    self.init(configuration)
  }

  /// Returns the certificate for a server of pictures on an address that other computers can reach. `interface` limits
  /// the addresses of this computer to those of one network interface.
  package func security(ofServerOn host: String, interface: String?) throws(WebGatewayError) -> PictureSecurity {
    let addresses = PeerTransport.addresses(listen: nil, interface: interface)
    let (certificate, page) = try WebGateway.certificate(configuration, forServerOn: host, addresses: addresses)
    return PictureSecurity(certificate: certificate, page: page)
  }

  package func open(on transport: PeerTransport, for session: SessionID, invite: @escaping PageInvitation.Answer)
    async throws(WhiteboardError) -> OpenGateway
  {
    let user = nextUser
    nextUser += 1
    let (changes, source) = AsyncStream<BrowserPage>.makeStream(bufferingPolicy: .bufferingNewest(1))
    users[user] = User(session: session, changes: source, invite: invite)
    let opening = opening ?? begin(on: transport)
    self.opening = opening
    switch await opening.value {
    case .success(let gateway):
      if refreshing == nil { refreshing = refresh(gateway) }
      return OpenGateway(page: await gateway.page, changes: changes) { await self.release(user) }
    case .failure(let error):
      users[user] = nil
      // Another attempt may have begun in the meantime.
      if self.opening == opening { self.opening = nil }
      throw WhiteboardError(.system, error.description)
    }
  }

  private func begin(on transport: PeerTransport) -> Task<Result<WebGateway, WebGatewayError>, Never> {
    let (configuration, closing) = (configuration, closing)
    return Task {
      await closing?.value
      do throws(WebGatewayError) {
        return .success(
          try await WebGateway.open(configuration, on: transport) {
            [weak self] request throws(PageInvitation.Refusal) in
            guard let answer = await self?.users.values.first(where: { $0.session == request.session })?.invite else {
              throw .forbidden("Browsers cannot join this board now.")
            }
            return try await answer(request)
          }
        )
      } catch { return .failure(error) }
    }
  }

  /// Adopts new addresses of this machine and renews the certificate, until its task is canceled.
  private func refresh(_ gateway: WebGateway) -> Task<Void, Never> {
    Task { [nextCheck] in
      while (try? await nextCheck()) != nil {
        guard await gateway.refresh() else { continue }
        let page = await gateway.page
        // Other boards may use another gateway by now.
        guard !Task.isCancelled else { return }
        for user in users.values { user.changes.yield(page) }
      }
    }
  }

  private func release(_ user: Int) async {
    users.removeValue(forKey: user)?.changes.finish()
    guard users.isEmpty, let opening else { return }
    self.opening = nil
    refreshing?.cancel()
    refreshing = nil
    let closing = Task { if case .success(let gateway) = await opening.value { await gateway.close() } }
    self.closing = closing
    await closing.value
  }
}

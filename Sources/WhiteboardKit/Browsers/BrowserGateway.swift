import PeerSession

/// A gateway that serves the page for browsers (`Protocol/web.md`).
package protocol BrowserGateway: Sendable {
  /// Opens the gateway for the sessions of a transport.
  ///
  /// - Returns: The open gateway.
  /// - Throws: ``WhiteboardError`` if its certificate or port cannot be used.
  func open(on transport: PeerTransport) async throws(WhiteboardError) -> BrowserPage
}

/// A page that a gateway serves.
package struct BrowserPage: Sendable {
  /// The origins of the page, best first, such as `https://192.168.1.5:26443`.
  package var origins: [String]
  /// The SHA-256 hash of the gateway's certificate, as browsers show it.
  package var fingerprint: String
  /// Whether browsers warn about the certificate, because the gateway made it.
  package var isSelfMade: Bool
  /// Closes the gateway.
  package var close: @Sendable () async -> Void

  /// Creates the description of a page.
  package init(
    origins: [String],
    fingerprint: String,
    isSelfMade: Bool,
    close: @escaping @Sendable () async -> Void
  ) {
    self.origins = origins
    self.fingerprint = fingerprint
    self.isSelfMade = isSelfMade
    self.close = close
  }
}

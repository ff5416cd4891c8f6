import PeerSession

/// A gateway that serves the page for browsers (`Protocol/web.md`).
package protocol BrowserGateway: Sendable {
  /// Opens the gateway for the sessions of a transport; throws if its certificate or port cannot be used.
  func open(on transport: PeerTransport) async throws(WhiteboardError) -> OpenGateway
}

package struct OpenGateway: Sendable {
  /// The page at the time when the gateway was opened.
  package let page: BrowserPage
  /// The page after each change of its addresses or certificate.
  ///
  /// Slow readers receive only the latest. The stream ends when the board closes the gateway.
  package let changes: AsyncStream<BrowserPage>
  package let close: @Sendable () async -> Void

  package init(page: BrowserPage, changes: AsyncStream<BrowserPage>, close: @escaping @Sendable () async -> Void) {
    self.page = page
    self.changes = changes
    self.close = close
  }
}

/// The addresses and the certificate of a page that a gateway serves.
package struct BrowserPage: Equatable, Sendable {
  /// The origins of the page, best first, such as `https://192.168.1.5:26443`.
  package var origins: [String]
  /// The SHA-256 hash of the gateway's certificate, as browsers show it.
  package var fingerprint: String
  /// Whether browsers warn about the certificate, because the gateway made it.
  package var isSelfMade: Bool

  /// The message before the fingerprint of a certificate that the gateway created.
  package static let warning =
    "When you open the link, the browser warns about the certificate. Continue only if its SHA-256 fingerprint is the "
    + "one below. Otherwise, another person on the network may be sending you a different page."

  package init(origins: [String], fingerprint: String, isSelfMade: Bool) {
    self.origins = origins
    self.fingerprint = fingerprint
    self.isSelfMade = isSelfMade
  }
}

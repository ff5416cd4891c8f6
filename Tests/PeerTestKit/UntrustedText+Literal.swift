import PeerCore

/// Lets tests write the texts of other peers as literals.
extension UntrustedText: ExpressibleByStringLiteral {
  /// Wraps a literal.
  public init(stringLiteral text: String) { self.init(text) }
}

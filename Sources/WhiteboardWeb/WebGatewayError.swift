/// The reason why a gateway for browsers cannot open.
public struct WebGatewayError: Error, Sendable, CustomStringConvertible {
  /// The reason, and what the user can do.
  public let description: String

  init(_ description: String) { self.description = description }
}

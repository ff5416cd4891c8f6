import PeerCore

/// The recipients of a message that confirmed it, and those that did not.
public struct DeliveryReport: Equatable, Sendable {
  /// A recipient that did not confirm the message.
  public struct Undelivered: Encodable, Equatable, Sendable {
    /// The peer id of the recipient.
    public let peer: String
    /// The display name of the recipient.
    public let name: UntrustedText
    /// The reason in one word: the `reason` of the event `left`, or `ending` if the local peer left first.
    public let reason: String
  }

  /// The ids of the recipients that confirmed the message.
  public var delivered: [String] = []
  /// The recipients that did not confirm the message.
  public var undelivered: [Undelivered] = []
}

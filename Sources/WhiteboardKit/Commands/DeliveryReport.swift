/// The recipients of a message that confirmed it, and those that did not.
package struct DeliveryReport: Equatable, Sendable {
  /// A recipient that did not confirm the message.
  package struct Undelivered: Encodable, Equatable, Sendable {
    /// Its id.
    package let peer: String
    /// Its name.
    package let name: String
    /// The reason in one word: the `reason` of `left`, or `ending` if this program ended first.
    package let reason: String
  }

  /// The ids of the recipients that confirmed it.
  package var delivered: [String] = []
  /// The recipients that did not confirm it.
  package var undelivered: [Undelivered] = []
}

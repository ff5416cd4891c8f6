/// Which recipients of a message have it, and which do not.
package struct DeliveryReport: Equatable, Sendable {
  /// A recipient that did not confirm the message.
  package struct Undelivered: Encodable, Equatable, Sendable {
    /// Its id.
    package let peer: String
    /// Its name.
    package let name: String
    /// Why it did not, in a word: the `reason` of `left`, or `ending` when this program ended first.
    package let reason: String
  }

  /// The ids of those that confirmed it.
  package var delivered: [String] = []
  /// Those that did not.
  package var undelivered: [Undelivered] = []
}

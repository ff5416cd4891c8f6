import NIOCore

/// Detects changes of the local addresses, so that the session can send the new addresses to the peers (MEM-4).
struct AddressWatch {
  /// How often the addresses are compared.
  static let interval = TimeAmount.milliseconds(2_500)

  /// The addresses that the peers know.
  private var announced: [String]?
  private var nextCheck: NIODeadline?

  /// Compares the current addresses with the announced ones, if the interval has passed.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - addresses: Returns the current addresses.
  /// - Returns: The addresses to send; `nil` if they have not changed or the interval has not passed.
  mutating func changed(now: NIODeadline, addresses: () -> [String]) -> [String]? {
    if let nextCheck, now < nextCheck { return nil }
    nextCheck = now + Self.interval
    let addresses = addresses()
    guard addresses != announced else { return nil }
    // The first check sends nothing, because each HELLO already contained the addresses.
    defer { announced = addresses }
    return announced == nil ? nil : addresses
  }
}

/// The open connections of a gateway, which are limited in total and for each address (WEB-8).
struct WebConnections {
  /// The maximum number of open connections.
  static let maximum = 512
  /// The maximum number of open connections from one address.
  static let maximumPerAddress = 64

  private var addresses: [ObjectIdentifier: String] = [:]
  private var counts: [String: Int] = [:]

  /// Adds a connection; returns false if a limit is reached.
  mutating func enter(_ id: ObjectIdentifier, from address: String) -> Bool {
    guard addresses.count < Self.maximum, counts[address, default: 0] < Self.maximumPerAddress
    else { return false }
    addresses[id] = address
    counts[address, default: 0] += 1
    return true
  }

  /// Removes a connection, if it was added.
  mutating func leave(_ id: ObjectIdentifier) {
    guard let address = addresses.removeValue(forKey: id) else { return }
    let rest = counts[address, default: 1] - 1
    counts[address] = rest > 0 ? rest : nil
  }
}

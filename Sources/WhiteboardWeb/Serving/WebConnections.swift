import PeerSession

/// The open connections of a gateway, which are limited in total and for each address (WEB-55).
struct WebConnections {
  /// The maximum number of open connections.
  static let maximum = 1_024
  /// The maximum number of open connections from one address, which many guests may share.
  static let maximumPerAddress = 256

  private var addresses: [ObjectIdentifier: AddressBlock] = [:]
  private var counts: [AddressBlock: Int] = [:]

  /// Adds a connection; returns false if a limit is reached.
  ///
  /// `host` is the IP address of the other end. As for peers (LNK-6), all addresses in an
  /// IPv6 /64 usually count as one address.
  mutating func enter(_ id: ObjectIdentifier, from host: String) -> Bool {
    let address = AddressBlock(host: host)
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

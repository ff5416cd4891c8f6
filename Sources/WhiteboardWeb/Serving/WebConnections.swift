import PeerSession

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The open connections of a gateway, which are limited in total and for each address (WEB-55).
struct WebConnections {
  /// The maximum number of open connections, if the process may have enough file descriptors.
  static let maximum = 1_024
  /// The maximum number of open connections from one address, which many guests may share.
  static let maximumPerAddress = 256

  private let limit: Int
  private var addresses: [ObjectIdentifier: AddressBlock] = [:]
  private var counts: [AddressBlock: Int] = [:]

  /// Creates the state of a gateway without connections.
  ///
  /// - Parameter descriptors: The number of file descriptors that the process may have. At least half of them remain
  ///   for peers and files.
  init(descriptors: Int = Self.raisedDescriptorLimit()) { limit = min(Self.maximum, descriptors / 2) }

  /// Raises the limit of the process for open file descriptors as far as it may, and returns it.
  private static func raisedDescriptorLimit() -> Int {
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var current = rlimit()
    guard getrlimit(kind, &current) == 0 else { return maximum }
    let wanted = min(current.rlim_max, rlim_t(8 * maximum))
    if current.rlim_cur < wanted {
      var raised = current
      raised.rlim_cur = wanted
      if setrlimit(kind, &raised) == 0 { current = raised }
    }
    return Int(clamping: current.rlim_cur)
  }

  /// Adds a connection; returns false if a limit is reached.
  ///
  /// `host` is the IP address of the other end. As for peers (LNK-6), all addresses in an
  /// IPv6 /64 usually count as one address.
  mutating func enter(_ id: ObjectIdentifier, from host: String) -> Bool {
    let address = AddressBlock(host: host)
    guard addresses.count < limit, counts[address, default: 0] < Self.maximumPerAddress else { return false }
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

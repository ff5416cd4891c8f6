import Glibc
import NIOCore

extension SocketAddress {
  /// Creates an address from a literal with an optional `%scope` (a name or a number), or resolves a host name.
  static func makeScoped(host: String, port: Int) throws -> SocketAddress {
    let pieces = host.split(separator: "%", maxSplits: 1)
    guard pieces.count == 2 else {
      if let literal = try? SocketAddress(ipAddress: host, port: port) { return literal }
      return try SocketAddress.makeAddressResolvingHost(host, port: port)
    }
    let literal = try SocketAddress(ipAddress: String(pieces[0]), port: port)
    guard case .v6(let v6) = literal else { return literal }
    let scope = UInt32(pieces[1]) ?? if_nametoindex(String(pieces[1]))
    var raw = v6.address
    raw.sin6_scope_id = scope
    return SocketAddress(raw, host: host)
  }
}

import NIOCore

/// The addresses of this machine that other peers may dial.
enum LocalAddresses {
  /// Returns the addresses as text, IPv4 before IPv6.
  ///
  /// Loopback is included only if there is no other address. Link-local IPv6 addresses are never
  /// included, because their scope has no meaning on other machines.
  ///
  /// - Parameters:
  ///   - listen: The only address to listen on; `nil` for all.
  ///   - interface: The only interface whose addresses to return; `nil` for all.
  /// - Returns: IP literals without scope, best first.
  static func current(listen: PeerAddress?, interface: String?) -> [String] {
    if let listen, listen.host != "::", listen.host != "0.0.0.0" {
      return isIPLiteral(listen.host) ? [listen.host] : []
    }
    guard let devices = try? System.enumerateDevices() else { return [] }
    var v4: [String] = []
    var v6: [String] = []
    var loopback: [String] = []
    for device in devices where interface == nil || device.name == interface {
      guard let address = device.address, let text = address.ipAddress else { continue }
      switch address {
      case .v4:
        if text.hasPrefix("127.") { loopback.append(text) } else { v4.append(text) }
      case .v6:
        if text == "::1" {
          loopback.append(text)
        } else if !text.lowercased().hasPrefix("fe80") && !text.contains("%") {
          v6.append(text)
        }
      case .unixDomainSocket: break
      }
    }
    let global = v4 + v6
    return global.isEmpty ? loopback : global
  }
}

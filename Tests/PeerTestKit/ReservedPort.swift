import Glibc

/// Returns a free port for a listener that a test closes and opens again.
///
/// While the listener is closed, no other socket gets the port by chance: for outgoing connections and for listeners on
/// port 0, the system uses only ports from 32,768 on.
public func reservedPort() -> Int {
  while true {
    let port = UInt16.random(in: 10_000..<32_768)
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if status == 0 { return Int(port) }
  }
}

import Glibc

/// The datagram socket of a service manager.
///
/// The address is a path, or `@` and a name in Linux's abstract namespace.
struct NotifySocket: Sendable {
  private let name: [UInt8]

  init(_ address: String) throws(ServiceNotifier.EnvironmentError) {
    var name = Array(address.utf8)
    guard name.first == UInt8(ascii: "/") || name.first == UInt8(ascii: "@"), name.count > 1 else {
      throw ServiceNotifier.EnvironmentError(description: "NOTIFY_SOCKET is neither a path nor an abstract name")
    }
    guard name.count < Self.capacity, !name.contains(0) else {
      throw ServiceNotifier.EnvironmentError(description: "NOTIFY_SOCKET is too long")
    }
    if name[0] == UInt8(ascii: "@") { name[0] = 0 }
    self.name = name
  }

  /// Sends one datagram, and returns whether it was sent.
  func send(_ text: String) -> Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    // Do not wait longer than a second, because the service manager reads immediately unless it hangs.
    var patience = timeval(tv_sec: 1, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    // An abstract name has no terminator, so its end follows from the length of the address. A path ends with a zero
    // byte, and the length need not include this byte.
    let length = socklen_t(MemoryLayout<sockaddr_un>.size - Self.capacity + name.count)
    let bytes = Array(text.utf8)
    let sent = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
      }
    }
    return sent == bytes.count
  }

  private static var capacity: Int { MemoryLayout.size(ofValue: sockaddr_un().sun_path) }
}

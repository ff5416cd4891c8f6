#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Calls `body` with the address of a Unix domain socket; returns nil if the name is too long. The name is a path, or a
/// zero byte and a name in Linux's abstract namespace. An abstract name has no terminator, so its end follows from the
/// length of the address. A path ends with a zero byte, which the length need not include.
package func withUnixAddress<Result>(
  _ name: some Collection<UInt8>,
  _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) -> Result? {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  let capacity = MemoryLayout.size(ofValue: address.sun_path)
  guard name.count < capacity else { return nil }
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
  let length = socklen_t(MemoryLayout<sockaddr_un>.size - capacity + name.count)
  return withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
  }
}

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An IP address: 4 or 16 bytes, the most significant first.
struct IPAddressBytes: Equatable {
  let bytes: [UInt8]

  /// Creates an address from its bytes; returns nil for any other number of bytes.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  /// Parses an address that has neither brackets nor a scope; returns nil if the text is malformed.
  init?(_ text: String) {
    var v4 = in_addr()
    var v6 = in6_addr()
    if inet_pton(AF_INET, text, &v4) == 1 {
      bytes = withUnsafeBytes(of: &v4) { Array($0) }
    } else if inet_pton(AF_INET6, text, &v6) == 1 {
      bytes = withUnsafeBytes(of: &v6) { Array($0) }
    } else {
      return nil
    }
  }

  /// The IPv4 address that an IPv4-mapped address stands for; otherwise, this address.
  var unmapped: IPAddressBytes {
    let prefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
    guard bytes.count == 16, bytes.starts(with: prefix) else { return self }
    return IPAddressBytes(Array(bytes.suffix(4))) ?? self
  }

  /// The address as text, in its shortest form (RFC 5952).
  var text: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

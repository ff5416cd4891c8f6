import NIOCore

/// The part of an IP address to which per-address limits apply (LNK-6, HEL-5, ADM-3).
///
/// An IPv6 customer usually has a whole /64, so all addresses in a /64 form one block. Each link-local address is a
/// separate block, because all peers of a network share the same /64. Each IPv4 address is a separate block, even if it
/// is written as an IPv6 address.
package struct AddressBlock: Hashable, Sendable {
  /// The text of the IPv4 address, the 8 bytes of the /64 in hex, or the link-local address with its scope.
  let text: String
  /// The networks that contain the block, the larger one first, and the block itself.
  ///
  /// An attacker can have many addresses of a network: they are /16 and /24 for IPv4, and /32 and /48 for IPv6.
  let groups: [String]

  package init(host: String) {
    let pieces = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    guard let literal = pieces.first, case .v6(let address)? = try? SocketAddress(ipAddress: String(literal), port: 0)
    else {
      self.init(v4: host)
      return
    }
    var raw = address.address.sin6_addr
    let bytes = withUnsafeBytes(of: &raw) { Array($0) }
    if bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
      self.init(v4: bytes[12...].map { String($0) }.joined(separator: "."))
    } else {
      let isLinkLocal = bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
      let scope = pieces.count == 2 ? "%\(pieces[1])" : ""
      func prefix(_ count: Int) -> String { bytes.prefix(count).map { String($0, radix: 16) }.joined(separator: ":") }
      self.init(isLinkLocal ? prefix(16) + scope : prefix(8) + "::", in: [prefix(4), prefix(6)])
    }
  }

  private init(v4 text: String) {
    let bytes = text.split(separator: ".")
    self.init(text, in: [2, 3].map { bytes.prefix($0).joined(separator: ".") })
  }

  private init(_ text: String, in networks: [String]) {
    self.text = text
    groups = networks + [text]
  }
}

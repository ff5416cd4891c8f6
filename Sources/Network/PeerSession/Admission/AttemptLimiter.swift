import NIOCore
import PeerWire

/// Locks out peers that guess codes (ADM-3). The limiter counts wrong proofs by ``AddressBlock`` and by key. `now` is
/// the time since an arbitrary reference point.
struct AttemptLimiter: Sendable {
  /// How long the limiter remembers a wrong proof, and how long it locks out an address or a key.
  static let window = Duration.seconds(60)
  static let maximumEntries = 1_024

  enum Standing: Sendable {
    case newcomer
    /// A member that may already know the code (MEM-17), and thus gains nothing by guessing.
    case member
    /// A member of an owned board, who may have fewer rights than the code gives.
    case memberOfOwnedBoard
  }

  private enum Source: Hashable {
    case address(AddressBlock)
    /// The address of a member, counted separately so that a member's outdated code does not lock out a newcomer.
    case members(AddressBlock)
    case peer(PeerID)
  }

  private struct Record {
    var wrong: [Duration] = []
    var lockedUntil: Duration?
    var touched: Duration
  }

  private var records: [Source: Record] = [:]

  init() {}

  var count: Int { records.count }

  private func sources(_ address: String, _ peer: PeerID, _ standing: Standing) -> [Source] {
    switch standing {
    case .newcomer: [.address(AddressBlock(host: address)), .peer(peer)]
    case .member: [.peer(peer)]
    case .memberOfOwnedBoard: [.members(AddressBlock(host: address)), .peer(peer)]
    }
  }

  func isLocked(address: String, peer: PeerID, as standing: Standing = .newcomer, now: Duration) -> Bool {
    sources(address, peer, standing).contains { source in records[source]?.lockedUntil.map { now < $0 } ?? false }
  }

  /// The third wrong proof within a minute from one address or with one key locks out both the address and the key. A
  /// member's proofs do not lock out newcomers at the member's address.
  mutating func proofWasWrong(address: String, peer: PeerID, as standing: Standing = .newcomer, now: Duration) {
    let sources = sources(address, peer, standing)
    var isOver = false
    for source in sources {
      var record = records[source] ?? Record(touched: now)
      record.wrong.removeAll { $0 <= now - Self.window }
      record.wrong.append(now)
      record.touched = now
      isOver = isOver || record.wrong.count >= Limits.wrongProofs
      records[source] = record
    }
    if isOver {
      for source in sources {
        records[source]?.lockedUntil = now + Self.window
        records[source]?.wrong = []
      }
    }
    makeRoom(now: now)
  }

  private mutating func makeRoom(now: Duration) {
    guard records.count > Self.maximumEntries else { return }
    records = records.filter { $0.value.touched > now - Self.window }
    while records.count > Self.maximumEntries, let oldest = records.min(by: { $0.value.touched < $1.value.touched }) {
      records[oldest.key] = nil
    }
  }
}

/// The part of an IP address to which per-address limits apply (LNK-6, HEL-5, ADM-3). An IPv6 customer usually has a
/// whole /64, so all addresses in a /64 form one block. Each link-local address is a separate block, because all peers
/// of a network share the same /64. Each IPv4 address is a separate block, even if it is written as an IPv6 address.
package struct AddressBlock: Hashable, Sendable {
  /// The text of the IPv4 address, the 8 bytes of the /64 in hex, or the link-local address with its scope.
  let text: String
  /// The networks that contain the block, the larger network first, and then the block itself. The networks are /16 and
  /// /24 for IPv4, and /32 and /48 for IPv6: an attacker can have many addresses in such a network.
  let groups: [String]

  package init(host: String) {
    guard let bytes = addressBytes(host), bytes.count == 16 else {
      let text = addressBytes(host).map { $0.map(String.init).joined(separator: ".") } ?? host
      let pieces = text.split(separator: ".")
      self.init(text, in: [2, 3].map { pieces.prefix($0).joined(separator: ".") })
      return
    }
    let isLinkLocal = bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
    let scope = host.drop { $0 != "%" }
    func prefix(_ count: Int) -> String { bytes.prefix(count).map { String($0, radix: 16) }.joined(separator: ":") }
    self.init(isLinkLocal ? prefix(16) + scope : prefix(8) + "::", in: [prefix(4), prefix(6)])
  }

  private init(_ text: String, in networks: [String]) {
    self.text = text
    groups = networks + [text]
  }
}

/// An IPv4 address in an IPv6 literal has 4 bytes.
func addressBytes(_ host: String) -> [UInt8]? {
  switch try? SocketAddress(ipAddress: String(host.prefix { $0 != "%" }), port: 0) {
  case .v4(let address): return withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
  case .v6(let address):
    let bytes = withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
    let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
    return isMapped ? Array(bytes[12...]) : bytes
  case .unixDomainSocket, nil: return nil
  }
}

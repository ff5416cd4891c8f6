import NIOCore

/// The number of connections that may be opened to an address at which no peer was ever reached (MEM-18). Without this
/// limit, a member that names many peers with one address could make every other member dial that address. Loopback is
/// exempt, because nothing outside this machine is dialed there.
struct DialBudget: Sendable {
  /// The number of connections to one address that may be opened in a burst.
  static let burst = 32.0
  /// The number of further connections per second.
  static let rate = 1.0
  static let maximum = 1_024

  private struct Bucket {
    var tokens: Double
    var filledAt: NIODeadline

    mutating func fill(_ now: NIODeadline) {
      let elapsed = Double((now - filledAt).nanoseconds) / 1e9
      tokens = min(DialBudget.burst, tokens + max(0, elapsed) * DialBudget.rate)
      filledAt = now
    }
  }

  private var buckets: [AddressBlock: Bucket] = [:]

  mutating func take(_ host: String, now: NIODeadline) -> Bool {
    guard AddressKind(host) != .loopback else { return true }
    let block = AddressBlock(host: host)
    if buckets[block] == nil, buckets.count >= Self.maximum {
      for key in buckets.keys { buckets[key]?.fill(now) }
      buckets = buckets.filter { $0.value.tokens < Self.burst }
      guard buckets.count < Self.maximum else { return false }
    }
    var bucket = buckets[block] ?? Bucket(tokens: Self.burst, filledAt: now)
    bucket.fill(now)
    defer { buckets[block] = bucket }
    guard bucket.tokens >= 1 else { return false }
    bucket.tokens -= 1
    return true
  }
}

/// The kinds of IP addresses that other peers may name (MEM-18).
enum AddressKind {
  case host
  case loopback
  /// An address that does not identify one machine: unspecified, multicast or broadcast.
  case unusable

  init(_ host: String) {
    guard let bytes = addressBytes(host) else {
      self = .host
      return
    }
    if bytes.count == 4 {
      self = bytes[0] == 127 ? .loopback : bytes[0] == 0 || bytes[0] >= 224 ? .unusable : .host
    } else if bytes.prefix(15).allSatisfy({ $0 == 0 }), bytes[15] < 2 {
      self = bytes[15] == 1 ? .loopback : .unusable
    } else {
      self = bytes[0] == 0xFF ? .unusable : .host
    }
  }
}

extension Control.Member {
  /// Returns this description without the addresses that its sender may not name (MEM-18). Loopback addresses are valid
  /// only on a link from a loopback address, because both peers then share a machine.
  func usable(from remote: PeerAddress?) -> Control.Member {
    var member = self
    member.addresses = usableAddresses(addresses, from: remote)
    return member
  }
}

/// Returns the addresses that a peer may name on a link from `remote` (MEM-18).
func usableAddresses(_ addresses: [String], from remote: PeerAddress?) -> [String] {
  let isLocal = remote.map { AddressKind($0.host) == .loopback } ?? false
  return addresses.filter { address in
    switch AddressKind(address) {
    case .host: true
    case .loopback: isLocal
    case .unusable: false
    }
  }
}

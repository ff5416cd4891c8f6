import PeerWire

/// Locks out peers that guess codes (ADM-3).
///
/// It counts wrong proofs by ``AddressBlock`` and by key. `now` is the time since an arbitrary reference point.
struct AttemptLimiter: Sendable {
  /// How long the limiter remembers a wrong proof, and how long it locks out an address or a key.
  static let window = Duration.seconds(60)
  /// The maximum number of stored addresses and keys.
  ///
  /// If it is exceeded, the entry with the oldest wrong proof is removed.
  static let maximumEntries = 1_024

  /// What a dialler already is in the session that it joins with a code.
  enum Standing: Sendable {
    case newcomer
    /// A member that may know the code anyway (MEM-17), so that its guesses are worth nothing.
    case member
    /// A member of an owned board, who may have fewer rights than the code gives.
    case memberOfOwnedBoard
  }

  private enum Source: Hashable {
    case address(AddressBlock)
    /// The address of members, so that an outdated code of a member does not lock out a newcomer.
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

  /// The number of stored addresses and keys.
  var count: Int { records.count }

  private func sources(_ address: String, _ peer: PeerID, _ standing: Standing) -> [Source] {
    switch standing {
    case .newcomer: [.address(AddressBlock(host: address)), .peer(peer)]
    case .member: [.peer(peer)]
    case .memberOfOwnedBoard: [.members(AddressBlock(host: address)), .peer(peer)]
    }
  }

  /// Returns whether a proof from this address or key is answered with `locked-out` without being checked.
  func isLocked(address: String, peer: PeerID, as standing: Standing = .newcomer, now: Duration) -> Bool {
    sources(address, peer, standing).contains { source in records[source]?.lockedUntil.map { now < $0 } ?? false }
  }

  /// The third wrong proof within a minute from one address or with one key locks out both the address and the key.
  ///
  /// A member's proofs lock out no newcomer at its address.
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

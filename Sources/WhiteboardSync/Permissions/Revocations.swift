import Whiteboard

/// All revocations of a board, whose effect does not depend on their order; implements AUT-14.
struct Revocations {
  /// The maximum number of revocations of a board.
  static let limit = 4096

  /// All revocations, in the order in which they arrived.
  private(set) var all: [Revocation] = []
  private var known: Set<Bytes32> = []
  /// The effective revocations, by the member that they concern.
  private var counting: [MemberID: [Revocation]] = [:]

  /// Whether there are none.
  var isEmpty: Bool { all.isEmpty }

  /// Whether there is no room for another one.
  var isFull: Bool { all.count >= Self.limit }

  /// Returns whether an equal revocation is known.
  func contains(_ revocation: Revocation) -> Bool { known.contains(.sha256(revocation.body)) }

  /// Adds a revocation, whose signatures were verified.
  ///
  /// If the owner revokes the right to grant of another issuer, the revocations by that issuer become void.
  /// - Returns: Whether it is new, and there was room.
  mutating func insert(_ revocation: Revocation) -> Bool {
    guard !isFull, known.insert(.sha256(revocation.body)).inserted else { return false }
    all.append(revocation)
    counting = [:]
    let owners = all.filter(\.isOwners)
    for next in all {
      let isVoid = next.grant.certificates.contains { certificate in
        owners.contains { $0.takesBack(HeldCertificate(certificate)) }
      }
      if !isVoid { counting[next.member, default: []].append(next) }
    }
    return true
  }

  /// Returns the last sequence of an incarnation that counts; nil if all do.
  func limit(of record: AuthorRecord) -> UInt64? {
    guard !counting.isEmpty else { return nil }
    var least: UInt64?
    for held in record.certificates {
      for revocation in counting[held.holder] ?? [] where revocation.takesBack(held) {
        let counted = revocation.counted[record.incarnation] ?? 0
        least = min(least ?? counted, counted)
      }
    }
    return least
  }

  /// Returns whether a certificate of a grant was revoked.
  func takeBack(_ grant: Grant) -> Bool {
    grant.certificates.contains { certificate in
      let held = HeldCertificate(certificate)
      return counting[held.holder]?.contains { $0.takesBack(held) } ?? false
    }
  }

  /// Returns the greatest revoked serial of a member.
  func serial(of member: MemberID) -> UInt64? { counting[member]?.map(\.serial).max() }
}

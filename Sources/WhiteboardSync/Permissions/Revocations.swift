import Whiteboard

/// All revocations of a board, in whatever order they came, and what they say together; implements
/// AUT-14.
struct Revocations {
  /// The most of a board.
  static let limit = 4096

  /// All of them, in the order in which they came.
  private(set) var all: [Revocation] = []
  private var known: Set<Bytes32> = []
  /// The effective revocations, by the member that they concern.
  private var counting: [MemberID: [Revocation]] = [:]

  /// Whether there are none.
  var isEmpty: Bool { all.isEmpty }

  /// Whether no more have room.
  var isFull: Bool { all.count >= Self.limit }

  /// Whether it is here.
  func contains(_ revocation: Revocation) -> Bool { known.contains(.sha256(revocation.body)) }

  /// Takes one whose signatures hold; what it says may undo what another says, where the owner takes
  /// back the right by which that was said.
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

  /// The last sequence of an incarnation that counts, or nil if all do.
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

  /// Whether a grant was taken back.
  func takeBack(_ grant: Grant) -> Bool {
    grant.certificates.contains { certificate in
      let held = HeldCertificate(certificate)
      return counting[held.holder]?.contains { $0.takesBack(held) } ?? false
    }
  }

  /// The greatest serial that was taken back of a member.
  func serial(of member: MemberID) -> UInt64? { counting[member]?.map(\.serial).max() }
}

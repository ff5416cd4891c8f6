import PeerCore
import Whiteboard

/// All revocations on a board, whose effect does not depend on their order; implements AUT-14.
struct Revocations {
  static let limit = 4096

  private let room: Int

  /// All revocations, in the order in which they arrived.
  private(set) var all: [Revocation] = []
  private var known: Set<Bytes32> = []
  /// The effective revocations, by the member whose rights they revoke.
  private var counting: [MemberID: [Revocation]] = [:]

  /// Creates the state of a board without revocations.
  init(room: Int = limit) { self.room = room }

  var isEmpty: Bool { all.isEmpty }

  var isFull: Bool { all.count >= room }

  /// Returns whether there is room for a revocation by the local member; a quarter of the room is reserved for members
  /// that are not guests.
  func hasRoom(forGuest isGuest: Bool) -> Bool { all.count < (isGuest ? room / 4 * 3 : room) }

  func contains(_ revocation: Revocation) -> Bool { known.contains(.sha256(revocation.body)) }

  /// Adds a verified revocation; returns whether the revocation is new and there was room for it.
  ///
  /// If the owner revokes the right of another issuer to grant rights, revocations by that issuer become void.
  mutating func insert(_ revocation: Revocation) -> Bool {
    guard !isFull, known.insert(.sha256(revocation.body)).inserted else { return false }
    all.append(revocation)
    counting = [:]
    let owners = all.filter { $0.isOwners }
    for next in all {
      let isVoid = next.grant.certificates.contains { certificate in
        owners.contains { $0.takesBack(HeldCertificate(certificate)) }
      }
      if !isVoid { counting[next.member, default: []].append(next) }
    }
    return true
  }

  /// Returns the last sequence number of an incarnation that remains valid; nil if none of its changes are revoked.
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

  func takeBack(_ grant: Grant) -> Bool {
    grant.certificates.contains { certificate in
      let held = HeldCertificate(certificate)
      return counting[held.holder]?.contains { $0.takesBack(held) } ?? false
    }
  }

  /// Returns the greatest serial number that was revoked for a member; nil if none was.
  func serial(of member: MemberID) -> UInt64? { counting[member]?.map { $0.serial }.max() }
}

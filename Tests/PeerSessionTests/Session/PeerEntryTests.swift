import NIOCore
import PeerCore
import PeerWire
import Testing

@testable import PeerSession

@Suite struct PeerEntryTests {
  private let announcer = PeerID.random()
  private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

  private func makeEntry() -> PeerEntry {
    let id = PeerID.random()
    return PeerEntry(id: id, member: Control.Member(peer: id, incarnation: .random()))
  }

  @Test("[MEM-1] only a member that announced the peer in the last 10 s need not hear of it") func announced() {
    let entry = makeEntry()
    entry.announced(by: announcer, now: start)
    #expect(entry.isAnnounced(by: announcer, now: start + .milliseconds(9_999)))
    #expect(!entry.isAnnounced(by: announcer, now: start + .seconds(10)))
    #expect(!entry.isAnnounced(by: .random(), now: start))
  }

  @Test("[MEM-1] every member hears of a process of the peer that is new") func restarted() {
    let entry = makeEntry()
    entry.announced(by: announcer, now: start)
    var member = entry.member
    member.port = 26_273
    entry.member = member
    #expect(entry.isAnnounced(by: announcer, now: start))
    member.incarnation = .random()
    entry.member = member
    #expect(!entry.isAnnounced(by: announcer, now: start))
  }

  @Test("[MEM-1] many announcements make room for new ones only when they are old") func bounded() {
    let entry = makeEntry()
    for _ in 0..<Limits.members { entry.announced(by: .random(), now: start) }
    entry.announced(by: announcer, now: start + .seconds(9))
    #expect(!entry.isAnnounced(by: announcer, now: start + .seconds(9)))
    entry.announced(by: announcer, now: start + .seconds(10))
    #expect(entry.isAnnounced(by: announcer, now: start + .seconds(10)))
  }
}

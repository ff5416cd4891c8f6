import NIOCore
import PeerDiscovery
import PeerWire
import Testing

@testable import PeerSession

@Suite("ReadingControl") struct ReadingControlTests {
  private let now = NIODeadline.uptimeNanoseconds(1_000_000_000)
  private let peers = (UInt8(0)..<2).compactMap { PeerID(bytes: [UInt8](repeating: $0, count: 32)) }
  private var control = ReadingControl()

  @Test("[MSG-5] each reason alone stops reading, and only for its own peer") mutating func reasons() {
    #expect(control.reads(peers[0]))
    control.isApplicationBehind = true
    #expect(!control.reads(peers[0]) && !control.reads(peers[1]))
    control.isApplicationBehind = false
    control.throttle(peers[0])
    #expect(control.isThrottled(peers[0]))
    #expect(!control.reads(peers[0]) && control.reads(peers[1]))
    control.stop(peers[0])
    control.endThrottle(peers[0])
    #expect(!control.reads(peers[0]) && control.reads(peers[1]))
    control.start(peers[0])
    #expect(control.reads(peers[0]))
  }

  @Test("[MSG-5] a large message of a stopped peer needs its room until the peer is started again")
  mutating func stoppedMessage() {
    control.room.began(Limits.message, from: peers[0], now: now)
    control.room.completed(by: peers[0])
    #expect(!control.reads(peers[0]))
    control.stop(peers[0])
    #expect(control.messageHandled(of: peers[0], now: now).isEmpty)
    control.start(peers[0])
    #expect(control.messageHandled(of: peers[0], now: now) == [peers[0]])
    #expect(control.reads(peers[0]))
  }

  @Test("[MSG-5] a peer that leaves gives its room to the next one") mutating func departure() {
    control.room.began(Limits.message, from: peers[0], now: now)
    control.room.began(Limits.message, from: peers[1], now: now)
    #expect(control.reads(peers[0]) && !control.reads(peers[1]))
    #expect(control.room.removed(peers[0], now: now) == [peers[1]])
    #expect(control.reads(peers[1]))
  }
}

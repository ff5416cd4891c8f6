import NIOCore
import PeerDiscovery
import PeerTestKit
import PeerWire
import Testing

@testable import PeerSession

@Suite("MessageRoom") struct MessageRoomTests {
  private let peers = (UInt8(0)..<4).compactMap { PeerID(bytes: [UInt8](repeating: $0, count: 32)) }
  private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
  /// There is room for two messages of this size at a time.
  private let largest = Limits.message / 2

  @Test("[MSG-5] messages up to 1 MiB need no room") func small() {
    var room = MessageRoom()
    for peer in peers { room.began(MessageRoom.threshold, from: peer, now: start) }
    for peer in peers {
      #expect(!room.stops(peer))
      room.completed(by: peer)
      #expect(!room.stops(peer))
    }
  }

  @Test("[MSG-5] large messages get room in order; the next one gets it when one was handled") func order() {
    var room = MessageRoom()
    for peer in peers { room.began(largest, from: peer, now: start) }
    #expect(peers.map { room.stops($0) } == [false, false, true, true])
    // The message has arrived, and its link stops until the message was handled.
    room.completed(by: peers[1])
    #expect(room.stops(peers[1]))
    #expect(room.handled(peers[0], now: start) == [])
    #expect(room.handled(peers[1], now: start) == [peers[1], peers[2]])
    #expect(peers.map { room.stops($0) } == [false, false, false, true])
  }

  @Test("[MSG-5] a smaller message that needs room does not overtake one that waits") func noOvertaking() {
    var room = MessageRoom()
    room.began(largest, from: peers[0], now: start)
    room.began(largest / 2, from: peers[1], now: start)
    room.began(largest, from: peers[2], now: start)
    room.began(largest / 4, from: peers[3], now: start)
    #expect(peers.map { room.stops($0) } == [false, false, true, true])
  }

  @Test("[MSG-5] if a peer leaves, its room, or its place among those that wait, goes to others") func departure() {
    var room = MessageRoom()
    for peer in peers { room.began(largest, from: peer, now: start) }
    #expect(room.removed(peers[2], now: start) == [])
    #expect(room.removed(peers[0], now: start) == [peers[3]])
    #expect(room.removed(peers[0], now: start) == [])
    #expect(peers.map { room.stops($0) } == [false, false, false, false])
  }

  @Test("[MSG-5] a message that arrives too slowly is overdue only while another one waits") func overdue() {
    var room = MessageRoom()
    room.began(largest, from: peers[0], now: start)
    room.began(largest, from: peers[1], now: start)
    room.completed(by: peers[1])
    #expect(room.nextDue == nil)
    #expect(room.overdue(start + .hours(1)) == [])
    let asked = start + .seconds(60)
    room.began(largest, from: peers[2], now: asked)
    #expect(room.nextDue == asked + MessageRoom.timeout(Limits.message / 2))
    #expect(room.overdue(asked + .seconds(6)) == [])
    #expect(room.overdue(asked + .seconds(7)) == [peers[0]])
    // A message that has arrived is not overdue, because the application has it.
    #expect(room.removed(peers[0], now: asked + .seconds(7)) == [peers[2]])
    #expect(room.nextDue == nil)
  }

  @Test("[MSG-5] with any sizes in any order, the room is not exceeded and all messages get it", arguments: 1...20)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var room = MessageRoom()
    var arriving: [PeerID: Int] = [:]
    var handled = 0
    for _ in 0..<1_000 {
      let peer = peers[Int.random(in: 0..<4, using: &random)]
      if let bytes = arriving[peer] {
        guard !room.stops(peer) else { continue }
        if bytes > MessageRoom.threshold {
          room.completed(by: peer)
          #expect(room.handled(peer, now: start).first == peer)
        }
        arriving[peer] = nil
        handled += 1
      } else {
        let bytes = Int.random(in: 1...largest, using: &random)
        room.began(bytes, from: peer, now: start)
        arriving[peer] = bytes
      }
      let used = arriving.filter { $0.value > MessageRoom.threshold && !room.stops($0.key) }
      #expect(used.values.reduce(0, +) <= MessageRoom.capacity)
    }
    #expect(handled > 200)
    // No state is left.
    for peer in arriving.keys { _ = room.removed(peer, now: start) }
    for peer in peers.prefix(2) { room.began(largest, from: peer, now: start) }
    #expect(!room.stops(peers[0]) && !room.stops(peers[1]))
  }

  @Test("[MSG-5] the time in which the receiver does not read a link does not count") func resumed() {
    var room = MessageRoom()
    for peer in peers.prefix(3) { room.began(largest, from: peer, now: start) }
    room.resumed(peers[0], now: start + .seconds(5))
    #expect(room.overdue(start + .seconds(8)) == [peers[1]])
    #expect(room.overdue(start + .seconds(12)) == [peers[0], peers[1]])
  }

  @Test("[MSG-5] a message of the maximum size has room if there is no other") func greatest() {
    var room = MessageRoom()
    // The message includes the envelope that a relay adds.
    room.began(Limits.message + 64, from: peers[0], now: start)
    #expect(!room.stops(peers[0]))
    room.began(MessageRoom.threshold + 1, from: peers[1], now: start)
    #expect(room.stops(peers[1]))
  }
}

import PeerCore
import PeerDiscovery
import PeerSession
import Testing
import Whiteboard
import WhiteboardSync

@testable import WhiteboardKit

@Suite("The readers of a board's changes") struct ChangeReadersTests {
  private let ada = SharedBoard.Member(id: PeerIdentity.ephemeral().peerID, name: UntrustedText("Ada"))

  private func message(_ number: Int) -> SharedBoard.Change {
    .message([UInt8(truncatingIfNeeded: number)], from: ada, mode: .reliable)
  }

  private func presence(_ x: Double) throws -> SharedBoard.Change {
    .presence(try Presence(cursor: Point(x: x, y: 0)), of: ada)
  }

  private func drain(_ buffer: ChangeBuffer) async -> [String] {
    buffer.finish()
    var seen: [String] = []
    while let change = await buffer.next() {
      switch change {
      case .message(let bytes, _, _): seen.append("message \(bytes[0])")
      case .presence(let presence, _): seen.append("presence \(presence.cursor?.x ?? .nan)")
      case .missed(let count): seen.append("missed \(count)")
      default: seen.append("other")
      }
    }
    return seen
  }

  @Test("each reader gets every change after it began, in order") func order() async {
    let readers = ChangeReaders()
    #expect(readers.isEmpty)
    let first = readers.add()
    readers.publish(message(1))
    let second = readers.add()
    readers.publish(message(2))
    #expect(await drain(first) == ["message 1", "message 2"])
    #expect(await drain(second) == ["message 2"])
  }

  @Test("a slow reader learns how many changes were dropped, and gets the later ones") func overflow() async {
    let readers = ChangeReaders()
    let buffer = readers.add()
    for number in 0...ChangeBuffer.capacity { readers.publish(message(number)) }
    readers.publish(message(7))
    #expect(await drain(buffer) == ["missed \(ChangeBuffer.capacity + 1)", "message 7"])
  }

  @Test("of the positions of one member, a slow reader gets the latest, in its place") func presences() async throws {
    let readers = ChangeReaders()
    let buffer = readers.add()
    readers.publish(try presence(1))
    readers.publish(message(1))
    readers.publish(try presence(2))
    readers.publish(try presence(3))
    #expect(await drain(buffer) == ["message 1", "presence 3.0"])
  }

  @Test("positions of one member never fill the buffer") func manyPresences() async throws {
    let readers = ChangeReaders()
    let buffer = readers.add()
    readers.publish(message(1))
    for x in 0..<3 * ChangeBuffer.capacity { readers.publish(try presence(Double(x))) }
    #expect(await drain(buffer) == ["message 1", "presence \(Double(3 * ChangeBuffer.capacity - 1))"])
  }

  @Test("a waiting reader gets the next change, and nil when its task is canceled") func waiting() async {
    let readers = ChangeReaders()
    let buffer = readers.add()
    let reader = Task { await buffer.next() != nil }
    readers.publish(message(1))
    #expect(await reader.value)
    let canceled = Task { await buffer.next() == nil }
    canceled.cancel()
    #expect(await canceled.value)
    readers.publish(message(2))
    #expect(await drain(buffer) == ["message 2"], "a canceled reader takes nothing")
  }

  @Test("a sequence without references is removed") func forgotten() {
    let readers = ChangeReaders()
    do {
      let buffer = readers.add()
      buffer.append(message(1))
    }
    readers.publish(message(2))
    #expect(readers.isEmpty)
  }

  @Test("a reader that begins after the end gets nothing") func afterTheEnd() async {
    let readers = ChangeReaders()
    readers.finish()
    #expect(await readers.add().next() == nil)
  }

  @Test("a reader that stays a little behind does not make the buffer grow") func steadyReader() async throws {
    let readers = ChangeReaders()
    let buffer = readers.add()
    readers.publish(message(0))
    for number in 1...3 * ChangeBuffer.capacity {
      readers.publish(message(number))
      _ = await buffer.next()
    }
    #expect(buffer.storedCount <= 2 * ChangeBuffer.capacity + 1)
    #expect(await drain(buffer).count == 1)
  }

  @Test("large messages fill the buffer before 4,096 changes do") func largeMessages() async {
    let readers = ChangeReaders()
    let buffer = readers.add()
    for _ in 0..<5 { readers.publish(.message([UInt8](repeating: 0, count: 16 << 20), from: ada, mode: .reliable)) }
    readers.publish(message(1))
    #expect(await drain(buffer) == ["missed 5", "message 1"])
  }

  @Test("changes published after the end are not read") func publishedAfterTheEnd() async {
    let readers = ChangeReaders()
    let buffer = readers.add()
    readers.finish()
    #expect(await buffer.next() == nil)
    readers.publish(message(1))
    #expect(await buffer.next() == nil)
  }
}

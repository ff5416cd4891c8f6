import BoardWorlds
import Testing

@testable import WhiteboardSync

/// The number of messages between many replicas, which must not grow with the square of their number.
@Suite struct RoomTests {
  /// Returns a room in which all have caught up, with empty counts.
  private func room(_ count: Int) -> Room {
    let room = Room(count)
    room.joinAll()
    room.pass(10_000)
    _ = room.takeCounts()
    return room
  }

  /// Returns the messages of half a second in which all replicas write.
  private func said(_ room: Room) -> [Room.Kind: Room.Count] {
    for _ in 0..<10 {
      for number in room.replicas.indices { room.write(number) }
      room.pass(50)
    }
    return room.takeCounts()
  }

  @Test("[SYN-10] [AUT-7] a batch and a head are encoded once for any number of recipients") func once() throws {
    let room = room(10)
    // An author message precedes the first batch, because other members joined after the first member.
    room.write(0)
    _ = room.takeCounts()
    room.write(0)
    var counts = room.takeCounts()
    #expect(counts[.batch]?.said == 1 && counts[.batch]?.heard == 9)
    room.pass(1000)
    counts = room.takeCounts()
    #expect(counts[.head]?.said == 1 && counts[.head]?.heard == 9)
  }

  @Test("[SYN-14] the more members, the less often each reports, with the same bytes to all") func reports() throws {
    let (few, many) = (room(8), room(16))
    let (ofFew, ofMany) = try (#require(said(few)[.report]), #require(said(many)[.report]))
    // With twice as many members, a quadratic number of reports would be more than four times as large.
    #expect(2 * ofMany.said < 3 * ofFew.said)
    #expect(ofMany.heard < 3 * ofFew.heard)
    // A report is only a hash, whichever member wrote.
    #expect(ofMany.bytesSaid < 64 * ofMany.said)
    for room in [few, many] {
      room.pass(10_000)
      #expect(room.isSynced)
    }
  }

  @Test("[SYN-30] the more members, the less often each sends its presence") func presence() throws {
    let (few, many) = (Room(8), Room(12))
    for room in [few, many] {
      room.joinAll()
      _ = room.takeCounts()
      room.pass(9_000)
    }
    var (ofFew, ofMany) = try (#require(few.takeCounts()[.presence]), #require(many.takeCounts()[.presence]))
    #expect(ofFew.said >= 8 * 8 && ofMany.said <= 12 * 7)
    // After 10 s without a movement, each replica sends its presence every 3 s.
    for room in [few, many] {
      room.pass(6_000)
      _ = room.takeCounts()
      room.pass(9_000)
    }
    (ofFew, ofMany) = try (#require(few.takeCounts()[.presence]), #require(many.takeCounts()[.presence]))
    #expect(ofFew.said == 8 * 3 && ofMany.said == 12 * 3)
  }

  @Test("[SYN-15] [SYN-42] at rest each member reports to eight others every 5 s, in a busy room to one")
  func comparisons() throws {
    let room = room(10)
    room.pass(20_000)
    let report = try #require(room.takeCounts()[.report])
    #expect(report.said == 10 * 4 && report.heard == 10 * 4 * 8)
    for _ in 0..<30 {
      room.write(0)
      room.pass(200)
    }
    #expect(room.takeCounts()[.request]?.said ?? 0 <= 10 * 2)
  }

  @Test("[SYN-42] turns follow the order of ids, and continue after the last member") func turns() throws {
    let members = room(5).replicas.map(\.board.member).sorted()
    var turn = Turn(after: members[3])
    #expect(turn.next(2, of: members) == [members[4], members[0]])
    #expect(turn.next(2, of: [members[0], members[2], members[4]]) == [members[2], members[4]])
    #expect(turn.next(9, of: members) == members)
    #expect(turn.next(2, of: []) == [])
    #expect(turn.next(1, of: members) == [members[0]])
  }

  @Test("[SYN-15] edits sent to only some members before a departure reach all of a large room") func departure() throws
  {
    let room = room(10)
    room.write(0, heardBy: 1..<3)
    room.leave(0)
    room.pass(30_000)
    let objects = Set(room.replicas.dropFirst().map(\.board.objectIDs.count))
    #expect(objects == [1])
  }
}

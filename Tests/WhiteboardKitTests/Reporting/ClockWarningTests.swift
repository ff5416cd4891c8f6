import CommandLines
import Foundation
import Testing
import Whiteboard
import WhiteboardDocument

@testable import WhiteboardKit

/// The warnings about clocks that are far off.
@Suite(.timeLimit(.minutes(5))) struct ClockWarningTests: BoardSuite {
  private let minute: UInt64 = 60_000

  @Test("a duration is worded by its greatest unit that fits twice") func durations() {
    let words: [(UInt64, String)] = [
      (5, "5 minutes"), (119, "119 minutes"), (120, "2 hours"), (150, "3 hours"), (48 * 60, "2 days"),
      (365 * 24 * 60, "365 days"), (20 * 365 * 24 * 60, "20 years"),
    ]
    for (minutes, text) in words { #expect(ClockText.duration(minutes * minute) == text) }
    #expect(ClockText.duration(61_000) == "1 minute")
  }

  @Test("[SYN-43] a warning says whose clock is off, by how much, and what to do") func wording() throws {
    let member = try #require(MemberID(bytes: [UInt8](repeating: 1, count: 32)))
    #expect(
      ClockText.message(.init(member: member, finding: .isOff, difference: -7_200_000), of: nil)
        == "The clock of this computer is 2 hours behind the clocks of most other members. "
        + "Set the clock; otherwise, your changes will show wrong times."
    )
    #expect(
      ClockText.message(.init(member: member, finding: .isOff, difference: 7_200_000), of: "ben")
        == "The clock of ben is 2 hours ahead of the clocks of most other members. "
        + "Until that clock is set, the changes by this member will show wrong times."
    )
    #expect(
      ClockText.message(.init(member: member, finding: .differs, difference: 360_000), of: "ben")
        == "The clock of ben is 6 minutes ahead of the clock of this computer. "
        + "Check the date and time on both computers."
    )
    #expect(
      ClockText.message(.init(member: member, finding: .isRight, difference: 1), of: "ben")
        == "The clock of ben agrees with the others again."
    )
  }

  @Test("a board that was last saved at a time later than the clock is reported when it opens") func setBack()
    async throws
  {
    try await withRoom { room in
      #expect(try await warnings(whileHosting: room).isEmpty)
      let library = BoardLibrary(directory: room.path("ada/boards"))
      let path = try #require(try await library.list().first).path
      let document = try await BoardDocument.open(at: path, mode: .writing)
      let keyframe = try #require(try await document.load().keyframe)
      let future = BoardFile.now + 20 * 31_557_600_000
      try await document.writeKeyframe(keyframe.bytes, digest: keyframe.digest, time: future, lostSince: nil)
      try await document.close()
      let found = try await warnings(whileHosting: room)
      #expect(found.count == 1)
      #expect(found.first?.message.contains("20 years before this board was last saved") == true)
      #expect((found.first?.difference ?? 0) < -631_000_000)
      // The clock has reached the times of its own writes.
      #expect(try await warnings(whileHosting: room).isEmpty)
    }
  }

  /// Hosts ada's board, changes an object, and ends the host; returns the warnings.
  private func warnings(whileHosting room: BoardRoom) async throws -> [SharedBoard.News.Remark] {
    let host = ScriptedBoard()
    return try await withThrowingTaskGroup(of: Void.self) { group in
      let configuration = await room.configuration(.host(boardName: "board"), "ada")
      group.addTask { try await host.run(configuration) }
      _ = await host.ready()
      try await host.perform("text 0,0 \"words\"")
      var found: [SharedBoard.News.Remark] = []
      for case .news(.warning(let remark)) in await host.events where remark.code == "clock-off" {
        found.append(remark)
      }
      await host.end()
      try await group.waitForAll()
      return found
    }
  }
}

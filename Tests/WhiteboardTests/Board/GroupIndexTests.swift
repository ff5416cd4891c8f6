import PeerTestKit
import Testing

@testable import Whiteboard

@Suite struct GroupIndexTests {
  /// Compares the index of each group with a search of all objects.
  private func check(_ state: BoardState) {
    let ids = state.storedIDs.sorted()
    var members: [ObjectID: [ObjectID]] = [:]
    var contents: [ObjectID: [ObjectID]] = [:]
    for id in ids {
      if case .dot(let dot)? = state.record(id)?[.group]?.value { members[ObjectID(dot), default: []].append(id) }
      guard state.isShown(id) || state.isGroup(id) else { continue }
      for group in state.groups(of: id) { contents[group, default: []].append(id) }
    }
    for id in ids { #expect(state.objects.groups.members(of: id) == members[id] ?? []) }
    let groups = Set(ids.filter(state.isGroup))
    #expect(state.contents(of: groups) == contents)
    if let one = groups.first { #expect(state.contents(of: [one])[one] == contents[one]) }
  }

  @Test("[BRD-26] the index agrees with a search of all objects", arguments: 0..<repetitions(20, optimized: 60))
  func recomputed(seed: UInt64)
    throws
  {
    var history = RandomHistory(seed: seed)
    for _ in 0..<120 {
      let index = try history.step()
      check(history.states[index])
      history.showing(in: index) { check($0) }
      check(history.states[index])
    }
  }

  @Test("[BRD-26] an object whose groups changed is reported as changed") func told() throws {
    var count = 0
    for seed in UInt64(0)..<60 { count += try told(seed: seed) }
    #expect(count > 20)
  }

  /// Returns how many objects changed their groups.
  private func told(seed: UInt64) throws -> Int {
    var history = RandomHistory(seed: seed)
    var count = 0
    for _ in 0..<120 {
      let before = history.states
      let index = try history.step()
      let (old, new) = (before[index], history.states[index])
      let told = Set(history.changes.changes(in: new))
      for id in new.storedIDs where old.isReported(id) && new.isReported(id) {
        guard old.groups(of: id) != new.groups(of: id) else { continue }
        #expect(told.contains(.changed(id)), "\(id), seed \(seed)")
        count += 1
      }
    }
    return count
  }

  @Test("[BRD-26] a ring of many groups costs no more than one within the limit", .enabled(if: isOptimized))
  func largeRing() throws {
    let board = TwoBoards.board(1)
    let text = try board.createText("in the ring", at: Point(x: 0, y: 0))
    let (author, count) = (Incarnation(2), repetitions(UInt64(12_288), optimized: 122_880))
    func receive(_ operations: [Operation], first: UInt64) throws {
      try board.receive(Batch(author: author, firstSequence: first, time: HybridTime(first), operations: operations))
    }
    let ids = (1...count).map { ObjectID(Dot(author, $0)) }
    for start in stride(from: 0, to: ids.count, by: 4096) {
      let part = ids[start..<start + 4096]
      try receive(part.map { Operation($0, .kind, .unsigned(ObjectKind.group.rawValue)) }, first: UInt64(start) + 1)
    }
    for start in stride(from: 0, to: ids.count, by: 4096) {
      try receive(
        (start..<start + 4096).map { Operation(ids[$0], .group, .dot(ids[($0 + 1) % ids.count].dot)) },
        first: count + UInt64(start) + 1
      )
    }
    try receive([Operation(text, .group, .dot(ids[0].dot))], first: 2 * count + 1)
    for id in ids.prefix(200) { _ = board.members(ofGroup: id) }
    #expect(board.members(ofGroup: ids[0]) == [text])
    #expect(board.members(ofGroup: ids[BoardLimits.groupDepth - 1]) == [text])
    #expect(board.members(ofGroup: ids[BoardLimits.groupDepth]).isEmpty)
    // A change of each of many groups is not slow either.
    _ = board.takeChanges()
    for index in 0..<1000 {
      try receive([Operation(ids[index], .deleted, .unsigned(1))], first: 2 * count + 2 + UInt64(index))
      _ = board.takeChanges()
    }
    #expect(board.groups(of: text).isEmpty)
  }
}

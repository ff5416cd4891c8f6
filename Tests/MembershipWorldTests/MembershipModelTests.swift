import NIOCore
import PeerSession
import PeerTestKit
import Testing

struct MembershipModelTests {
  /// Searches every order of steps, the shortest orders first, and checks every world that it reaches.
  private struct Search {
    typealias Reached = (world: MembershipWorld, path: [MembershipWorld.Step])

    var seen: Set<String> = []
    var dials = 0
    var failure: String?

    var worlds: Int { seen.count }

    mutating func explore(_ starts: [Reached], depth: Int) {
      var newest = starts.filter { isNew($0) }
      for _ in 0..<depth where failure == nil {
        var next: [Reached] = []
        for (world, path) in newest {
          for step in world.steps where path.last != step {
            var reached = (world: world, path: path + [step])
            reached.world.perform(step)
            if isNew(reached) { next.append(reached) }
          }
        }
        newest = next
      }
    }

    /// Checks a world, unless another path has reached the same world already.
    private mutating func isNew(_ reached: Reached) -> Bool {
      guard failure == nil, seen.insert(reached.world.signature).inserted else { return false }
      check(reached.world, reached.path)
      return true
    }

    /// Checks that peers that see each other's announcements are connected within 10 s (MEM-9).
    private mutating func check(_ world: MembershipWorld, _ path: [MembershipWorld.Step]) {
      var later = world
      later.run(for: .seconds(10))
      dials += later.dials
      guard let pair = later.unconnected.first else { return }
      failure =
        "\(pair.0) and \(pair.1) are not connected 10 s after: " + path.map(\.description).joined(separator: ", ")
    }
  }

  @Test(
    "[MEM-9] members that see each other connect within 10 s, after restarts in any order",
    arguments: MembershipWorld.Mode.allCases,
    [(peers: 3, steps: repetitions(8, optimized: 9)), (peers: 4, steps: repetitions(6, optimized: 7))]
  ) func everyOrder(_ mode: MembershipWorld.Mode, _ size: (peers: Int, steps: Int)) {
    var search = Search()
    search.explore([(MembershipWorld(count: size.peers, mode: mode), [])], depth: size.steps)
    #expect(search.failure == nil)
    #expect(search.worlds > repetitions(300, optimized: 1_000) && search.dials > search.worlds)
    print("membership \(mode) \(size): \(search.worlds) worlds, \(search.dials) dials")
  }

  @Test(
    "[MEM-9] five members, joined through each other in any order, connect after every three steps",
    arguments: MembershipWorld.Mode.allCases
  ) func everyOrderOfFive(_ mode: MembershipWorld.Mode) {
    var search = Search()
    var starts: [Search.Reached] = []
    for number in 0..<24 {
      var world = MembershipWorld(count: 5, mode: mode)
      // The digits of the number in a mixed radix with the bases 1, 2, 3 and 4.
      let joins = zip(1...4, [0, number % 2, number / 2 % 3, number / 6]).map {
        MembershipWorld.Step.join($0, through: $1)
      }
      // In some modes only the host admits newcomers.
      let arePossible = joins.allSatisfy { join in
        guard world.steps.contains(join) else { return false }
        world.perform(join)
        return true
      }
      if arePossible { starts.append((world, joins)) }
    }
    search.explore(starts, depth: repetitions(2, optimized: 3))
    #expect(search.failure == nil)
    #expect(search.worlds > repetitions(50, optimized: 300) && search.dials > search.worlds)
    print("membership \(mode), five joined: \(search.worlds) worlds, \(search.dials) dials")
  }

  @Test("the search finds the failures of a program that stores nothing or sees no announcements") func findsFaults() {
    for mode in MembershipWorld.Mode.allCases {
      var search = Search()
      var world = MembershipWorld(count: 3, mode: mode)
      world.storesNothing = true
      search.explore([(world, [])], depth: 5)
      #expect(search.failure != nil || mode == .code)
      search = Search()
      search.explore([(MembershipWorld(count: 3, mode: mode, isAnnounced: false), [])], depth: 6)
      #expect(search.failure != nil)
    }
  }
}

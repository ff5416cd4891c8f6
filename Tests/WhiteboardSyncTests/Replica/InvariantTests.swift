import BoardWorlds
import Testing

/// The invariants of the merge, on seeded worlds; `board-worlds` runs as many as one likes.
@Suite struct InvariantTests {
  /// What came of some worlds of boards and some of replicas; they run once.
  private struct Outcome {
    var tally = BoardWorld.Tally()
    var failures: [BoardWorld.Failure] = []

    static let boards = Outcome(0..<120) { seed throws(BoardWorld.Failure) in
      let world = BoardWorld(seed: seed)
      try world.run()
      return world.tally
    }
    static let replicas = Outcome(0..<24) { seed throws(BoardWorld.Failure) in
      try ReplicaWorld.run(seed: seed)
    }

    private init(
      _ seeds: Range<UInt64>,
      _ run: (UInt64) throws(BoardWorld.Failure) -> BoardWorld.Tally
    ) {
      for seed in seeds {
        do throws(BoardWorld.Failure) {
          tally.add(try run(seed))
        } catch {
          failures.append(error)
        }
      }
    }
  }

  /// No world broke the invariant, and each of these things happened.
  private func expect(_ invariant: String, _ events: [BoardWorld.Tally.Event: Int]) {
    let failures = (Outcome.boards.failures + Outcome.replicas.failures)
      .filter { $0.invariant == invariant }
    #expect(failures.isEmpty, "\(failures)")
    var tally = Outcome.boards.tally
    tally.add(Outcome.replicas.tally)
    for (event, least) in events { #expect(tally[event] >= least, "\(event)") }
  }

  @Test("[I1] boards that have seen the same are the same, whatever was lost, doubled or overtaken")
  func convergence() {
    expect("I1", [.delivered: 4000, .lost: 400, .doubled: 1000, .answers: 500, .repairs: 20])
  }

  @Test("[I2] merging is idempotent, and states joined are states that heard every batch")
  func algebra() { expect("I2", [.answers: 500, .strange: 40]) }

  @Test(
    "[I3] every operation that was seen won, was beaten by a later one, or went with its object"
  )
  func nothingIsLost() { expect("I3", [.operations: 10_000, .purges: 20]) }

  @Test("[I4] what was purged does not come back")
  func noResurrection() { expect("I4", [.purges: 20, .answers: 500]) }

  @Test("[I5] no dot is given twice, also after a crash with a lost tail and from a backup")
  func dotsAreUnique() { expect("I5", [.crashes: 150, .backups: 30, .operations: 10_000]) }

  @Test("[I6] no cell goes back, and whoever only follows the events sees the board")
  func monotonic() { expect("I6", [.delivered: 4000, .undos: 500]) }

  @Test("[I7] batches, a difference and a snapshot bring up to the same state")
  func threeWays() { expect("I7", [.logs: 100, .answers: 500]) }

  @Test("[I8] a part of an answer changes nothing")
  func tornAnswers() { expect("I8", [.torn: 80]) }

  @Test("[I9] undo and redo lead back, and touch nothing that others wrote last")
  func undo() { expect("I9", [.undos: 500]) }

  @Test("[I10] what was written is read, and has one form")
  func codings() { expect("I10", [.batches: 4000]) }

  @Test("[I11] what was kept makes the same board again")
  func replay() { expect("I11", [.crashes: 150]) }

  @Test("[I12] a board that is flooded stays within its limits; see the tests of BRD-30 too")
  func bounds() { expect("I12", [:]) }

  @Test("[AUT-5] who lies on a link is found out, and nothing of the lie counts")
  func lies() {
    expect("AUT", [.lies: 10])
    let failures = Outcome.boards.failures + Outcome.replicas.failures
    #expect(failures.isEmpty, "\(failures)")
  }
}

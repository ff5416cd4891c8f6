import BoardWorlds
import Testing

/// The invariants of the merge in seeded worlds; `board-worlds` runs any number of them.
@Suite struct InvariantTests {
  /// The outcome of some worlds of boards and some of replicas, which run once for all tests.
  private struct Outcome {
    var tally = BoardWorld.Tally()
    var failures: [BoardWorld.Failure] = []

    static let boards = Outcome(0..<120) { seed throws(BoardWorld.Failure) in
      let world = BoardWorld(seed: seed)
      try world.run()
      return world.tally
    }
    static let replicas = Outcome(0..<24) { seed throws(BoardWorld.Failure) in try ReplicaWorld.run(seed: seed) }

    private init(_ seeds: Range<UInt64>, _ run: (UInt64) throws(BoardWorld.Failure) -> BoardWorld.Tally) {
      for seed in seeds { do throws(BoardWorld.Failure) { tally.add(try run(seed)) } catch { failures.append(error) } }
    }
  }

  /// Expects that no world broke the invariant, and that each of these events happened often enough.
  private func expect(_ invariant: String, _ events: [BoardWorld.Tally.Event: Int]) {
    let failures = (Outcome.boards.failures + Outcome.replicas.failures).filter { $0.invariant == invariant }
    #expect(failures.isEmpty, "\(failures)")
    var tally = Outcome.boards.tally
    tally.add(Outcome.replicas.tally)
    for (event, least) in events { #expect(tally[event] >= least, "\(event)") }
  }

  @Test("[I1] boards with the same operations are equal, despite loss, duplicates and reordering") func convergence() {
    expect("I1", [.delivered: 4000, .lost: 400, .doubled: 1000, .answers: 500, .repairs: 20])
  }

  @Test("[I2] merging is idempotent, and merged states equal states that received every batch") func algebra() {
    expect("I2", [.answers: 500, .strange: 40])
  }

  @Test("[I3] every operation was kept, overwritten by a later one, or purged with its object") func nothingIsLost() {
    expect("I3", [.operations: 10_000, .purges: 20])
  }

  @Test("[I4] a purged object does not come back") func noResurrection() { expect("I4", [.purges: 20, .answers: 500]) }

  @Test("[I5] no dot is assigned twice, even after a crash that lost operations or from a backup") func dotsAreUnique()
  { expect("I5", [.crashes: 150, .backups: 30, .operations: 10_000]) }

  @Test("[I6] no cell goes back in time, and the events alone give the board") func monotonic() {
    expect("I6", [.delivered: 4000, .undos: 500])
  }

  @Test("[I7] batches, a difference and a snapshot lead to the same state") func threeWays() {
    expect("I7", [.logs: 100, .answers: 500])
  }

  @Test("[I8] a part of an answer changes nothing") func tornAnswers() { expect("I8", [.torn: 80]) }

  @Test("[I9] undo and redo restore states, and change nothing that others wrote last") func undo() {
    expect("I9", [.undos: 500])
  }

  @Test("[I10] each value decodes as it was encoded, with exactly one encoding") func codings() {
    expect("I10", [.batches: 4000])
  }

  @Test("[I11] stored contents give the same board again") func replay() { expect("I11", [.crashes: 150]) }

  @Test("[I12] a flooded board stays within its limits; see also the tests of BRD-30") func bounds() {
    expect("I12", [:])
  }

  @Test("[AUT-5] false messages on a link are detected and have no effect") func lies() {
    expect("AUT", [.lies: 10])
    let failures = Outcome.boards.failures + Outcome.replicas.failures
    #expect(failures.isEmpty, "\(failures)")
  }

  @Test("[BRD-52] [BRD-53] places and sizes do not depend on the order of the batches") func places() throws {
    for seed in UInt64(0)..<60 { _ = try DiagramWorld.fingerprint(seed: seed) }
  }
}

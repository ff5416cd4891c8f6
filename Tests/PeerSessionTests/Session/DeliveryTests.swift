import Foundation
import NIOCore
import PeerTestKit
import Testing

@testable import PeerSession

@Suite("Delivery over broken links", .timeLimit(.minutes(5))) struct DeliveryTests {
  /// The seed; set `WHITEBOARD_SEED` to repeat a run.
  private static var seed: UInt64 {
    ProcessInfo.processInfo.environment["WHITEBOARD_SEED"].flatMap(UInt64.init) ?? .random(in: .min ... .max)
  }

  /// The number of rounds; `WHITEBOARD_ROUNDS` sets another number.
  private static var rounds: Int { ProcessInfo.processInfo.environment["WHITEBOARD_ROUNDS"].flatMap { Int($0) } ?? 40 }

  @Test("[RSM-2] a link that is cut at any step of its start loses no peer and no message") func everyStep()
    async throws
  {
    try await DeliveryWorld.run { world in
      // A handshake takes about 3 KB in each direction; the first messages follow it.
      for offset in stride(from: 1, to: 4_000, by: 211) {
        for isUpstream in [true, false] {
          for side in world.sides { try await side.send() }
          for side in world.sides { side.proxy.cut(next: [(isUpstream, offset)]) }
          for side in world.sides { try await side.send() }
          try await world.settle()
          for side in world.sides { try #require(side.book.departures.isEmpty, "offset \(offset)") }
        }
      }
      try await world.expectExactlyOnce()
      let sent = world.alice.book.confirmed(by: world.alice.other)
      #expect(sent.delivered == world.bob.book.received && sent.undelivered.isEmpty)
    }
  }

  @Test("[RSM-6] whenever a side gives up, each message arrives once or counts as undelivered") func givingUp()
    async throws
  {
    let seed = Self.seed
    print("seed \(seed)")
    try await DeliveryWorld.run { world in
      var generator = SeededGenerator(seed: seed)
      var times = [0, 0]
      for _ in 0..<Self.rounds {
        for side in world.sides { for _ in 0..<generator.below(4) { try await side.send() } }
        let plans = world.sides.map { _ in
          (0..<generator.below(3)).map { _ in (isUpstream: generator.chance(50), offset: 1_500 + generator.below(2_500))
          }
        }
        for (side, plan) in zip(world.sides, plans) { side.proxy.cut(next: plan) }
        for (index, side) in world.sides.enumerated() {
          for _ in 0..<generator.below(4) { try await side.send() }
          if generator.chance(40), try await side.giveUp() { times[index] += 1 }
          for _ in 0..<generator.below(4) { try await side.send() }
        }
        if generator.chance(50) { for side in world.sides { try await side.confirm() } }
      }
      try await world.settle()
      try await world.expectExactlyOnce()
      let departures = world.sides.flatMap(\.book.departures)
      #expect(departures.contains { $0.reason == .reset })
      for (side, times) in zip(world.sides, times) {
        #expect(side.book.departures.count { $0.reason == .lost } == times)
      }
      #expect(departures.allSatisfy { $0.reason == .lost || $0.reason == .reset })
      let resets = departures.count { $0.reason == .reset }
      print("\(departures.count) departures, \(resets) of them reset")
    }
  }

  @Test("[RSM-6] if the peer gave up first, a side reports a reset and not a lost peer") func reset() async throws {
    try await DeliveryWorld.run { world in
      for side in world.sides {
        try await side.send()
        try await side.confirm()
      }
      for side in world.sides { side.proxy.cut(next: Array(repeating: (true, 1), count: 3)) }
      for _ in 0..<5 { try await world.bob.send() }
      #expect(try await world.alice.giveUp())
      try await world.settle()
      #expect(world.alice.book.departures.map(\.reason) == [.lost])
      #expect(world.bob.book.departures.map(\.reason) == [.reset])
      #expect(world.bob.book.departures.map(\.undelivered) == [5])
      try await world.expectExactlyOnce()
    }
  }
}

extension DeliveryWorld {
  /// Expects that each side received every confirmed message once and in order, and that every other message was
  /// counted as undelivered.
  func expectExactlyOnce() async throws {
    try await settle()
    for (sender, receiver) in [(alice, bob), (bob, alice)] {
      let received = receiver.book.received
      for (one, next) in zip(received, received.dropFirst()) { try #require(one < next, "\(next) came after \(one)") }
      let numbers = sender.book.confirmed(by: sender.other)
      #expect(Set(numbers.delivered).isSubset(of: received))
      #expect(numbers.undelivered.count <= sender.book.departures.map(\.undelivered).reduce(0, +))
      #expect(!numbers.delivered.isEmpty)
    }
  }
}

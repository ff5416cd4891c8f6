import NIOCore
import NIOPosix
import PeerCore
import PeerTestKit
import Testing

@testable import PeerSession

/// Two peers that dial each other through proxies, number their messages, and count the outcomes.
struct DeliveryWorld: Sendable {
  struct Side: Sendable {
    var session: Session
    var other: PeerID
    /// The proxy through which the other peer dials.
    var proxy: CuttingProxy
    var book = DeliveryBook()
  }

  var alice: Side
  var bob: Side
  var sides: [Side] { [alice, bob] }

  /// Runs `body` once both peers are in one session, and reads their events meanwhile.
  static func run(_ body: @escaping @Sendable (DeliveryWorld) async throws -> Void) async throws {
    // Neither announces its address, so every link goes through a proxy.
    let hide: @Sendable (inout TransportConfiguration) -> Void = { $0.isDiallable = false }
    try await withPeer("alice", configure: hide) { alice in
      try await withPeer("bob", configure: hide) { bob in
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let proxies = [alice, bob].map { CuttingProxy(to: $0.loopback, seed: 1, offsets: 1...1, group: loops) }
        let addresses = [try await proxies[0].start(), try await proxies[1].start()]
        let id = SessionID.random()
        let hosted = try await alice.host(id, admission: .anyone)
        let joined = try await bob.join(id, of: alice, at: addresses[0])
        let world = DeliveryWorld(
          alice: Side(session: hosted, other: bob.peerID, proxy: proxies[0]),
          bob: Side(session: joined, other: alice.peerID, proxy: proxies[1])
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
          for side in world.sides { group.addTask { await side.book.follow(side.session) } }
          _ = try await hosted.sendConfirmed([])
          hosted.found(bob.peerID, at: [addresses[1]], as: joined.incarnation)
          try await body(world)
          for proxy in proxies { try await proxy.stop() }
          for side in world.sides { await side.session.leave() }
          try await group.waitForAll()
        }
        try await loops.shutdownGracefully()
      }
    }
  }
}

extension DeliveryWorld {
  /// Waits until each side has confirmed a marker, and has all events before the marker in its own book.
  func settle() async throws {
    for (sender, receiver) in [(alice, bob), (bob, alice)] {
      await receiver.book.waitForMarker(try await sender.confirm())
    }
  }
}

extension DeliveryWorld.Side {
  /// Sends the next number, if the other peer is in the session.
  func send() async throws {
    let number = book.nextNumber()
    let bytes = withUnsafeBytes(of: number.bigEndian) { Array($0) }
    do throws(SessionError) {
      let receipt = try await session.send(bytes, to: [other])
      book.sent(number, receipt)
    } catch { guard error.code == .notConnected || error.code == .peerLost else { throw error } }
  }

  /// Waits until the other peer has joined, and has confirmed a marker sent to it; returns the marker.
  @discardableResult func confirm() async throws -> UInt32 {
    while true {
      let marker = book.nextMarker()
      let bytes = withUnsafeBytes(of: marker.bigEndian) { Array($0) }
      do throws(SessionError) {
        try await session.sendConfirmed(bytes, to: [other])
        return marker
      } catch {
        guard error.code == .notConnected || error.code == .peerLost else { throw error }
        try await dial()
        await Task.yield()
      }
    }
  }

  /// Dials the other peer immediately if there is no link and no attempt is in progress.
  private func dial() async throws {
    try await session.onLoop { core in
      guard let entry = core.entries[other], entry.link == nil, !core.dialler.policy[other].isDialling else {
        return
      }
      core.dialler.policy[other].plan(after: .zero, now: .now(), jitter: 0)
      core.planTick()
    }
  }

  /// Breaks the current link, and gives up the other peer as after its timeout (LIV-4); returns whether the other peer
  /// was in the session.
  func giveUp() async throws -> Bool {
    try await session.onLoop { core in
      guard let entry = core.entries[other], entry.delivery != nil else { return false }
      entry.link.take()?.abort()
      core.depart(entry, .lost)
      core.dialler.policy[other].lost(now: .now(), jitter: 0)
      core.dialler.policy[other].plan(after: .zero, now: .now(), jitter: 0)
      core.planTick()
      return true
    }
  }
}

/// The messages that one side sent and received, and the reports it got.
final class DeliveryBook: Sendable {
  private struct State {
    var last: UInt64 = 0
    var sent: [(number: UInt64, receipt: SendReceipt)] = []
    var received: [UInt64] = []
    var departures: [(reason: DepartureReason, undelivered: Int)] = []
    var lastMarker: UInt32 = 0
    var receivedMarker: UInt32 = 0
    var waiter: (marker: UInt32, continuation: CheckedContinuation<Void, Never>)?
  }

  private let state = Locked(State())

  func nextNumber() -> UInt64 {
    state.withLock {
      $0.last += 1
      return $0.last
    }
  }

  func nextMarker() -> UInt32 {
    state.withLock {
      $0.lastMarker += 1
      return $0.lastMarker
    }
  }

  func sent(_ number: UInt64, _ receipt: SendReceipt) { state.withLock { $0.sent.append((number, receipt)) } }

  func follow(_ session: Session) async {
    for await event in session.events {
      switch event {
      case .message(let bytes, _) where bytes.count == 8:
        let number = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        state.withLock { $0.received.append(number) }
      case .message(let bytes, _) where bytes.count == 4: receivedMarker(bytes.reduce(0) { $0 << 8 | UInt32($1) })
      case .peerLeft(_, let reason, let undelivered):
        state.withLock { $0.departures.append((reason, undelivered)) }
      default: break
      }
    }
  }

  private func receivedMarker(_ marker: UInt32) {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.receivedMarker = marker
      guard let waiter = state.waiter, waiter.marker <= marker else { return nil }
      state.waiter = nil
      return waiter.continuation
    }
    waiter?.resume()
  }

  /// Waits until the other side's marker has been read from the events.
  func waitForMarker(_ marker: UInt32) async {
    await withCheckedContinuation { continuation in
      let isReceived = state.withLock { state in
        let isReceived = state.receivedMarker >= marker
        if !isReceived { state.waiter = (marker, continuation) }
        return isReceived
      }
      if isReceived { continuation.resume() }
    }
  }

  var received: [UInt64] { state.withLock { $0.received } }
  var departures: [(reason: DepartureReason, undelivered: Int)] { state.withLock { $0.departures } }
  /// Returns the numbers that the other peer confirmed, and the unconfirmed numbers.
  func confirmed(by peer: PeerID) -> (delivered: [UInt64], undelivered: [UInt64]) {
    let sent = state.withLock { $0.sent }
    return (
      sent.filter { $0.receipt.isConfirmed(by: peer) }.map(\.number),
      sent.filter { !$0.receipt.isConfirmed(by: peer) }.map(\.number)
    )
  }
}

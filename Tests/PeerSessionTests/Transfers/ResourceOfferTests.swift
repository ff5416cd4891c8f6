import Crypto
import NIOCore
import PeerCore
import PeerDiscovery
import PeerTestKit
import PeerWire
import Testing

@testable import PeerSession

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

@Suite("Offers that wait, and resources that were requested", .timeLimit(.minutes(5))) struct ResourceOfferTests {
  private static func offer(_ size: Int, name: String = "x") -> Control.ResourceOffer {
    Control.ResourceOffer(id: .random(), name: UntrustedText(name), size: size, modified: nil)
  }

  /// Starts a transfer of 1 MiB with raw frames.
  private static func begin(on bed: BulkTestBed) async throws -> (raw: RawPeer, offer: Control.ResourceOffer) {
    let raw = try await bed.links.raw()
    let offer = offer(1 << 20)
    try await raw.send(offer)
    _ = try await raw.next(Control.ResourceAccept.self)
    try await raw.send(Control.ResourceStart(id: offer.id, offset: 0))
    return (raw, offer)
  }

  // MARK: Waiting for a decision

  @Test("[RES-8] an offer waits for the application, and the time of RES-7 starts at ACCEPT") func waits() async throws
  {
    let clock = ManualClock()
    try await BulkTestBed.run(time: BulkTime(clock)) { bed in
      bed.receiverEvents.hesitate("file")
      let path = try bed.directory.file("file", [1, 2, 3])
      let transfer = try bed.sender.sendResource(atPath: path, named: "file")
      await bed.receiverEvents.wait { !$0.asked.isEmpty }
      // The offer uses no space of the inbox.
      #expect(bed.partials.isEmpty)
      clock.advance(by: .seconds(119))
      bed.receiverEvents.decide("file")
      #expect(try await transfer.result().size == 3)
      #expect(bed.links.opened == 1)
    }
  }

  @Test("[RES-8] an offer that is not accepted within 2 minutes is refused") func deadline() async throws {
    let clock = ManualClock()
    try await BulkTestBed.run(time: BulkTime(clock)) { bed in
      bed.receiverEvents.hesitate("file")
      let path = try bed.directory.file("file", [1, 2, 3])
      let transfer = try bed.sender.sendResource(atPath: path, named: "file")
      await bed.receiverEvents.wait { !$0.asked.isEmpty }
      let begin = clock.now
      // The wait starts its timer late, so advance the clock until the timer ends.
      while bed.receiverEvents.abandoned.isEmpty, !Task.isCancelled {
        clock.advance(by: .seconds(1))
        await Task.yield()
      }
      #expect(begin.duration(to: clock.now) >= .seconds(120))
      await #expect(throws: SessionError(.declined, "")) { try await transfer.result() }
      // The link is used for the next transfer.
      try await bed.expectArrival([4, 5, 6])
      #expect(bed.links.opened == 1)
    }
  }

  @Test("[RES-8] a sender withdraws an offer that waits, and reuses the link") func withdrawn() async throws {
    try await BulkTestBed.run { bed in
      bed.receiverEvents.hesitate("file")
      let path = try bed.directory.file("file", [1, 2, 3])
      let transfer = try bed.sender.sendResource(atPath: path, named: "file")
      await bed.receiverEvents.wait { !$0.asked.isEmpty }
      transfer.cancel()
      await bed.receiverEvents.wait { !$0.abandoned.isEmpty }
      try await bed.expectArrival([4, 5, 6])
      #expect(bed.links.opened == 1)
      #expect(bed.receiverEvents.finished.count == 1)
    }
  }

  @Test("[RES-8] an offer that waits ends if its link breaks, and the next link asks again") func broken() async throws
  {
    try await BulkTestBed.run { bed in
      bed.receiverEvents.hesitate("x")
      let raw = try await bed.links.raw()
      let offer = Self.offer(3)
      try await raw.send(offer)
      await bed.receiverEvents.wait { !$0.asked.isEmpty }
      await raw.close()
      await bed.receiverEvents.wait { !$0.abandoned.isEmpty }
      bed.receiverEvents.decide("x")
      let next = try await bed.links.raw()
      try await next.send(offer)
      #expect(try await next.next(Control.ResourceAccept.self).offset == 0)
      await next.close()
    }
  }

  @Test("[RES-8] only CANCEL is allowed before the answer", arguments: 0..<3) func early(_ number: Int) async throws {
    try await BulkTestBed.run { bed in
      bed.receiverEvents.hesitate("x")
      let raw = try await bed.links.raw()
      let offer = Self.offer(3)
      try await raw.send(offer)
      await bed.receiverEvents.wait { !$0.asked.isEmpty }
      switch number {
      case 0: try await raw.send(Control.ResourceStart(id: offer.id, offset: 0))
      case 1: try await raw.send(.chunk, [1])
      default: try await raw.send(Self.offer(3))
      }
      #expect(try await raw.closeCode() == .protocolError)
      await bed.receiverEvents.wait { !$0.abandoned.isEmpty }
    }
  }

  // MARK: Reserved room

  @Test("[RES-6] eight offers that wait do not delay a requested resource") func requested() async throws {
    try await BulkTestBed.run(time: BulkTime(ManualClock())) { bed in
      bed.receiverEvents.hesitate("file")
      bed.receiverEvents.request("answer")
      let path = try bed.directory.file("file", [1, 2, 3])
      let waiting = try (0...Limits.resources).map { _ in try bed.sender.sendResource(atPath: path, named: "file") }
      await bed.receiverEvents.wait { $0.asked.count == Limits.resources }
      let answer = try bed.sender.sendResource(atPath: path, named: "answer", isRequested: true)
      #expect(try await answer.result().size == 3)
      bed.receiverEvents.decide("file")
      for transfer in waiting { _ = try await transfer.result() }
    }
  }

  @Test("[RES-6] eight very slow transfers leave room for eight that were requested") func reservedRoom() async throws {
    // The size of each offer is the whole quota of the inbox.
    try await BulkTestBed.run(quota: .whole(80), time: BulkTime(ManualClock())) { bed in
      bed.receiverEvents.request("answer")
      var raws: [RawPeer] = []
      func next(_ name: String, _ size: Int) async throws -> BulkFrame? {
        let raw = try await bed.links.raw()
        raws.append(raw)
        try await raw.send(Self.offer(size, name: name))
        return await raw.next()
      }
      for _ in 0..<Limits.resources { #expect(try await next("file", 10)?.type == .resourceAccept) }
      for _ in 0..<Limits.resources { #expect(try await next("answer", 1_000)?.type == .resourceAccept) }
      for name in ["file", "answer"] {
        let frame = try #require(try await next(name, 1))
        #expect(try Control.ResourceCancel.decode(frame).code == .busy)
      }
      for raw in raws { await raw.close() }
    }
  }

  @Test("if an accepted offer cannot be stored, both sides report it") func acceptedButFull() async throws {
    try await BulkTestBed.run(quota: .whole(2)) { bed in
      let path = try bed.directory.file("file", [1, 2, 3])
      let transfer = try bed.sender.sendResource(atPath: path, named: "file")
      await #expect(throws: SessionError(.quota, "")) { try await transfer.result() }
      await #expect(throws: SessionError(.quota, "")) { try await bed.receiverEvents.result(of: transfer.id) }
    }
  }

  // MARK: Pace

  @Test("[RES-7] a transfer with one byte every 10 s is ended after a minute") func slow() async throws {
    let clock = ManualClock()
    try await BulkTestBed.run(time: BulkTime(clock)) { bed in
      let (raw, offer) = try await Self.begin(on: bed)
      await bed.receiverEvents.wait { !$0.started.isEmpty }
      // Both endpoints have timers for their transfers and their idle links.
      await eventually { clock.sleeperCount == 4 }
      for count in 1...6 {
        try await raw.send(.chunk, [1])
        await bed.receiverEvents.wait { $0.progress.last?.bytes == count }
        clock.advance(by: TransferPace.interval)
        await eventually { clock.sleeperCount == 4 }
      }
      #expect(try await raw.next(Control.ResourceCancel.self).code == .cancelled)
      await #expect(throws: SessionError(.timedOut, "")) { try await bed.receiverEvents.result(of: offer.id) }
      await eventually { bed.partials.isEmpty }
      await raw.close()
    }
  }

  @Test("[RES-7] a transfer that stalls after its first bytes loses its link") func stallLater() async throws {
    let clock = ManualClock()
    try await BulkTestBed.run(time: BulkTime(clock)) { bed in
      let (raw, _) = try await Self.begin(on: bed)
      let chunk = [UInt8](repeating: 1, count: Limits.framePayload)
      // A batch is written, and further chunks wait for the next batch.
      for _ in 0..<10 { try await raw.send(.chunk, chunk) }
      await bed.receiverEvents.wait { !$0.progress.isEmpty }
      while bed.receiver.linkCount == 1, !Task.isCancelled {
        clock.advance(by: .seconds(1))
        await Task.yield()
      }
      #expect(bed.receiver.linkCount == 0)
    }
  }

  @Test("[RES-7] the minimum rate applies only while the receiver can keep up") func pace() {
    var pace = TransferPace(now: .zero)
    func check(_ seconds: Int, _ bytes: Int, busy: Bool = false) -> TransferPace.Verdict {
      pace.frameReceived(now: .seconds(seconds))
      return pace.check(now: .seconds(seconds), bytes: bytes, isReceiverBusy: busy)
    }
    for second in stride(from: 10, through: 50, by: 10) { #expect(check(second, 0) == .sufficient) }
    #expect(check(60, TransferPace.minimumBytes) == .sufficient)
    // The bytes of the first minute no longer count.
    for second in stride(from: 70, through: 110, by: 10) {
      #expect(check(second, TransferPace.minimumBytes) == .sufficient)
    }
    #expect(check(120, TransferPace.minimumBytes + 1) == .slow)
    // A slow disk restarts the window.
    #expect(check(130, TransferPace.minimumBytes, busy: true) == .sufficient)
    for second in stride(from: 140, through: 180, by: 10) {
      #expect(check(second, TransferPace.minimumBytes) == .sufficient)
    }
    #expect(check(190, TransferPace.minimumBytes + 1) == .slow)
    // A frame that arrives just after the start of a check does not count as a slow transfer.
    pace.restart(now: .zero, bytes: 1 << 20)
    pace.frameReceived(now: .seconds(1))
    for second in stride(from: 10, through: 50, by: 10) {
      let verdict = pace.check(now: .seconds(second), bytes: 1 << 20, isReceiverBusy: false)
      #expect(verdict == .sufficient)
    }
    #expect(pace.check(now: .seconds(60), bytes: 1 << 20, isReceiverBusy: false) == .silent)
    // A receiver that was suspended for an hour does not end the transfer.
    pace.restart(now: .zero, bytes: 0)
    #expect(check(10, 1 << 20) == .sufficient)
    #expect(check(3_610, (1 << 20) + 1) == .sufficient)
    #expect(pace.check(now: .seconds(3_670), bytes: 1 << 21, isReceiverBusy: false) == .silent)
  }

  // MARK: Quotas

  @Test("[RES-9] a peer has a quarter of the inbox, a session half; the error names the quota") func shares()
    async throws
  {
    let directory = try TemporaryDirectory()
    let inbox = try await ResourceInbox.open(
      directory: directory.path + "/inbox",
      quota: InboxQuota(total: 1_000, diskReserve: 0)
    )
    let sessions = [SessionID.random(), .random(), .random()]
    func admit(_ peer: UInt8, _ session: Int, _ size: Int, isRequested: Bool = false) async -> String {
      let claim = ResourceInbox.Claim(peer: peerID(peer), session: sessions[session], isRequested: isRequested)
      do {
        _ = try await inbox.admit(Self.offer(size), claim) { false }
        return "accepted"
      } catch {
        #expect(error.code == .quota)
        return String(error.message.prefix { $0 != "," })
      }
    }
    #expect(await admit(1, 0, 251) == "The inbox takes at most 250 bytes from one peer")
    #expect(await admit(1, 0, 250) == "accepted")
    #expect(await admit(1, 1, 1) == "The inbox takes at most 250 bytes from one peer")
    #expect(await admit(2, 0, 250) == "accepted")
    #expect(await admit(3, 0, 1) == "The inbox takes at most 500 bytes from one session")
    #expect(await admit(3, 1, 250) == "accepted")
    #expect(await admit(4, 1, 249) == "accepted")
    #expect(await admit(5, 2, 2) == "The inbox takes at most 1000 bytes from everyone")
    #expect(await admit(5, 2, 1) == "accepted")
    #expect(await admit(1, 0, 10_000, isRequested: true) == "accepted")
  }

  @Test("[RES-9] delivered files count for their sender until the application removes them") func deliveredShares()
    async throws
  {
    try await BulkTestBed.run(quota: InboxQuota(total: 40, diskReserve: 0)) { bed in
      try await bed.expectArrival([1, 2, 3, 4, 5, 6, 7])
      let path = try bed.directory.file("file", [1, 2, 3, 4])
      let transfer = try bed.sender.sendResource(atPath: path, named: "file")
      await #expect(throws: SessionError(.quota, "")) { try await transfer.result() }
      for name in bed.delivered { unlink(bed.inboxPath + "/" + name) }
      try await bed.expectArrival([1, 2, 3, 4])
    }
  }

  @Test("[RES-9] some disk space stays free, except for requested resources") func diskReserve() async throws {
    for (disk, free) in [(Int.max, 256 << 20), (1_000_000, 20_000)] {
      var calls = DiskCalls.system
      calls.diskBytes = { _ in disk }
      calls.freeBytes = { _ in free + 3 }
      try await BulkTestBed.run(quota: InboxQuota(total: 1 << 40), calls: calls) { bed in
        bed.receiverEvents.request("answer")
        let path = try bed.directory.file("file", [1, 2, 3, 4])
        let transfer = try bed.sender.sendResource(atPath: path, named: "file")
        await #expect(throws: SessionError(.diskFull, "")) { try await transfer.result() }
        let answer = try bed.sender.sendResource(atPath: path, named: "answer", isRequested: true)
        #expect(try await answer.result().size == 4)
        try await bed.expectArrival([1, 2, 3])
      }
    }
  }
}

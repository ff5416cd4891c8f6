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

@Suite("Resources", .timeLimit(.minutes(5))) struct ResourceTests {
  @Test(
    "a file of any length arrives whole, verified and private",
    arguments: [0, 1, 65_535, 65_536, 65_537, 524_288, 3_000_007]
  ) func arrives(size: Int) async throws {
    try await BulkTestBed.run { bed in
      try await bed.expectArrival(seededBytes(size, seed: 1))
      #expect(bed.partials.isEmpty)
      let name = try #require(bed.delivered.first)
      var status = stat()
      #expect(stat(bed.inboxPath + "/" + name, &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600)
      #expect(stat(bed.inboxPath + "/.partial", &status) == 0)
      #expect(status.st_mode & 0o777 == 0o700)
      #expect(bed.receiverEvents.started.count == 1)
      #expect(bed.senderEvents.started.count == 1)
      await bed.senderEvents.wait { $0.finished.count == 1 }
    }
  }

  @Test("consecutive transfers use one link") func reuse() async throws {
    try await BulkTestBed.run { bed in
      for seed in 0..<5 {
        try await bed.expectArrival(seededBytes(100_000, seed: UInt64(seed)))
        await eventually { bed.sender.idleLinkCount == 1 }
      }
      #expect(bed.links.opened == 1)
    }
  }

  @Test("[RES-6] many concurrent transfers all arrive, eight at a time") func many() async throws {
    try await BulkTestBed.run { bed in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for seed in 0..<30 {
          group.addTask { try await bed.expectArrival(seededBytes(200_000 + seed, seed: UInt64(seed))) }
        }
        try await group.waitForAll()
      }
      #expect(bed.links.opened < 30)
      #expect(bed.delivered.count == 30)
    }
  }

  @Test("[RES-5] a transfer survives links that are cut at any byte, and continues at its offset") func cuts()
    async throws
  {
    for seed in UInt64(1)...12 {
      var generator = SeededGenerator(seed: seed)
      let size = 5_000_000
      let cuts = (0..<6).map { _ in Int.random(in: 1...1_200_000, using: &generator) }
      try await BulkTestBed.run { bed in
        bed.links.cut(after: cuts)
        try await bed.expectArrival(seededBytes(size, seed: seed))
        #expect(bed.links.opened == 7, "seed \(seed)")
        #expect(bed.receiverEvents.started.count == 1, "seed \(seed)")
        #expect(bed.receiverEvents.finished.count == 1, "seed \(seed)")
        #expect(bed.senderEvents.started.count == 1, "seed \(seed)")
        #expect(bed.partials.isEmpty, "seed \(seed)")
      }
    }
  }

  @Test("[RES-5] a cut in the offer, before START or after END loses nothing either") func cutsAtEdges() async throws {
    for cut in 1...520 where cut % 7 == 1 {
      try await BulkTestBed.run { bed in
        bed.links.cut(after: [cut])
        try await bed.expectArrival(seededBytes(10, seed: UInt64(cut)))
        #expect(bed.receiverEvents.finished.count == 1, "cut \(cut)")
        #expect(bed.delivered.count == 1, "cut \(cut)")
      }
    }
  }

  @Test("[RES-5] a transfer over a dead path continues when the control link is replaced") func deadPath() async throws
  {
    let clock = ManualClock()
    try await BulkTestBed.run(time: BulkTime(clock)) { bed in
      bed.links.cut(after: [2_000_000], isSilent: true)
      let bytes = seededBytes(4_000_000, seed: 9)
      let path = try bed.directory.file("file", bytes)
      let transfer = try bed.sender.sendResource(atPath: path, named: "file")
      await bed.receiverEvents.wait { !$0.started.isEmpty }
      // The sender considers all bytes sent.
      await eventually { bed.sender.sentBytes(of: transfer.id) == 4_000_000 }
      bed.sender.reconnected()
      // The watch starts its timer late, so advance the clock until the timer ends.
      while bed.links.opened == 1, !Task.isCancelled {
        clock.advance(by: .seconds(1))
        await Task.yield()
      }
      _ = try await transfer.result()
      #expect(bed.links.opened == 2)
      #expect(try TemporaryDirectory.read(bed.inboxPath + "/" + transfer.id.text) == bytes)
    }
  }

  @Test("[RES-7] a transfer that stalls for a minute loses its link and its place") func stall() async throws {
    let clock = ManualClock()
    try await BulkTestBed.run(quota: .whole(5_000_000), time: BulkTime(clock)) { bed in
      // The bytes after the cut are dropped, and the link stays.
      bed.links.cut(after: [1_000], isSilent: true)
      bed.links.hold(after: 1)
      let path = try bed.directory.file("file", seededBytes(4_000_000, seed: 12))
      let transfer = try bed.sender.sendResource(atPath: path, named: "file")
      await bed.receiverEvents.wait { !$0.started.isEmpty }
      try #require(!bed.receiverEvents.started.isEmpty)
      await eventually { bed.sender.sentBytes(of: transfer.id) ?? 0 > 0 }
      try #require(bed.sender.sentBytes(of: transfer.id) ?? 0 > 0)
      clock.advance(by: .seconds(59))
      #expect(bed.receiver.linkCount == 1)
      while bed.receiver.linkCount == 1, !Task.isCancelled {
        clock.advance(by: .seconds(1))
        await Task.yield()
      }
      bed.links.release()
      // A sender that has not sent a block yet pauses before it continues.
      let pauses = Task {
        await eventually {
          clock.advance(by: .milliseconds(2))
          return false
        }
      }
      defer { pauses.cancel() }
      _ = try await transfer.result()
      #expect(bed.links.opened == 2)
    }
  }

  @Test("if no link can be opened yet, it is requested again") func retries() async throws {
    try await BulkTestBed.run { bed in
      bed.links.fail(with: [SessionError(.busy, ""), SessionError(.unreachable, "")])
      try await bed.expectArrival([1, 2, 3])
    }
  }

  @Test("[RES-5] a lost peer ends its transfers on both sides") func lost() async throws {
    try await BulkTestBed.run { bed in
      let path = try bed.directory.file("file", seededBytes(4_000_000, seed: 3))
      bed.links.cut(after: [2_000_000])
      bed.links.hold(after: 1)
      let transfer = try bed.sender.sendResource(atPath: path, named: "file")
      await bed.receiverEvents.wait { !$0.started.isEmpty }
      bed.sender.close(SessionError(.peerLost, "lost"))
      bed.receiver.close(SessionError(.peerLost, "lost"))
      await #expect(throws: SessionError(.peerLost, "")) { try await transfer.result() }
      await bed.receiverEvents.wait { !$0.finished.isEmpty }
      #expect(bed.receiverEvents.finished.count == 1)
      await #expect(throws: SessionError(.peerLost, "")) { try await bed.receiverEvents.result(of: transfer.id) }
      #expect(throws: SessionError(.peerLost, "")) { try bed.sender.sendResource(atPath: path, named: "file") }
    }
  }

  @Test("[RES-1] after a restart, sender and receiver continue the same file") func restart() async throws {
    let directory = try TemporaryDirectory()
    let bytes = seededBytes(6_000_000, seed: 5)
    let path = try directory.file("file", bytes)
    try await BulkTestBed.run(directory: directory) { bed in
      bed.links.cut(after: [3_000_000])
      bed.links.hold(after: 1)
      _ = try bed.sender.sendResource(atPath: path, named: "photo")
      await bed.receiverEvents.wait { !$0.started.isEmpty }
      await eventually { bed.receiver.linkCount == 0 && bed.links.opened == 1 }
    }
    #expect(TemporaryDirectory.names(directory.path + "/inbox/.partial").count == 2)
    try await BulkTestBed.run(directory: directory) { bed in
      let transfer = try bed.sender.sendResource(atPath: path, named: "photo")
      _ = try await transfer.result()
      let info = try #require(bed.receiverEvents.started.first)
      #expect(info.resumedFrom > 1_000_000)
      #expect(try TemporaryDirectory.read(bed.inboxPath + "/" + transfer.id.text) == bytes)
      #expect(bed.partials.isEmpty)
    }
  }

  @Test("[RES-2] if the receiver's partial file differs, the sender starts from the beginning") func differentPrefix()
    async throws
  {
    let directory = try TemporaryDirectory()
    let bytes = seededBytes(6_000_000, seed: 6)
    let path = try directory.file("file", bytes)
    try await BulkTestBed.run(directory: directory) { bed in
      bed.links.cut(after: [3_000_000])
      bed.links.hold(after: 1)
      _ = try bed.sender.sendResource(atPath: path, named: "photo")
      await bed.receiverEvents.wait { !$0.started.isEmpty }
      await eventually { bed.receiver.linkCount == 0 && bed.links.opened == 1 }
    }
    let partial = directory.path + "/inbox/.partial"
    let file = try #require(TemporaryDirectory.names(partial).first { !$0.hasSuffix(".json") })
    let descriptor = open(partial + "/" + file, O_WRONLY)
    #expect(pwrite(descriptor, "damage", 6, 1_000) == 6)
    close(descriptor)
    try await BulkTestBed.run(directory: directory) { bed in
      let transfer = try bed.sender.sendResource(atPath: path, named: "photo")
      _ = try await transfer.result()
      #expect(bed.receiverEvents.started.first?.resumedFrom == 0)
      #expect(try TemporaryDirectory.read(bed.inboxPath + "/" + transfer.id.text) == bytes)
    }
  }

  @Test("unfinished transfers are kept for seven days") func sweep() async throws {
    let directory = try TemporaryDirectory()
    let path = try directory.file("file", seededBytes(3_000_000, seed: 7))
    try await BulkTestBed.run(directory: directory) { bed in
      bed.links.cut(after: [2_000_000])
      bed.links.hold(after: 1)
      _ = try bed.sender.sendResource(atPath: path, named: "photo")
      await bed.receiverEvents.wait { !$0.started.isEmpty }
      await eventually { bed.receiver.linkCount == 0 && bed.links.opened == 1 }
    }
    let inbox = directory.path + "/inbox"
    let day = 24 * 3_600
    for (days, count) in [(6, 2), (8, 0)] {
      _ = try await ResourceInbox.open(directory: inbox, quota: .whole(1 << 30), now: secondsSince1970() + days * day)
      #expect(TemporaryDirectory.names(inbox + "/.partial").count == count)
    }
  }

  @Test("the next start removes a partial resource that only an ended process could use") func leftovers() async throws
  {
    let directory = try TemporaryDirectory()
    let inbox = directory.path + "/inbox"
    let peer = PeerIdentity.ephemeral().peerID
    let isTemporary: @Sendable (UntrustedText) -> Bool = { $0.raw.hasPrefix("answer") }
    func open() async throws -> ResourceInbox {
      try await ResourceInbox.open(directory: inbox, quota: .whole(1 << 30), isTemporary: isTemporary)
    }
    var files: [StagingFile] = []
    var offers: [Control.ResourceOffer] = []
    let first = try await open()
    for name in ["answer 1", "answer 2", "photo"] {
      let offer = Control.ResourceOffer(id: .random(), name: UntrustedText(name), size: 10, modified: 1)
      let file = try #require(try await first.admit(offer, .init(peer: peer)) { false }.file)
      _ = try file.write([ByteBuffer(bytes: [1, 2, 3])], at: 0, after: SHA256())
      offers.append(offer)
      files.append(file)
    }
    // Another process starts while all transfers are running, and again after the first process was interrupted.
    _ = try await open()
    #expect(TemporaryDirectory.names(inbox + "/.partial").count == 6)
    let second = try await open()
    await #expect(throws: SessionError.self) { _ = try await second.admit(offers[2], .init(peer: peer)) { false } }
    await first.storePartial(offers[0].id, written: 3, hash: SHA256())
    await first.storePartial(offers[2].id, written: 3, hash: SHA256())
    _ = try await open()
    #expect(
      Set(TemporaryDirectory.names(inbox + "/.partial").filter { !$0.hasSuffix(".json") }) == [
        offers[1].id.text, offers[2].id.text,
      ]
    )
    #expect(try await second.admit(offers[2], .init(peer: peer)) { false }.offset == 3)
  }

  // MARK: Canceling

  /// A disk that blocks writes, so that a transfer stalls midway.
  final class SlowDisk: Sendable {
    private let isOpen = Locked(false)
    private let writes = Locked(0)
    var hasWritten: Bool { writes.withLock { $0 > 0 } }
    func release() { isOpen.withLock { $0 = true } }
    var calls: DiskCalls {
      var calls = DiskCalls.system
      calls.write = { [self] descriptor, bytes, offset in
        // The record of a transfer is small and is not blocked.
        if bytes.count > 1_024 {
          writes.withLock { $0 += 1 }
          while !isOpen.withLock({ $0 }) { sched_yield() }
        }
        return DiskCalls.system.write(descriptor, bytes, offset)
      }
      return calls
    }
  }

  @Test("[RES-4] the sender cancels midway; the receiver deletes its partial file; the link stays") func senderCancels()
    async throws
  {
    let disk = SlowDisk()
    try await BulkTestBed.run(calls: disk.calls) { bed in
      let path = try bed.directory.sparseFile("big", size: 100_000_000)
      let transfer = try bed.sender.sendResource(atPath: path, named: "big")
      await eventually { disk.hasWritten }
      transfer.cancel()
      await #expect(throws: SessionError(.transferCancelled, "")) { try await transfer.result() }
      disk.release()
      await #expect(throws: SessionError(.transferCancelled, "")) {
        try await bed.receiverEvents.result(of: transfer.id)
      }
      await eventually { bed.sender.idleLinkCount == 1 }
      #expect(bed.partials.isEmpty)
      #expect(bed.delivered.isEmpty)
      try await bed.expectArrival(seededBytes(1_000_000, seed: 1))
      #expect(bed.links.opened == 1)
    }
  }

  @Test("[RES-4] the receiver cancels midway; the sender is notified; the link stays") func receiverCancels()
    async throws
  {
    let disk = SlowDisk()
    try await BulkTestBed.run(calls: disk.calls) { bed in
      let path = try bed.directory.sparseFile("big", size: 100_000_000)
      let transfer = try bed.sender.sendResource(atPath: path, named: "big")
      await eventually { disk.hasWritten }
      #expect(bed.receiver.cancelResource(transfer.id))
      disk.release()
      await #expect(throws: SessionError(.transferCancelled, "")) { try await transfer.result() }
      await #expect(throws: SessionError(.transferCancelled, "")) {
        try await bed.receiverEvents.result(of: transfer.id)
      }
      await eventually { bed.sender.idleLinkCount == 1 }
      #expect(bed.partials.isEmpty)
      try await bed.expectArrival(seededBytes(1_000_000, seed: 1))
      #expect(bed.links.opened == 1)
      #expect(!bed.receiver.cancelResource(transfer.id))
    }
  }

  @Test("[RES-4] an unwanted resource is refused before a byte is sent, and its link stays") func unwanted()
    async throws
  {
    try await BulkTestBed.run { bed in
      bed.receiverEvents.refuse("spam")
      let path = try bed.directory.file("file", [1, 2, 3])
      let transfer = try bed.sender.sendResource(atPath: path, named: "spam")
      await #expect(throws: SessionError(.declined, "")) { try await transfer.result() }
      try await bed.expectArrival([4, 5, 6])
      #expect(bed.links.opened == 1)
      #expect(bed.receiverEvents.started.count == 1)
      #expect(bed.delivered.count == 1)
      #expect(bed.partials.isEmpty)
    }
  }

  @Test("[RES-5] a transfer that is no longer wanted when it resumes ends on both sides") func unwantedLater()
    async throws
  {
    try await BulkTestBed.run { bed in
      bed.links.cut(after: [2_000_000])
      bed.links.hold(after: 1)
      let path = try bed.directory.file("file", seededBytes(3_000_000, seed: 11))
      let transfer = try bed.sender.sendResource(atPath: path, named: "photo")
      await bed.receiverEvents.wait { !$0.started.isEmpty }
      bed.receiverEvents.refuse("photo")
      bed.links.release()
      await #expect(throws: SessionError(.declined, "")) { try await transfer.result() }
      await #expect(throws: SessionError(.declined, "")) { try await bed.receiverEvents.result(of: transfer.id) }
      await eventually { bed.partials.isEmpty }
    }
  }

  @Test("[RES-4] a transfer is canceled while it waits for a link or its turn, and while it is broken")
  func cancelWhileWaiting() async throws {
    try await BulkTestBed.run { bed in
      bed.links.hold()
      let path = try bed.directory.file("file", [1, 2, 3])
      let transfers = try (0..<10).map { _ in try bed.sender.sendResource(atPath: path, named: "file") }
      transfers[9].cancel()
      await #expect(throws: SessionError(.transferCancelled, "")) { try await transfers[9].result() }
      #expect(bed.sender.cancelResource(transfers[0].id))
      await #expect(throws: SessionError(.transferCancelled, "")) { try await transfers[0].result() }
      bed.links.release()
      for transfer in transfers[1..<9] { _ = try await transfer.result() }
      await bed.senderEvents.wait { $0.finished.count == 10 }
    }
  }

  @Test("if the receiver cancels a transfer with a broken link, the partial file is deleted") func cancelInterrupted()
    async throws
  {
    try await BulkTestBed.run { bed in
      let path = try bed.directory.file("file", seededBytes(3_000_000, seed: 8))
      bed.links.cut(after: [2_000_000])
      bed.links.hold(after: 1)
      let transfer = try bed.sender.sendResource(atPath: path, named: "file")
      await bed.receiverEvents.wait { !$0.started.isEmpty }
      await eventually { bed.receiver.linkCount == 0 }
      #expect(bed.receiver.cancelResource(transfer.id))
      await #expect(throws: SessionError(.transferCancelled, "")) {
        try await bed.receiverEvents.result(of: transfer.id)
      }
      #expect(bed.partials.isEmpty)
      transfer.cancel()
    }
  }

  // MARK: The source

  @Test("both sides notice a file that changes while it is sent", arguments: 0..<4) func sourceChanges(how: Int)
    async throws
  {
    let disk = SlowDisk()
    try await BulkTestBed.run(calls: disk.calls) { bed in
      let path = try bed.directory.sparseFile("big", size: 100_000_000)
      let transfer = try bed.sender.sendResource(atPath: path, named: "big")
      await eventually { disk.hasWritten }
      switch how {
      case 0: truncate(path, 50_000_000)
      case 1: truncate(path, 100_000_001)
      case 2:
        let times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
        utimensat(AT_FDCWD, path, times, 0)
      default:
        let other = try bed.directory.sparseFile("other", size: 100_000_000)
        rename(other, path)
      }
      disk.release()
      await #expect(throws: SessionError(.sourceChanged, "")) { try await transfer.result() }
      await #expect(throws: SessionError(.sourceChanged, "")) { try await bed.receiverEvents.result(of: transfer.id) }
      await eventually { bed.partials.isEmpty }
      #expect(bed.delivered.isEmpty)
    }
  }

  @Test("only a readable regular file is sent") func unreadable() async throws {
    try await BulkTestBed.run { bed in
      let fifo = bed.directory.path + "/fifo"
      #expect(mkfifo(fifo, 0o600) == 0)
      for path in [fifo, bed.directory.path, "/dev/zero", bed.directory.path + "/none", "a\0b"] {
        let transfer = try bed.sender.sendResource(atPath: path, named: "x")
        await #expect(throws: SessionError(.sourceUnreadable, "")) { try await transfer.result() }
      }
      #expect(bed.links.opened == 0)
    }
  }

  @Test("names that are too long, for the limit or a frame, or that contain NUL, are refused at once") func names()
    async throws
  {
    try await BulkTestBed.run { bed in
      let path = try bed.directory.file("file", [1])
      let long = String(repeating: "n", count: Limits.resourceName)
      for name in [long + "n", "a\0b", String(repeating: "\u{1}", count: Limits.resourceName)] {
        #expect(throws: SessionError(.invalidName, "")) { try bed.sender.sendResource(atPath: path, named: name) }
      }
      let hostile = [
        "", "..", "../../../etc/passwd", "/etc/passwd", "a/b\\c", ".partial", "\u{1B}[31m\u{7}", "-rf", "CON",
        "{\"id\":\"1-a\",\"type\":\"photo\"}", "e\u{301}", "\u{E9}", "\u{202E}x", long,
      ]
      for name in hostile {
        let transfer = try bed.sender.sendResource(atPath: path, named: name)
        _ = try await transfer.result()
        let info = bed.receiverEvents.started.last
        #expect(info.map { Array($0.name.raw.utf8) } == Array(name.utf8))
        #expect(bed.delivered.contains(transfer.id.text))
      }
      #expect(bed.delivered.count == hostile.count)
      #expect(Set(TemporaryDirectory.names(bed.directory.path)) == ["file", "inbox", "sender-inbox"])
    }
  }

  // MARK: Space

  @Test("a file that exceeds the quota is refused, and both sides learn the reason") func quota() async throws {
    try await BulkTestBed.run(quota: .whole(1_000_000)) { bed in
      try await bed.expectArrival(seededBytes(600_000, seed: 1))
      let path = try bed.directory.file("file", seededBytes(500_000, seed: 2))
      let transfer = try bed.sender.sendResource(atPath: path, named: "file")
      await #expect(throws: SessionError(.quota, "")) { try await transfer.result() }
      #expect(bed.partials.isEmpty)
      unlink(bed.inboxPath + "/" + (bed.delivered.first ?? ""))
      try await bed.expectArrival(seededBytes(500_000, seed: 2))
    }
  }

  @Test("old partial files are deleted for a file that fits in the quota without them") func partsMakeWay() async throws
  {
    let directory = try TemporaryDirectory()
    try await BulkTestBed.run(quota: .whole(5_000_000), directory: directory) { bed in
      let path = try directory.file("first", seededBytes(4_000_000, seed: 7))
      bed.links.cut(after: [3_000_000])
      bed.links.hold(after: 1)
      _ = try bed.sender.sendResource(atPath: path, named: "photo")
      await bed.receiverEvents.wait { !$0.started.isEmpty }
      await eventually { bed.receiver.linkCount == 0 && bed.links.opened == 1 }
    }
    try await BulkTestBed.run(quota: .whole(5_000_000), directory: directory) { bed in
      try await bed.expectArrival(seededBytes(4_500_000, seed: 8))
      #expect(bed.partials.isEmpty)
    }
  }

  @Test("if the disk has no room for an offered file, that is reported before a byte is sent") func noRoom()
    async throws
  {
    var calls = DiskCalls.system
    calls.freeBytes = { _ in 99_999 }
    try await BulkTestBed.run(calls: calls) { bed in
      let path = try bed.directory.file("file", seededBytes(100_000, seed: 2))
      let transfer = try bed.sender.sendResource(atPath: path, named: "file")
      await #expect(throws: SessionError(.diskFull, "")) { try await transfer.result() }
      #expect(bed.receiverEvents.started.isEmpty)
      try await bed.expectArrival(seededBytes(99_999, seed: 2))
    }
  }

  @Test("a write that fails midway ends the transfer on both sides and leaves no file") func writeFails() async throws {
    for (number, code) in [(ENOSPC, SessionError.Code.diskFull), (EIO, .system)] {
      var calls = DiskCalls.system
      calls.write = { descriptor, bytes, offset in
        guard offset < 2_000_000 else {
          errno = number
          return -1
        }
        return DiskCalls.system.write(descriptor, bytes, offset)
      }
      try await BulkTestBed.run(calls: calls) { bed in
        let path = try bed.directory.file("file", seededBytes(8_000_000, seed: 2))
        let transfer = try bed.sender.sendResource(atPath: path, named: "file")
        await #expect(throws: SessionError(code, "")) { try await transfer.result() }
        await #expect(throws: SessionError(code, "")) { try await bed.receiverEvents.result(of: transfer.id) }
        await eventually { bed.partials.isEmpty }
        #expect(bed.delivered.isEmpty)
        try await bed.expectArrival(seededBytes(1_000_000, seed: 1))
      }
    }
  }

  @Test("if the disk fills up, both sides report it and the partial file is deleted") func fullDisk() async throws {
    let directory = try TemporaryDirectory()
    let mountPoint = directory.path + "/small"
    #expect(mkdir(mountPoint, 0o700) == 0)
    guard mount("tmpfs", mountPoint, "tmpfs", 0, "size=2m") == 0 else {
      try Test.cancel("this user may not mount a small disk")
    }
    defer { umount2(mountPoint, Int32(MNT_DETACH)) }
    var calls = DiskCalls.system
    // Fail as if another program had filled the disk after the check.
    calls.freeBytes = { _ in nil }
    let inbox = mountPoint + "/inbox"
    try await BulkTestBed.run(calls: calls, inbox: inbox, directory: directory) { bed in
      let path = try directory.file("file", seededBytes(6_000_000, seed: 2))
      let transfer = try bed.sender.sendResource(atPath: path, named: "file")
      await #expect(throws: SessionError(.diskFull, "")) { try await transfer.result() }
      await #expect(throws: SessionError(.diskFull, "")) { try await bed.receiverEvents.result(of: transfer.id) }
      await eventually { bed.partials.isEmpty }
      try await bed.expectArrival(seededBytes(1_000_000, seed: 1))
    }
  }

  // MARK: Progress and memory

  @Test("progress is reported at most ten times a second on either side") func progress() async throws {
    let clock = ManualClock()
    try await BulkTestBed.run(time: BulkTime(clock)) { bed in
      try await bed.expectArrival(seededBytes(8_000_000, seed: 1))
      await bed.senderEvents.wait { $0.finished.count == 1 }
      // The clock stands still, so there are only the first report and the last report.
      for events in [bed.senderEvents, bed.receiverEvents] {
        #expect(events.progress.count == 2)
        #expect(events.progress.last?.bytes == 8_000_000)
        #expect(events.progress.allSatisfy { $0.total == 8_000_000 })
      }
    }
    var throttle = ProgressThrottle()
    let allowed = (0..<1_000).filter { throttle.reports($0, now: .milliseconds($0)) }
    #expect(allowed == Array(stride(from: 0, to: 1_000, by: 100)))
    #expect([999, 999].map { throttle.reportsEnd($0) } == [true, false])
  }

  @Test(
    "the progress sequence of a transfer ends with the transfer, at the full size",
    arguments: [0, 1, 65_536, 2_000_000]
  ) func progressSequence(size: Int) async throws {
    // The clock stands still, so there are no reports between the first and the last report.
    try await BulkTestBed.run(time: BulkTime(ManualClock())) { bed in
      let path = try bed.directory.file("file", seededBytes(size, seed: 1))
      let transfer = try bed.sender.sendResource(atPath: path, named: "file")
      var last: ResourceProgress?
      for await progress in transfer.progress {
        #expect(progress.total == size)
        #expect(progress.bytes <= progress.total)
        last = progress
      }
      #expect(last?.bytes == size)
      _ = try await transfer.result()
      await bed.receiverEvents.wait { $0.finished.count == 1 }
      #expect(bed.receiverEvents.progress.last?.bytes == size)
    }
  }

  @Test("a gigabyte passes through both sides in constant memory") func constantMemory() async throws {
    await #expect(processExitsWith: .success) {
      try await BulkTestBed.run { bed in
        try await bed.expectArrival(seededBytes(20_000_000, seed: 1))
        let path = try bed.directory.sparseFile("big", size: 1 << 30)
        let before = residentBytes()
        let transfer = try bed.sender.sendResource(atPath: path, named: "big")
        let peak = Locked(0)
        let sampler = Task {
          while !Task.isCancelled {
            peak.withLock { $0 = max($0, residentBytes()) }
            try? await Task.sleep(for: .milliseconds(20))
          }
        }
        _ = try await transfer.result()
        sampler.cancel()
        await sampler.value
        let grown = peak.withLock { $0 } - before
        print("1 GiB: resident memory grew by \(grown / 1_048_576) MiB, both sides together")
        try #require(grown < 32 << 20)
      }
    }
  }
}

/// Returns the resident memory of this process in bytes.
func residentBytes() -> Int {
  guard let text = try? TemporaryDirectory.readProc("/proc/self/statm") else { return 0 }
  let fields = text.split(separator: " ")
  return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(getpagesize()) : 0
}

extension TemporaryDirectory {
  static func readProc(_ path: String) throws -> String {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { throw TestFailure("open \(path): \(errno)") }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  }
}

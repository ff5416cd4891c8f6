import Crypto
import NIOCore
import NIOPosix
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

/// A test's own directory, which is removed with all its files.
final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/bulk-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw TestFailure("mkdtemp: \(errno)") }
    path = String(cString: made)
  }

  deinit { Self.remove(path) }

  func file(_ name: String, _ bytes: [UInt8]) throws -> String {
    let file = path + "/" + name
    let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else { throw TestFailure("open \(file): \(errno)") }
    defer { close(descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { throw TestFailure("write \(file): \(errno)") }
      rest = rest.dropFirst(count)
    }
    return file
  }

  /// Creates a sparse file of `size` bytes, which uses no space.
  func sparseFile(_ name: String, size: Int) throws -> String {
    let file = try file(name, [])
    guard truncate(file, off_t(size)) == 0 else { throw TestFailure("truncate: \(errno)") }
    return file
  }

  static func names(_ path: String) -> [String] {
    guard let stream = opendir(path) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  static func read(_ path: String) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { throw TestFailure("open \(path): \(errno)") }
    defer { close(descriptor) }
    var status = stat()
    fstat(descriptor, &status)
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress?.advanced(by: done), $0.count - done, off_t(done))
      }
      guard count > 0 else { throw TestFailure("read \(path): \(errno)") }
      done += count
    }
    return bytes
  }

  private static func remove(_ path: String) {
    for name in names(path) {
      let entry = path + "/" + name
      if unlink(entry) != 0 { remove(entry) }
    }
    rmdir(path)
  }
}

struct TestFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Returns random bytes, which depend only on the seed.
func seededBytes(_ count: Int, seed: UInt64) -> [UInt8] {
  var generator = SeededGenerator(seed: seed)
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count + 8)
  while bytes.count < count { withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) } }
  return Array(bytes.prefix(count))
}

func peerID(_ byte: UInt8) -> PeerID {
  guard let id = PeerID(bytes: [UInt8](repeating: byte, count: 32)) else {
    preconditionFailure("32 bytes are a PeerID")
  }
  return id
}

/// A clock that stands still until a test moves it.
final class ManualClock: Clock, Sendable {
  struct Instant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Sleeper {
    var id: Int
    var deadline: Instant
    var continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = Instant(offset: .zero)
    var nextID = 0
    var sleepers: [Sleeper] = []
  }

  private let state = Locked(State())
  var sleeperCount: Int { state.withLock { $0.sleepers.count } }
  var now: Instant { state.withLock { $0.now } }
  var minimumResolution: Duration { .zero }

  func advance(by duration: Duration) {
    let woken = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let now = state.now
      defer { state.sleepers.removeAll { $0.deadline <= now } }
      return state.sleepers.filter { $0.deadline <= now }
    }
    for sleeper in woken { sleeper.continuation.resume() }
  }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result: Result<Void, any Error>? = state.withLock { state in
          if Task.isCancelled { return .failure(CancellationError()) }
          if state.now >= deadline { return .success(()) }
          state.sleepers.append(Sleeper(id: id, deadline: deadline, continuation: continuation))
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        state.sleepers.firstIndex { $0.id == id }.map { state.sleepers.remove(at: $0) }
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }
}

/// Records the events of a peer's bulk links, and lets a test wait for them.
final class RecordedEvents: BulkEvents {
  struct State {
    var started: [ResourceInfo] = []
    var progress: [(id: TransferID, bytes: Int, total: Int)] = []
    var finished: [(info: ResourceInfo, result: Result<ReceivedResource, SessionError>)] = []
    var streams: [PeerStream] = []
    var unwanted: Set<String> = []
    var requested: Set<String> = []
    var undecided: Set<String> = []
    var asked: [ResourceInfo] = []
    var abandoned: [ResourceInfo] = []
    var waiters: [Waiter] = []
    var lastWaiter = 0
  }

  struct Waiter {
    let id: Int
    let condition: @Sendable (State) -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  private let state = Locked(State())

  var started: [ResourceInfo] { state.withLock { $0.started } }
  var finished: [(info: ResourceInfo, result: Result<ReceivedResource, SessionError>)] {
    state.withLock { $0.finished }
  }
  var progress: [(id: TransferID, bytes: Int, total: Int)] { state.withLock { $0.progress } }

  /// The offers that ended before their decision.
  var abandoned: [ResourceInfo] { state.withLock { $0.abandoned } }

  func refuse(_ name: String) { change { $0.unwanted.insert(name) } }

  /// Treats offers of this name as requested from now on.
  func request(_ name: String) { change { $0.requested.insert(name) } }

  /// Lets offers of this name wait from now on, until ``decide(_:)``.
  func hesitate(_ name: String) { change { $0.undecided.insert(name) } }

  /// Accepts the waiting offers of this name.
  func decide(_ name: String) { change { $0.undecided.remove(name) } }

  func isRequested(_ info: ResourceInfo) async -> Bool {
    state.withLock { $0.requested.contains(info.name.raw) }
  }

  func wants(_ info: ResourceInfo) async -> Bool {
    change { $0.asked.append(info) }
    await wait { !$0.undecided.contains(info.name.raw) }
    if Task.isCancelled { change { $0.abandoned.append(info) } }
    return !Task.isCancelled && state.withLock { !$0.unwanted.contains(info.name.raw) }
  }

  func emit(_ event: SessionEvent) {
    change { state in
      switch event {
      case .resourceStarted(let info): state.started.append(info)
      case .resourceProgress(let id, let bytes, let total): state.progress.append((id, bytes, total))
      case .resourceFinished(let info, let result): state.finished.append((info, result))
      case .streamOpened(let stream): state.streams.append(stream)
      default: break
      }
    }
  }

  /// Waits until the condition holds, or the task is canceled.
  func wait(until condition: @escaping @Sendable (State) -> Bool) async {
    let id = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if condition(state) || Task.isCancelled { return true }
          state.waiters.append(Waiter(id: id, condition: condition, continuation: continuation))
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
      }
      waiter?.continuation.resume()
    }
  }

  /// Returns the next stream that the peer opened, and keeps no other reference to it.
  func nextStream() async throws -> PeerStream {
    await wait { !$0.streams.isEmpty }
    try Task.checkCancellation()
    return state.withLock { $0.streams.removeFirst() }
  }

  /// Releases the streams that the test did not use.
  func forgetStreams() { change { $0.streams = [] } }

  func result(of id: TransferID) async throws -> ReceivedResource {
    await wait { $0.finished.contains { $0.info.id == id } }
    guard let entry = finished.first(where: { $0.info.id == id }) else { throw TestFailure("no result of \(id)") }
    return try entry.result.get()
  }

  private func change(_ body: (inout State) -> Void) {
    let waiters = state.withLock { state in
      body(&state)
      let now = state
      let met = now.waiters.filter { $0.condition(now) }
      state.waiters.removeAll { $0.condition(now) }
      return met
    }
    for entry in waiters { entry.continuation.resume() }
  }
}

/// Breaks a connection after some bytes in either direction, or silently drops all later bytes, as an unplugged cable
/// does.
final class Cutter: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private var remaining: Int
  private let isSilent: Bool

  init(after bytes: Int, isSilent: Bool) {
    remaining = bytes
    self.isSilent = isSilent
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let (bytes, isCut) = take(unwrapInboundIn(data))
    if let bytes { context.fireChannelRead(wrapInboundOut(bytes)) }
    if isCut && !isSilent { context.close(promise: nil) }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let (bytes, isCut) = take(unwrapOutboundIn(data))
    guard let bytes else {
      // The sender cannot tell lost bytes from those in the system's buffer.
      if isSilent { promise?.succeed() } else { promise?.fail(ChannelError.ioOnClosedChannel) }
      return
    }
    guard isCut, !isSilent else { return context.write(wrapOutboundOut(bytes), promise: promise) }
    context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    promise?.fail(ChannelError.ioOnClosedChannel)
    context.close(promise: nil)
  }

  /// Returns the part of `bytes` before the cut, and whether the cut follows it.
  private func take(_ bytes: ByteBuffer) -> (ByteBuffer?, Bool) {
    guard remaining > 0 else { return (nil, false) }
    var bytes = bytes
    let part = bytes.readSlice(length: min(bytes.readableBytes, remaining))
    remaining -= part?.readableBytes ?? 0
    return (part, remaining == 0)
  }
}

/// Opens links to an endpoint, or to a raw peer, over TCP on loopback.
final class LoopbackLinks: BulkLinkProvider {
  typealias Accept = @Sendable (any Channel) throws -> Void

  private struct State {
    var opened = 0
    var cuts: [Int] = []
    var isSilent = false
    var failures: [SessionError] = []
    var isHeld = false
    var linksBeforeHold: Int?
    var held: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())
  private let server: any Channel

  private init(_ server: any Channel) { self.server = server }

  static func listen(_ accept: @escaping Accept) async throws -> LoopbackLinks {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).childChannelInitializer {
      channel in channel.eventLoop.makeCompletedFuture { try accept(channel) }
    }.bind(host: "127.0.0.1", port: 0).get()
    return LoopbackLinks(server)
  }

  /// The number of links opened so far.
  var opened: Int { state.withLock { $0.opened } }

  /// Makes each of the next links break after the given number of bytes.
  func cut(after bytes: [Int], isSilent: Bool = false) {
    state.withLock { state in
      state.cuts += bytes
      state.isSilent = isSilent
    }
  }

  func fail(with errors: [SessionError]) { state.withLock { $0.failures += errors } }

  /// Holds back all new links until ``release()``, as if the peer were reconnecting.
  func hold() { state.withLock { $0.isHeld = true } }

  /// Holds back all links after the next `count` links, until ``release()``.
  func hold(after count: Int) { state.withLock { $0.linksBeforeHold = count } }

  func release() {
    let held = state.withLock { state in
      state.isHeld = false
      defer { state.held = [] }
      return state.held
    }
    for waiter in held { waiter.resume() }
  }

  func openLink(to peer: PeerID) async throws(SessionError) -> BulkLink {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let isFree = state.withLock { state in
          if state.isHeld && !Task.isCancelled {
            state.held.append(waiter)
            return false
          }
          if let left = state.linksBeforeHold {
            state.linksBeforeHold = left > 1 ? left - 1 : nil
            state.isHeld = left <= 1
          }
          return true
        }
        if isFree { waiter.resume() }
      }
    } onCancel: {
      release()
    }
    if Task.isCancelled { throw .cancelled }
    let (failure, cut): (SessionError?, Int?) = state.withLock { state in
      if !state.failures.isEmpty { return (state.failures.removeFirst(), nil) }
      state.opened += 1
      return (nil, state.cuts.isEmpty ? nil : state.cuts.removeFirst())
    }
    if let failure { throw failure }
    do {
      return try await Self.connect(to: server.localAddress, cut: cut, isSilent: state.withLock { $0.isSilent })
    } catch { throw SessionError(.unreachable, "\(error)") }
  }

  private static func connect(to address: SocketAddress?, cut: Int?, isSilent: Bool) async throws -> BulkLink {
    guard let address else { throw TestFailure("no address") }
    return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(to: address) { channel in
      channel.eventLoop.makeCompletedFuture {
        if let cut { try channel.pipeline.syncOperations.addHandler(Cutter(after: cut, isSilent: isSilent)) }
        return try BulkLink.wrap(channel)
      }
    }
  }

  /// Opens a connection to the same listener, on which a test sends its own frames.
  func raw() async throws -> RawPeer {
    guard let address = server.localAddress else { throw TestFailure("no address") }
    return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(to: address) { channel in
      channel.eventLoop.makeCompletedFuture { try RawPeer(channel) }
    }
  }

  func close() async throws { try await server.close() }
}

/// The other end of a link, which sends the frames of a test.
final class RawPeer: Sendable {
  private final class Collector: ChannelInboundHandler {
    typealias InboundIn = BulkFrame
    let frames: AsyncStream<BulkFrame>.Continuation
    init(_ frames: AsyncStream<BulkFrame>.Continuation) { self.frames = frames }
    func channelRead(context: ChannelHandlerContext, data: NIOAny) { frames.yield(unwrapInboundIn(data)) }
    func channelInactive(context: ChannelHandlerContext) { frames.finish() }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }

  let channel: any Channel
  private let frames: AsyncStream<BulkFrame>

  init(_ channel: any Channel) throws {
    let (frames, continuation) = AsyncStream.makeStream(of: BulkFrame.self)
    self.channel = channel
    self.frames = frames
    try channel.pipeline.syncOperations.addHandlers(BulkFrameDecoder(), Collector(continuation))
  }

  func send(_ payload: some ControlPayload) async throws { try await channel.writeAndFlush(payload.bulkFrame()) }

  func send(_ type: FrameType, _ bytes: [UInt8] = []) async throws {
    try await channel.writeAndFlush(ByteBuffer.bulkFrame(type, bytes))
  }

  func send(raw bytes: [UInt8]) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)) }

  /// Returns the next frame, or `nil` if the link was closed.
  func next() async -> BulkFrame? {
    var iterator = frames.makeAsyncIterator()
    return await iterator.next()
  }

  /// Returns the next frame, which must be of this type.
  func next<Payload: ControlPayload>(_ type: Payload.Type) async throws -> Payload {
    guard let frame = await next() else { throw TestFailure("closed before \(Payload.frameType)") }
    guard frame.type == Payload.frameType else { throw TestFailure("\(frame.type) instead of \(Payload.frameType)") }
    return try Payload.decode(frame)
  }

  /// Returns the code of the next CLOSE and skips the frames before it; `nil` if the link ends without CLOSE.
  func closeCode() async throws -> CloseCode? {
    while let frame = await next() { if frame.type == .close { return try Control.Close.decode(frame).code } }
    return nil
  }

  func close() async { try? await channel.close() }
}

/// Two peers on loopback: `sender` opens links to `receiver`.
struct BulkTestBed: Sendable {
  let directory: TemporaryDirectory
  let links: LoopbackLinks
  let sender: BulkEndpoint
  let receiver: BulkEndpoint
  let senderEvents: RecordedEvents
  let receiverEvents: RecordedEvents
  let inboxPath: String

  static let senderID = peerID(1)
  static let receiverID = peerID(2)

  /// Runs `body` between two peers, and checks that both are deallocated afterwards.
  static func run(
    quota: InboxQuota = .whole(1 << 40),
    calls: DiskCalls = .system,
    time: BulkTime = BulkTime(ContinuousClock()),
    inbox: String? = nil,
    directory: TemporaryDirectory? = nil,
    _ body: @Sendable (BulkTestBed) async throws -> Void
  ) async throws {
    let remains = try await play(
      quota: quota,
      calls: calls,
      time: time,
      inbox: inbox,
      directory: directory ?? TemporaryDirectory(),
      body
    )
    // Everything on a link refers to its endpoint, so a reference cycle would keep the endpoint alive.
    await eventually { remains.sender == nil && remains.receiver == nil }
    #expect(remains.sender == nil)
    #expect(remains.receiver == nil)
  }

  /// Weak references to the peers of a test.
  private struct Remains: Sendable {
    weak let sender: BulkEndpoint?
    weak let receiver: BulkEndpoint?
  }

  private static func play(
    quota: InboxQuota,
    calls: DiskCalls,
    time: BulkTime,
    inbox: String?,
    directory: TemporaryDirectory,
    _ body: @Sendable (BulkTestBed) async throws -> Void
  ) async throws -> Remains {
    let inboxPath = inbox ?? directory.path + "/inbox"
    let inbox = try await ResourceInbox.open(directory: inboxPath, quota: quota, calls: calls)
    let senderInbox = try await ResourceInbox.open(directory: directory.path + "/sender-inbox", quota: quota)
    let (senderEvents, receiverEvents) = (RecordedEvents(), RecordedEvents())
    let none = NoLinks()
    let receiver = BulkEndpoint(peer: senderID, inbox: inbox, links: none, events: receiverEvents, time: time)
    let links = try await LoopbackLinks.listen { channel in receiver.accept(try BulkLink.wrap(channel)) }
    let sender = BulkEndpoint(peer: receiverID, inbox: senderInbox, links: links, events: senderEvents, time: time)
    let bed = BulkTestBed(
      directory: directory,
      links: links,
      sender: sender,
      receiver: receiver,
      senderEvents: senderEvents,
      receiverEvents: receiverEvents,
      inboxPath: inboxPath
    )
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await sender.run() }
      group.addTask { await receiver.run() }
      let result: Result<Void, any Error>
      do {
        try await body(bed)
        result = .success(())
      } catch { result = .failure(error) }
      sender.close(SessionError(.left, "The test is over."))
      receiver.close(SessionError(.left, "The test is over."))
      try await group.waitForAll()
      try await links.close()
      try result.get()
    }
    #expect(sender.linkCount == 0)
    #expect(receiver.linkCount == 0)
    // An unused stream holds its endpoint, which holds these event records.
    senderEvents.forgetStreams()
    receiverEvents.forgetStreams()
    return Remains(sender: sender, receiver: receiver)
  }

  /// The files in the receiver's inbox, without `.partial`.
  var delivered: [String] { TemporaryDirectory.names(inboxPath).filter { $0 != ".partial" } }
  var partials: [String] { TemporaryDirectory.names(inboxPath + "/.partial") }

  /// Sends a file and checks that it arrives unchanged.
  func expectArrival(_ bytes: [UInt8], named name: String = "a file") async throws {
    let path = try directory.file("file-\(TransferID.random())", bytes)
    let transfer = try sender.sendResource(atPath: path, named: name)
    let sent = try await transfer.result()
    let received = try await receiverEvents.result(of: transfer.id)
    #expect(received.sha256 == Array(SHA256.hash(data: bytes)))
    #expect(sent.sha256 == received.sha256)
    #expect(received.path == inboxPath + "/" + transfer.id.text)
    #expect(try TemporaryDirectory.read(inboxPath + "/" + transfer.id.text) == bytes)
  }
}

/// The link provider of a side that opens no links.
struct NoLinks: BulkLinkProvider {
  func openLink(to peer: PeerID) async throws(SessionError) -> BulkLink {
    throw SessionError(.notConnected, "No links here.")
  }
}

/// Waits until a condition holds, checking every millisecond; the test's time limit bounds the wait.
func eventually(_ condition: @Sendable () -> Bool) async {
  while !condition(), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
}

extension InboxQuota {
  /// Returns a quota with the same limit for everything, and without space that must stay free.
  static func whole(_ bytes: Int) -> InboxQuota {
    InboxQuota(total: bytes, session: bytes, peer: bytes, diskReserve: 0)
  }
}

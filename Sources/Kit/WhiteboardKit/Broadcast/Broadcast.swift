import PeerCore
import PeerSession
import Whiteboard

/// The part of a board that a broadcast shows.
public enum BroadcastArea: Hashable, Sendable {
  /// All objects, with a margin.
  case wholeBoard
  /// A part of the board.
  case region(Rectangle)
  /// The part that a member sees, given by the member's name, id or id prefix; the whole board until this member shows
  /// what it sees.
  case member(String)
  /// The frame of the board in which something changed last; the whole board until then.
  case latestFrame
}

/// A broadcast of pictures to any number of viewers (`Protocol/broadcast.md`).
///
/// Pictures are drawn only while at least one viewer watches and something changes. Each viewer receives the newest
/// picture as soon as it has decoded an earlier one. Therefore a slow viewer skips pictures, but does not delay others.
///
/// ```swift
/// let broadcast = try await board.startBroadcast()
/// for await event in broadcast.events { print(event) }
/// ```
///
/// A program that broadcasts other pictures implements ``FrameSource``, and calls
/// ``SharedBoard/startBroadcast(_:source:coder:)`` with it.
public actor Broadcast {
  /// The options of a broadcast.
  public struct Options: Hashable, Sendable {
    /// The size of the pictures.
    public var size = FrameSize.fullHD
    /// The maximum number of pictures per second, 1 to 60.
    public var rate = 15
    /// The encoding to use if the viewer can decode it and the program can encode it.
    public var codec = FrameCodec.jpeg
    /// The part of the board to show; a source of other pictures ignores it.
    public var area = BroadcastArea.wholeBoard
    /// The maximum number of viewers at a time.
    public var viewerLimit = 64

    /// Creates the default options.
    public init() {}
  }

  /// The state of a broadcast.
  public enum State: String, Sendable {
    /// The broadcast has not started yet.
    case idle
    case running
    /// Viewers see the last picture.
    case paused
    /// The broadcast is over, and cannot be started again.
    case finished
  }

  /// An event of a broadcast.
  public enum Event: Sendable, Equatable {
    /// The state changed.
    case state(State)
    /// The number of viewers changed.
    case viewers(Int)
    /// The source became unavailable, so that viewers see the last picture, or is available again.
    case available(Bool)
    /// A picture could not be drawn or encoded; the broadcast continues.
    case failed(BroadcastNotice)
  }

  /// The time that a broadcast uses.
  struct Time: Sendable {
    /// Returns the time since a fixed moment.
    var now: @Sendable () -> Duration
    /// Returns the milliseconds since 1970.
    var wall: @Sendable () -> UInt64
    var sleep: @Sendable (Duration) async throws -> Void

    static let real: Time = {
      let start = ContinuousClock.now
      return Time(
        now: { ContinuousClock.now - start },
        wall: { SystemTime.milliseconds },
        sleep: { try await Task.sleep(for: $0) }
      )
    }()
  }

  private struct Viewer {
    var queue: ViewerQueue
    let codec: FrameCodec
    var waiter: CheckedContinuation<Void, Never>?
  }

  private struct Encoding: Hashable {
    let codec: FrameCodec
    let base: UInt64?
    let areas: [PixelRect]
  }

  /// The maximum number of encodings of one picture that contain only changes. If further viewers need other changes,
  /// they get the whole picture, which is encoded once.
  private static let encodingLimit = 4

  /// The options of the broadcast.
  public nonisolated let options: Options
  /// The events of the broadcast, for one reader.
  ///
  /// If more than 64 events wait for the reader, the oldest are dropped.
  public nonisolated let events: AsyncStream<Event>

  /// The events for the board, which reports them to its user.
  nonisolated let reports: AsyncStream<Event>

  private let source: any FrameSource
  private let coder: FrameCoders
  private let time: Time
  private let eventSource: AsyncStream<Event>.Continuation
  private let reportSource: AsyncStream<Event>.Continuation
  /// The state of the broadcast.
  public private(set) var state = State.idle
  private var viewers: [Int: Viewer] = [:]
  private var nextViewer = 0
  private var picture: FramePixels
  private var region: [Double]?
  private var number: UInt64 = 0
  private var drawnAt: UInt64 = 0
  private var pausedAt: UInt64 = 0
  private var hasChanged = false
  private var wasAvailable = true
  private var isWholeDue = true
  private var encoded: [Encoding: BroadcastRecord] = [:]
  private var drawWaiter: CheckedContinuation<Void, Never>?
  private var nextDrawing = Duration.zero
  private var ending: BroadcastNotice?

  /// Creates a broadcast, which does nothing until it is started.
  ///
  /// - Parameters:
  ///   - source: The source of the pictures.
  ///   - options: The options.
  ///   - coder: An encoder; without one, the pictures are not compressed.
  public init(_ source: any FrameSource, options: Options = Options(), coder: (any FrameCoder)? = nil) {
    self.init(source, options: options, coder: coder, time: .real)
  }

  init(_ source: any FrameSource, options: Options, coder: (any FrameCoder)?, time: Time) {
    self.source = source
    var options = options
    options.rate = min(max(options.rate, BroadcastFormat.rates.lowerBound), BroadcastFormat.rates.upperBound)
    self.options = options
    self.coder = FrameCoders(coder)
    self.time = time
    picture = FramePixels(size: options.size)
    (events, eventSource) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
    (reports, reportSource) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
  }

  /// Whether the source can draw pictures, and the broadcast is not over.
  public var isAvailable: Bool {
    get async {
      guard state != .finished else { return false }
      return await source.isAvailable
    }
  }

  /// The number of viewers.
  public var viewerCount: Int { viewers.count }

  // MARK: - Controlling

  /// Starts the broadcast; has no effect if it was started before.
  public func start() {
    guard state == .idle else { return }
    change(to: .running)
  }

  /// Pauses the broadcast: viewers see the last picture, and nothing is drawn.
  public func pause() {
    guard state == .running else { return }
    pausedAt = time.wall()
    offerPicture()
    for id in viewers.keys { viewers[id]?.queue.paused(time: pausedAt) }
    change(to: .paused)
  }

  /// Continues a paused broadcast.
  public func resume() {
    guard state == .paused else { return }
    let now = time.wall()
    for id in viewers.keys { viewers[id]?.queue.resumed(time: now) }
    change(to: .running)
  }

  /// Ends the broadcast; viewers get the last picture and then the end.
  public func finish() { finish(BroadcastNotice(.finished)) }

  private func finish(_ notice: BroadcastNotice) {
    guard state != .finished else { return }
    ending = notice
    offerPicture()
    for id in viewers.keys { viewers[id]?.queue.finished(notice) }
    change(to: .finished)
    eventSource.finish()
    reportSource.finish()
  }

  /// Gives the stored picture to viewers that were waiting for a new one, because no new one will be drawn.
  private func offerPicture() {
    guard number > 0 else { return }
    for id in viewers.keys { viewers[id]?.queue.drawn(number, changed: []) }
  }

  private func emit(_ event: Event) {
    eventSource.yield(event)
    reportSource.yield(event)
  }

  private func change(to state: State) {
    self.state = state
    emit(.state(state))
    wakeDrawing()
    for id in viewers.keys { wake(id) }
  }

  // MARK: - Drawing

  /// Draws pictures until the broadcast is finished or the task is canceled, which also finishes the broadcast.
  public func run() async {
    await withTaskCancellationHandler {
      await withDiscardingTaskGroup { group in
        group.addTask { await self.followSource() }
        await drawPictures()
        group.cancelAll()
      }
    } onCancel: {
      // This task returns soon, so no code awaits it.
      Task { await self.finish() }
    }
    finish()
  }

  private func followSource() async {
    while !Task.isCancelled, await source.waitForChange() {
      hasChanged = true
      wakeDrawing()
    }
  }

  private func drawPictures() async {
    while state != .finished {
      guard state == .running, hasChanged, !viewers.isEmpty else {
        await withCheckedContinuation { drawWaiter = $0 }
        continue
      }
      let now = time.now()
      guard now >= nextDrawing else {
        try? await time.sleep(nextDrawing - now)
        if Task.isCancelled { return }
        continue
      }
      nextDrawing = now + Duration.seconds(1) / options.rate
      await draw()
    }
  }

  private func wakeDrawing() { drawWaiter.take()?.resume() }

  private func draw() async {
    hasChanged = false
    guard await checkAvailability() else { return }
    let drawing: FrameDrawing
    do { drawing = try await source.draw(options.size, isWhole: isWholeDue) } catch {
      isWholeDue = true
      return report(error)
    }
    guard state == .running else {
      // The broadcast was paused or finished during the drawing, so viewers must not get this picture (CST-6, CST-9).
      (hasChanged, isWholeDue) = (true, true)
      return
    }
    isWholeDue = false
    var areas: [PixelRect] = []
    for patch in drawing.patches { areas += picture.apply(patch) ?? [] }
    let hasNewRegion = drawing.region != region || number == 0
    region = drawing.region
    if hasNewRegion || !areas.isEmpty {
      number += 1
      drawnAt = time.wall()
      encoded = [:]
    }
    // If nothing visible has changed, only new viewers need the picture.
    for id in viewers.keys {
      if hasNewRegion { viewers[id]?.queue.formatChanged(region: region) }
      viewers[id]?.queue.drawn(number, changed: areas)
      wake(id)
    }
  }

  private func checkAvailability() async -> Bool {
    let isAvailable = await source.isAvailable
    guard isAvailable != wasAvailable else { return isAvailable }
    (wasAvailable, isWholeDue) = (isAvailable, true)
    emit(.available(isAvailable))
    if !isAvailable { tellViewers(BroadcastNotice(.sourceFailed, "The pictures are not available now.")) }
    return isAvailable
  }

  private func report(_ error: any Error) {
    let notice = Self.notice(of: error)
    emit(.failed(notice))
    tellViewers(notice)
  }

  private func tellViewers(_ notice: BroadcastNotice) {
    for id in viewers.keys {
      viewers[id]?.queue.failed(notice)
      wake(id)
    }
  }

  private static func notice(of error: any Error) -> BroadcastNotice {
    BroadcastNotice(.sourceFailed, String("\(error)".prefix(BroadcastNotice.messageLimit / 4)))
  }

  // MARK: - Viewers

  /// Sends pictures to a viewer until the viewer leaves or the broadcast ends.
  ///
  /// - Parameter stream: A stream that a viewer opened; its name is a ``BroadcastRequest``.
  public func serve(_ stream: PeerStream) async { await serve(stream.name, over: StreamConnection(stream)) }

  func serve(_ name: UntrustedText, over connection: any ViewerConnection) async {
    guard let request = BroadcastRequest(name: name.raw) else {
      return await connection.refuse(BroadcastNotice(.malformed, "The request of the viewer is not valid."))
    }
    await serve(request, over: connection)
  }

  package func serve(_ request: BroadcastRequest, over connection: any ViewerConnection) async {
    if let refusal = refusal(of: request) { return await connection.refuse(refusal) }
    let id = addViewer(request)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.readConfirmations(id, connection) }
      group.addTask { await self.writeRecords(id, connection) }
      _ = await group.next()
      removeViewer(id)
      group.cancelAll()
    }
  }

  private func refusal(of request: BroadcastRequest) -> BroadcastNotice? {
    guard state != .finished, state != .idle else {
      return BroadcastNotice(.notBroadcasting, "This member is not broadcasting.")
    }
    guard viewers.count < options.viewerLimit else {
      return BroadcastNotice(.busy, "The broadcast already has the maximum number of viewers.")
    }
    guard codec(for: request) != nil else {
      return BroadcastNotice(.unsupported, "The viewer cannot decode the pictures.")
    }
    guard request.admits(options.size) else {
      return BroadcastNotice(.unsupported, "The pictures of \(options.size) pixels are too large for the viewer.")
    }
    return nil
  }

  private func codec(for request: BroadcastRequest) -> FrameCodec? {
    let codecs = coder.codecs.filter { request.codecs.contains($0) }
    return codecs.contains(options.codec) ? options.codec : request.codecs.first { codecs.contains($0) }
  }

  private func addViewer(_ request: BroadcastRequest) -> Int {
    let codec = codec(for: request) ?? .raw
    let format = BroadcastFormat(size: options.size, rate: options.rate, codec: codec, region: region)
    var queue = ViewerQueue(format, request)
    if viewers.isEmpty, hasChanged, state == .running {
      // The stored picture is old, and the new picture follows at once.
    } else if number > 0 {
      queue.drawn(number, changed: [])
    }
    if state == .paused { queue.paused(time: pausedAt) }
    nextViewer += 1
    viewers[nextViewer] = Viewer(queue: queue, codec: codec)
    emit(.viewers(viewers.count))
    wakeDrawing()
    return nextViewer
  }

  private func removeViewer(_ id: Int) {
    guard let viewer = viewers.removeValue(forKey: id) else { return }
    viewer.waiter?.resume()
    emit(.viewers(viewers.count))
  }

  private func wake(_ id: Int) {
    viewers[id]?.waiter?.resume()
    viewers[id]?.waiter = nil
  }

  private func writeRecords(_ id: Int, _ connection: any ViewerConnection) async {
    while let step = viewers[id]?.queue.next(now: time.now()) {
      let record: BroadcastRecord
      switch step {
      case .start(let format): record = .start(format)
      case .picture(let picture):
        do { record = try encode(picture, viewers[id]?.codec ?? .raw) } catch {
          report(error)
          return await connection.refuse(Self.notice(of: error))
        }
      case .pause(let time): record = .pause(time: time)
      case .resume(let time): record = .resume(time: time)
      case .error(let notice): record = .error(notice)
      case .finish(let notice): record = .finish(notice)
      case .wait(let due):
        let timer = Task { [time] in
          try await time.sleep(due - time.now())
          self.wake(id)
        }
        await untilWoken(id)
        timer.cancel()
        continue
      case .idle:
        await untilWoken(id)
        continue
      case .end: return await connection.finish()
      }
      do { try await connection.write(record) } catch { return }
    }
  }

  private func untilWoken(_ id: Int) async {
    guard viewers[id] != nil else { return }
    await withCheckedContinuation { viewers[id]?.waiter = $0 }
  }

  private func encode(_ wanted: ViewerQueue.Picture, _ codec: FrameCodec) throws -> BroadcastRecord {
    var key = Encoding(codec: codec, base: wanted.base, areas: wanted.areas)
    if let record = encoded[key] { return record }
    if key.base != nil, encoded.keys.count(where: { $0.base != nil }) >= Self.encodingLimit {
      key = Encoding(codec: codec, base: nil, areas: [])
      if let record = encoded[key] { return record }
    }
    let content: BroadcastPicture.Content
    if let base = key.base {
      content = .changes(
        since: base,
        try key.areas.map { BroadcastPicture.Part(area: $0, bytes: try encode($0, codec)) }
      )
    } else {
      content = .whole(try encode(options.size.area, codec))
    }
    let record = BroadcastRecord.picture(BroadcastPicture(number: number, time: drawnAt, content: content))
    encoded[key] = record
    return record
  }

  private func encode(_ area: PixelRect, _ codec: FrameCodec) throws -> [UInt8] {
    try coder.encode(picture.part(area), width: area.width, height: area.height, as: codec)
  }

  private func readConfirmations(_ id: Int, _ connection: any ViewerConnection) async {
    do {
      while let record = try await connection.read() {
        switch record {
        case .seen(let number): try viewers[id]?.queue.seen(number)
        case .wantWhole: viewers[id]?.queue.wantsWhole()
        default: throw BroadcastError.order(record.kind)
        }
        wake(id)
      }
    } catch let error as BroadcastError { connection.reset(because: error) } catch {
      // The link is broken, or the viewer reset the stream.
    }
  }
}

/// The connection of a broadcast with one viewer.
package protocol ViewerConnection: Sendable {
  /// Sends a record; returns when there is room for another.
  func write(_ record: BroadcastRecord) async throws

  /// Returns the next record from the viewer; nil if the viewer has finished.
  func read() async throws -> BroadcastRecord?

  /// Ends the connection after the last record.
  func finish() async

  func reset(because error: BroadcastError)
}

extension ViewerConnection {
  func refuse(_ notice: BroadcastNotice) async {
    do { try await write(.finish(notice)) } catch { return }
    await finish()
  }
}

/// The connection with a viewer that opened a stream of the session.
final class StreamConnection: ViewerConnection {
  private let stream: PeerStream
  private let reader = Locked(BroadcastReader(limit: BroadcastRecord.viewerLimit))

  init(_ stream: PeerStream) { self.stream = stream }

  func write(_ record: BroadcastRecord) async throws { try await stream.write(record.bytes) }

  func read() async throws -> BroadcastRecord? {
    var inbound = stream.inbound.makeAsyncIterator()
    while true {
      if let record = try reader.withLock({ (reader) throws(BroadcastError) in try reader.next() }) { return record }
      guard let bytes = try await inbound.next() else { return nil }
      reader.withLock { $0.append(bytes) }
    }
  }

  func finish() async { try? await stream.finish() }

  func reset(because error: BroadcastError) { stream.reset(code: BroadcastRecord.violationCode) }
}

extension BroadcastRecord {
  /// The code with which a stream is reset if the other side violates the rules (CST-12).
  static let violationCode: UInt32 = 3
}

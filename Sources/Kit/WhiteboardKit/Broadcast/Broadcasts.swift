import PeerCore
import PeerSession
import Whiteboard
import WhiteboardSync

/// The broadcast of an open board, and the streams of its viewers. Confined to the actor of its board.
final class Broadcasts {
  /// The maximum number of streams of one member that are served at a time.
  private static let streamLimit = 4

  private let runtime: BoardRuntime
  private let configuration: BoardConfiguration
  private let members: Members
  private(set) var current: Broadcast?
  /// The changes that the pictures of the last broadcast follow; nil if the pictures do not show the board.
  private var shownChanges: SharedBoard.Changes?
  private var streams: [PeerID: Int] = [:]
  private var viewers = ViewerNotes()
  /// The broadcasts for ``BoardConfiguration/serveBroadcast``; nil before the first one.
  private var served: AsyncStream<Broadcast>.Continuation?

  init(_ runtime: BoardRuntime, _ configuration: BoardConfiguration, members: Members) {
    self.runtime = runtime
    self.configuration = configuration
    self.members = members
  }

  var isAvailable: Bool { configuration.framePainter != nil }

  /// Whether a broadcast shows the board.
  var showsBoard: Bool { shownChanges != nil }

  nonisolated(nonsending) func start(
    _ options: Broadcast.Options,
    source: (any FrameSource)? = nil,
    coder: (any FrameCoder)? = nil
  ) async throws(CommandError) -> Broadcast {
    defer { checkIsolation(#isolation) }
    let previous = current
    guard await previous?.state ?? .finished == .finished else { throw Self.isRunning }
    var options = options
    let frames: any FrameSource
    var changes: SharedBoard.Changes?
    if let source {
      frames = source
    } else {
      guard let painter = configuration.framePainter else {
        throw CommandError(.refused, "this program cannot draw a board; whiteboard-peer can broadcast it")
      }
      options.area = try resolved(options.area)
      // Subscribe now, so that no change is missed while the objects are loaded.
      let followed = runtime.sharedBoard.changes
      frames = BoardFrames(runtime.sharedBoard, painter, options.area, followed)
      changes = followed
    }
    guard await frames.isAvailable else {
      throw CommandError(.refused, "the source of the pictures is not available now")
    }
    // Another command may have started a broadcast meanwhile.
    guard current == nil || current === previous else { throw Self.isRunning }
    let broadcast = Broadcast(frames, options: options, coder: coder ?? configuration.framePainter)
    (current, shownChanges) = (broadcast, changes)
    if let presence = runtime.call({ $0.replica?.shownPresence }) { presenceChanged(presence) }
    announcePreviews()
    await broadcast.start()
    // Drawing and encoding take a long time, so they must not run on the thread of the board and its links.
    runtime.spawn { _ in await withTaskExecutorPreference(globalConcurrentExecutor) { await broadcast.run() } }
    runtime.spawn { sharedBoard in
      for await event in broadcast.reports { sharedBoard.broadcasts.report(event) }
      // The pictures of the ended broadcast would keep using much memory.
      sharedBoard.broadcasts.forget(broadcast)
    }
    serve(broadcast)
    return broadcast
  }

  private static var isRunning: CommandError {
    CommandError(.refused, "this board is already being broadcast; `broadcast finish` ends the broadcast")
  }

  private func forget(_ broadcast: Broadcast) {
    guard current === broadcast else { return }
    (current, shownChanges) = (nil, nil)
    announcePreviews()
  }

  /// Tells the members whether to send previews of strokes, unless this program shows them anyway (SYN-49).
  private func announcePreviews() {
    guard !runtime.sink.contents.contains(.previews) else { return }
    // The same name was published before, so this does not fail.
    runtime.call { try? $0.board?.profiles.publish() }
  }

  /// Returns the area with the id of the member to follow, which can be the local member. Throws if several members
  /// have its name. If no member has this name, notifies the user, because that member may join later.
  private func resolved(_ area: BroadcastArea) throws(CommandError) -> BroadcastArea {
    guard case .member(let name) = area else { return area }
    do throws(CommandError) { return .member(try members.find(name, includingSelf: true).text) } catch {
      guard error.code != .ambiguous else { throw error }
      note("the broadcast shows the whole board for now: \(error.message)")
      return area
    }
  }

  nonisolated(nonsending) func perform(_ order: BroadcastOrder) async throws(CommandError) {
    defer { checkIsolation(#isolation) }
    if case .start(let options) = order {
      _ = try await start(options)
      return
    }
    guard let current, await current.state != .finished else {
      throw CommandError(.refused, "this board is not being broadcast; `broadcast start` starts a broadcast")
    }
    switch order {
    case .start: break
    case .pause:
      guard await current.state == .running else { throw CommandError(.refused, "the broadcast is already paused") }
      await current.pause()
    case .resume:
      guard await current.state == .paused else { throw CommandError(.refused, "the broadcast is not paused") }
      await current.resume()
    case .finish: await current.finish()
    }
  }

  /// Serves a broadcast over HTTP, after the broadcast before it, because both use the same address.
  private func serve(_ broadcast: Broadcast) {
    guard let serve = configuration.serveBroadcast else { return }
    if served == nil {
      let (broadcasts, source) = AsyncStream<Broadcast>.makeStream()
      served = source
      runtime.spawn { sharedBoard in
        var isFirst = true
        for await broadcast in broadcasts {
          do {
            if sharedBoard.configuration.servesBroadcastToOthers {
              try sharedBoard.board?.admission.checkMayShowToOthers()
            }
            try await serve(broadcast) { [weak sharedBoard] links, fingerprint in
              await sharedBoard?.emit(.note(.pictures(at: links, fingerprint)))
            }
          } catch is CancellationError { return } catch {
            let failure = (error as? CommandError).map { WhiteboardError($0) }
            // The program was started with this address, so it is of no use without it.
            if isFirst { return sharedBoard.end(.failed(failure ?? WhiteboardError(.cannotCreate, "\(error)"))) }
            sharedBoard.broadcasts.warn(failure?.message ?? "\(error)")
          }
          isFirst = false
        }
      }
    }
    served?.yield(broadcast)
  }

  // MARK: - The local member

  /// Shows the points of a local stroke that are not committed yet.
  func strokeExtended(_ id: ObjectID, _ replica: Replica) {
    guard let shownChanges, let committed = replica.board.snapshot(id)?.ink?.count else { return }
    let points = Array(replica.shownInk(of: id).dropFirst(committed))
    guard !points.isEmpty else { return }
    shownChanges.append(
      .preview(StrokePreview(stroke: id, member: replica.board.member, first: committed, points: points))
    )
  }

  /// Shows what the local member sees, if the broadcast follows it. Other readers of changes get only the presence of
  /// other members.
  func presenceChanged(_ presence: Presence) {
    shownChanges?.append(.presence(presence, of: members.described(configuration.identity.peerID)))
  }

  // MARK: - Reports

  private func report(_ event: Broadcast.Event) {
    switch event {
    case .viewers(let count): viewersChanged(count)
    case .state(let state):
      switch state {
      case .idle: break
      case .running: note("the broadcast is running")
      case .paused: note("the broadcast is paused")
      case .finished:
        viewers.finished()
        note("the broadcast has ended")
      }
    case .available(true): note("the pictures of the broadcast are available again")
    case .available(false): warn("the pictures of the broadcast are not available now; viewers see the last picture")
    case .failed(let notice): warn(notice.message.escaped())
    }
  }

  private func note(_ message: String) {
    runtime.emit(.note(.init(code: SharedBoard.News.Remark.broadcast, message: message)))
  }

  private func warn(_ message: String) { runtime.emit(.warning(.init(code: "broadcast-failed", message: message))) }

  private func viewersChanged(_ count: Int) {
    guard viewers.changed(to: count) else { return }
    runtime.spawn { [clock = runtime.clock] sharedBoard in
      while let count = sharedBoard.broadcasts.viewers.next() {
        let viewers = count == 0 ? "no viewers" : EventText.count(count, "viewer")
        sharedBoard.broadcasts.note("the broadcast has \(viewers)")
        guard (try? await clock.sleep(for: ViewerNotes.interval)) != nil else { return }
      }
    }
  }

  // MARK: - Viewers

  /// Sends the broadcast to a viewer that opened a stream, until the viewer leaves or the broadcast ends.
  nonisolated(nonsending) func serve(_ stream: PeerStream) async {
    defer { checkIsolation(#isolation) }
    let connection = StreamConnection(stream)
    guard streams[stream.peer, default: 0] < Self.streamLimit else {
      return await connection.refuse(
        BroadcastNotice(.busy, "This member is already watching the broadcast \(Self.streamLimit) times.")
      )
    }
    guard let current else {
      return await connection.refuse(BroadcastNotice(.notBroadcasting, "This member is not broadcasting."))
    }
    streams[stream.peer, default: 0] += 1
    await withTaskExecutorPreference(globalConcurrentExecutor) { await current.serve(stream) }
    if let count = streams.removeValue(forKey: stream.peer), count > 1 { streams[stream.peer] = count - 1 }
  }
}

/// Decides when the number of viewers is reported: at once, but only once in each interval if many viewers come and go.
struct ViewerNotes {
  /// The time between two notes.
  static let interval = Duration.seconds(5)

  private var count = 0
  private var noted = 0
  /// Whether a task calls ``next()`` at the end of the interval.
  private var isRunning = false

  /// Returns whether the caller must begin to call ``next()``.
  mutating func changed(to count: Int) -> Bool {
    self.count = count
    defer { isRunning = true }
    return !isRunning
  }

  /// Returns the number to report, after which the caller waits for one interval and calls this method again; nil at
  /// the end, because the number is the same as in the last note.
  mutating func next() -> Int? {
    isRunning = count != noted
    noted = count
    return isRunning ? count : nil
  }

  /// The end of the broadcast is reported, so that nothing is said about its viewers.
  mutating func finished() { (count, noted) = (0, 0) }
}

extension SharedBoard {
  /// The broadcast of the board; nil if none is running or paused.
  public var broadcast: Broadcast? { broadcasts.current }

  /// Whether this program can broadcast pictures of the board itself, so that ``startBroadcast(_:source:coder:)`` needs
  /// no source.
  public var canBroadcast: Bool { broadcasts.isAvailable && board != nil }

  /// Starts a broadcast to the members of the board's session.
  ///
  /// The broadcast ends when the board is closed.
  ///
  /// - Parameters:
  ///   - options: The size, rate and encoding of the pictures.
  ///   - source: The source of the pictures; nil for pictures of the board.
  ///   - coder: An encoder; nil for the encoder of this program.
  /// - Returns: The broadcast, which is running.
  /// - Throws: ``CommandError`` with `refused` if a broadcast is running, the source is not available, or this program
  ///   cannot draw pictures; `ambiguous` if several members have the name of the member to show; `ending` if the board
  ///   is closed.
  @discardableResult public func startBroadcast(
    _ options: Broadcast.Options = Broadcast.Options(),
    source: (any FrameSource)? = nil,
    coder: (any FrameCoder)? = nil
  ) async throws(CommandError) -> Broadcast {
    guard ending == nil, board != nil else { throw CommandError.closed }
    return try await broadcasts.start(options, source: source, coder: coder)
  }
}

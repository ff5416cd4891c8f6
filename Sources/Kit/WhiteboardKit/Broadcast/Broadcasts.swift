import PeerCore
import PeerSession

/// The broadcast of an open board, and the streams of its viewers. Confined to the actor of its board.
final class Broadcasts {
  /// The maximum number of streams of one member that are served at a time.
  private static let streamLimit = 4

  private let runtime: BoardRuntime
  private let configuration: BoardConfiguration
  private let members: Members
  private(set) var current: Broadcast?
  private var streams: [PeerID: Int] = [:]

  init(_ runtime: BoardRuntime, _ configuration: BoardConfiguration, members: Members) {
    self.runtime = runtime
    self.configuration = configuration
    self.members = members
  }

  var isAvailable: Bool { configuration.framePainter != nil }

  nonisolated(nonsending) func start(
    _ options: Broadcast.Options,
    source: (any FrameSource)? = nil,
    coder: (any FrameCoder)? = nil
  ) async throws(CommandError) -> Broadcast {
    defer { checkIsolation(#isolation) }
    let previous = current
    let hasEnded = await previous?.state ?? .finished == .finished
    // Another command may have started a broadcast meanwhile.
    guard hasEnded, current === previous else {
      throw CommandError(.refused, "this board is already being broadcast; `broadcast finish` ends the broadcast")
    }
    let frames: any FrameSource
    if let source {
      frames = source
    } else {
      guard let painter = configuration.framePainter else {
        throw CommandError(.refused, "this program cannot draw a board; whiteboard-peer can broadcast it")
      }
      try checkMember(in: options.area)
      frames = BoardFrames(runtime.sharedBoard, painter, options.area)
    }
    let broadcast = Broadcast(frames, options: options, coder: coder ?? configuration.framePainter)
    current = broadcast
    await broadcast.start()
    // Drawing and encoding take long, so they must not run on the thread of the board and its links.
    runtime.spawn { _ in await withTaskExecutorPreference(globalConcurrentExecutor) { await broadcast.run() } }
    runtime.spawn { sharedBoard in
      for await event in broadcast.reports { sharedBoard.broadcasts.report(event) }
      // The pictures of the ended broadcast would keep using much memory.
      sharedBoard.broadcasts.forget(broadcast)
    }
    return broadcast
  }

  private func forget(_ broadcast: Broadcast) { if current === broadcast { current = nil } }

  /// Throws if several members have the name of the member to follow. If no member has this name, notifies the user and
  /// continues, because that member may join later.
  private func checkMember(in area: BroadcastArea) throws(CommandError) {
    guard case .member(let name) = area else { return }
    do throws(CommandError) { _ = try members.find(name) } catch {
      guard error.code != .ambiguous else { throw error }
      let message = "the broadcast shows the whole board for now: \(error.message)"
      runtime.emit(.note(.init(code: SharedBoard.News.Remark.broadcast, message: message)))
    }
  }

  nonisolated(nonsending) func control(_ action: BroadcastAction) async throws(CommandError) {
    defer { checkIsolation(#isolation) }
    guard let current, await current.state != .finished else {
      throw CommandError(.refused, "this board is not being broadcast; `broadcast start` starts a broadcast")
    }
    switch action {
    case .start: throw CommandError(.refused, "this board is already being broadcast")
    case .pause:
      guard await current.state == .running else { throw CommandError(.refused, "the broadcast is already paused") }
      await current.pause()
    case .resume:
      guard await current.state == .paused else { throw CommandError(.refused, "the broadcast is not paused") }
      await current.resume()
    case .finish: await current.finish()
    }
  }

  private func report(_ event: Broadcast.Event) {
    let message: String
    switch event {
    case .viewers(0): message = "the broadcast has no viewers"
    case .viewers(let count): message = "the broadcast has \(EventText.count(count, "viewer"))"
    case .state(let state):
      switch state {
      case .idle: return
      case .running: message = "the broadcast is running"
      case .paused: message = "the broadcast is paused"
      case .finished: message = "the broadcast has ended"
      }
    case .failed(let notice):
      return runtime.emit(.warning(.init(code: "broadcast-failed", message: notice.message.escaped())))
    }
    runtime.emit(.note(.init(code: SharedBoard.News.Remark.broadcast, message: message)))
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

/// The actions of the command `broadcast`.
public enum BroadcastAction: String, CaseIterable, Equatable, Sendable {
  case start
  case pause
  case resume
  case finish
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
  /// - Throws: ``CommandError`` with `refused` if a broadcast is running, or this program cannot draw pictures;
  ///   `ambiguous` if several members have the name of the member to show; `ending` if the board is closed.
  @discardableResult public func startBroadcast(
    _ options: Broadcast.Options = Broadcast.Options(),
    source: (any FrameSource)? = nil,
    coder: (any FrameCoder)? = nil
  ) async throws(CommandError) -> Broadcast {
    guard ending == nil, board != nil else { throw CommandError.closed }
    return try await broadcasts.start(options, source: source, coder: coder)
  }
}

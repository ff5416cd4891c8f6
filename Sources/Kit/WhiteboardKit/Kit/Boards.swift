import AvahiDiscovery
import Logging
import PeerDiscovery
import PeerSession
import WhiteboardDocument

/// The boards that a program has open with one identity, one port and one data directory.
///
/// ```swift
/// let me = try PeerIdentity.loadOrCreate(forBoardsIn: directory)
/// try await Boards.with(identity: me, name: "Bot", directory: directory) { boards in
///   let board = try await boards.join(BoardLink(text))
///   try await board.caughtUp()
///   try await board.add(.text("hello", at: Point(x: 10, y: 20)))
/// }
/// ```
public struct Boards: Sendable {
  /// The configuration that all boards share, without the board to host or join.
  private let template: BoardConfiguration
  private let open: OpenBoards

  /// The options of all boards of a program.
  public struct Options: Sendable {
    /// Whether boards are saved in the directory; otherwise, boards are only in memory.
    public var savesBoards = true
    /// Whether other peers can connect to the local peer.
    public var isListening = true
    /// The address to listen on; nil for every address, with port 26273 or the next free port.
    public var listen: PeerAddress?
    /// Whether hosted boards are announced on the local network.
    public var isAnnounced = true
    /// The service that announces and finds boards; nil for no announcements and no search.
    ///
    /// Without an Avahi daemon, boards are not announced or found, and joining by a link still works.
    public var discovery: (any Discovery)? = AvahiDiscovery()
    /// The known peers, for ``Admission/known``; nil if no peers are remembered.
    public var knownPeers: PeerStore?
    /// The settings of the user, which several programs can share; nil for none.
    ///
    /// The boards use the stored icon and hidden authors. If another program stores a new name, icon or list of hidden
    /// authors, all open boards use it, and report it as
    /// ``SharedBoard/Change/personalSetting(_:)``.
    public var settings: PersonalSettings?
    /// The maximum number of members of a hosted board, including the local member.
    public var maximumMembers = 16
    /// Whether files from members are accepted; otherwise, such files are declined.
    public var acceptsFiles = false
    /// Reads a byte stream that a member opened with `Session.openStream(named:to:)`; if nil, the bytes are discarded.
    ///
    /// The function is called once for each stream, and runs concurrently with all other tasks. If the function returns
    /// before the stream has ended, the stream is reset. The function's task is canceled when the program leaves the
    /// board.
    public var readStream: (@Sendable (PeerStream, SharedBoard) async -> Void)?
    /// The time after which a member whose link is broken is considered lost.
    public var lostAfter = Duration.seconds(60)
    /// The logger; by default, nothing is logged.
    public var logger = Logger(label: "whiteboard") { _ in SwiftLogNoOpLogHandler() }

    /// Creates the default options.
    public init() {}
  }

  /// The peers that a hosted board admits.
  public enum Admission: Sendable {
    /// Peers that know the join code. The board's link contains the code.
    case code(JoinCode)
    /// Peers that were admitted before, according to ``Options/knownPeers``.
    case known
    /// Every peer on the network.
    case anyone
    /// Peers that the given function accepts.
    ///
    /// The function is called once for each request to join, and the requests do not wait for each other. Before the
    /// function accepts a peer, the user should compare `words` with the words on the other screen, unless the peer's
    /// key is already verified.
    case asking(@Sendable (Invitation) async -> InvitationAnswer)
  }

  /// Opens boards while `body` runs.
  ///
  /// When `body` returns or throws, each open board sends an exit message to its members, and its file is saved and
  /// closed. If members do not answer, closing takes at most 2 s.
  ///
  /// - Parameters:
  ///   - identity: The key of the local member on all boards.
  ///   - name: The display name of the local member, at most 64 bytes; a longer name is truncated.
  ///   - directory: The directory for boards, photos and received files. The directory is created if it does not exist.
  ///     Each board in the directory can be open in only one process at a time.
  ///   - options: The options of all boards.
  ///   - body: A function that uses the boards. The boards must not be used after `body` returns.
  /// - Returns: The result of `body`.
  /// - Throws: ``WhiteboardError`` if the port or the directory cannot be used, and the error of `body`.
  public static func with<Result: Sendable>(
    identity: PeerIdentity,
    name: String,
    directory: String,
    options: Options = Options(),
    _ body: @Sendable (Boards) async throws -> Result
  ) async throws -> Result {
    let open = OpenBoards()
    var template = BoardConfiguration(
      part: .host(boardName: ""),
      displayName: name,
      identity: identity,
      dataDirectory: directory,
      logger: options.logger
    )
    template.remembersBoards = options.savesBoards
    template.isListening = options.isListening
    template.listen = options.listen
    template.isAnnounced = options.isAnnounced
    template.discovery = options.discovery
    template.peerStore = options.knownPeers
    template.personalSettings = options.settings
    template.files = options.acceptsFiles ? .accept : .refuse
    template.lostAfter = options.lostAfter
    template.readStream = options.readStream
    template.maximumPeers = options.maximumMembers
    var transport = template.transportConfiguration
    transport.askBoards { await open.board(of: $0) }
    // The transport may have truncated a long name.
    template.displayName = transport.displayName
    return try await PeerTransport.withTransport(transport) { [template] transport in
      var template = template
      template.transport = transport
      let boards = Boards(template: template, open: open)
      let result: Result
      do { result = try await body(boards) } catch {
        // The error of `body` is thrown instead of an error of `close`, because the error of `body` came first and
        // explains more.
        try? await open.close()
        throw error
      }
      try await open.close()
      return result
    }
  }

  /// Joins a board by its link.
  ///
  /// - Parameters:
  ///   - link: The link, with the code or pass if the board requires one.
  ///   - limit: The maximum time for finding the board.
  /// - Returns: The board, when its session is open; ``SharedBoard/caughtUp(within:)`` waits for its contents.
  /// - Throws: ``WhiteboardError`` if the host cannot be reached, or does not admit the local peer.
  public func join(_ link: BoardLink, within limit: Duration = .seconds(30)) async throws -> SharedBoard {
    try await start(.join(.link(link), patience: limit)) { _ in }
  }

  /// Joins a board nearby by its name.
  ///
  /// - Parameters:
  ///   - name: The name of the board, the display name of its host, or an id prefix.
  ///   - code: The join code, if the board requires one.
  ///   - limit: The maximum time for finding the board.
  /// - Returns: The board, as for ``join(_:within:)``.
  /// - Throws: ``WhiteboardError`` if no board or several boards match, the host cannot be reached, or the host does
  ///   not admit the local peer.
  public func join(named name: String, code: JoinCode? = nil, within limit: Duration = .seconds(30)) async throws
    -> SharedBoard
  { try await start(.join(.name(name), patience: limit)) { $0.code = code } }

  /// Hosts a board, and creates it if it does not exist.
  ///
  /// - Parameters:
  ///   - name: The name of the board. If the directory has a board with this name, it is opened with its id and
  ///     contents.
  ///   - admission: The peers to admit.
  /// - Returns: The board, when its session is open; ``SharedBoard/link`` invites other peers.
  /// - Throws: ``WhiteboardError`` if the board's file cannot be opened.
  public func host(_ name: String, admitting admission: Admission) async throws -> SharedBoard {
    try await start(.host(boardName: name)) { configuration in
      switch admission {
      case .code(let code):
        configuration.admission = .code
        configuration.code = code
      case .known: configuration.admission = .known
      case .anyone: configuration.admission = .anyone
      case .asking(let answer):
        configuration.admission = .ask
        configuration.answerInvitation = answer
      }
    }
  }

  private func start(_ part: BoardConfiguration.Part, _ change: (inout BoardConfiguration) -> Void) async throws
    -> SharedBoard
  {
    var configuration = template
    configuration.part = part
    // Each board has its own accessor, so that it also reports what the other boards of this program change.
    configuration.personalSettings = template.personalSettings.map { PersonalSettings(path: $0.path) }
    change(&configuration)
    return try await open.start(configuration)
  }
}

private actor OpenBoards {
  private struct Running {
    let board: SharedBoard
    let task: Task<Void, any Error>
  }

  private var boards: [Running] = []
  private var isClosed = false

  /// Waits until the board's session is open. Throws the board's error if the board closes first, or
  /// `CancellationError`.
  func start(_ configuration: BoardConfiguration) async throws -> SharedBoard {
    guard !isClosed, !Task.isCancelled else { throw CancellationError() }
    let board = SharedBoard(configuration, input: nil, sink: NoEvents())
    // `close` awaits this task, so that the board leaves its session properly even if the caller is canceled.
    let task = Task {
      try await board.run()
      // A board that failed stays in the list, so that `close` reports its error.
      boards.removeAll { $0.board === board }
    }
    boards.append(Running(board: board, task: task))
    let isOpen = await withCancellation {
      await board.opened()
    } onCancel: {
      // This task returns soon, so no code awaits it.
      Task { await board.requestEnd() }
    }
    guard isOpen else {
      // This call throws the error, so `close` must not throw it again.
      defer { boards.removeAll { $0.board === board } }
      try await task.value
      throw CancellationError()
    }
    return board
  }

  func board(of session: SessionID) async -> SharedBoard? {
    // If the program joins a board again while it is leaving that board, the list contains two entries. The later entry
    // is current.
    for running in boards.reversed() where await running.board.session?.id == session { return running.board }
    return nil
  }

  /// Waits until the files of all boards are closed; throws the first error of a board that was not saved.
  func close() async throws {
    isClosed = true
    let boards = boards
    for running in boards { await running.board.requestEnd() }
    var failure: (any Error)?
    for running in boards { do { try await running.task.value } catch { failure = failure ?? error } }
    if let failure { throw failure }
  }
}

/// A sink that ignores events, for boards that report changes only through ``SharedBoard/changes``.
private struct NoEvents: EventSink {
  var contents: EventContents { .previews }

  func write(_ events: [SharedBoard.Output]) async throws(OutputError) {}
}

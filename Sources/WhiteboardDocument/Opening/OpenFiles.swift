import GRDB
import PeerCore

/// If a process closes any descriptor of a file, it loses all of SQLite's locks on that file.
///
/// Therefore, while this process has a file open, only SQLite may read the file and its WAL index.
enum OpenFiles {
  /// The state of a file in this process.
  enum Use: Comparable, Sendable {
    /// The file is not open, so all of it may be read without SQLite.
    case none
    /// Readers have the file open. Only its WAL file may be read without SQLite, since SQLite holds no locks on that
    /// file.
    case reading
    /// A writer has the file open, so the WAL file may change at any time.
    case writing
  }

  private struct Connection {
    let number: Int
    let use: Use
    /// The connected file.
    ///
    /// Its inode number stays reserved while the connection is tracked. Otherwise a new file could get the same inode
    /// number and would seem to be open.
    var file: ReservedInode
    /// The database connection; nil while it is being opened.
    weak var queue: DatabaseQueue?
    var isOpening = true

    var isOpen: Bool { isOpening || queue != nil }
  }

  private struct State {
    var connections: [Connection] = []
    var count = 0

    func use(of file: FileIdentity) -> Use {
      connections.filter { $0.isOpen && $0.file.identity == file }.map(\.use).max() ?? .none
    }
  }

  private static let state = Locked(State())

  /// Opens a database connection and tracks it until it is closed.
  static func connecting(to path: String, _ mode: BoardDocument.Mode, _ open: () throws -> DatabaseQueue) throws
    -> DatabaseQueue
  {
    guard let file = ReservedInode(path) else { return try open() }
    let number = state.withLock { state in
      state.connections.removeAll { !$0.isOpen }
      state.count += 1
      let use = mode == .writing ? Use.writing : .reading
      state.connections.append(Connection(number: state.count, use: use, file: file))
      return state.count
    }
    let queue = Result { try open() }
    state.withLock { state in
      guard let index = state.connections.firstIndex(where: { $0.number == number }) else { return }
      state.connections[index].queue = try? queue.get()
      state.connections[index].isOpening = false
      // The file may have been replaced before SQLite opened it.
      if let opened = ReservedInode(path) { state.connections[index].file = opened }
    }
    return try queue.get()
  }

  /// Closes a connection and stops tracking it.
  static func close(_ queue: DatabaseQueue) throws {
    defer { state.withLock { state in state.connections.removeAll { $0.queue === queue } } }
    try queue.close()
  }

  /// Runs `body` with the state of the file at `path` in this process.
  ///
  /// Keep `body` short, since no connection can be opened while it runs.
  static func holding<T: Sendable>(_ path: String, _ body: (Use) throws -> T) rethrows -> T {
    let file = FileIdentity(path)
    return try state.withLock { state in try body(file.map { state.use(of: $0) } ?? .none) }
  }
}

import GRDB
import Synchronization

/// The files that SQLite has open in this process.
///
/// When a process closes any descriptor of a file, it loses all of SQLite's locks on that file.
/// Therefore only SQLite may read a file that it has open here, and the file's index.
enum OpenFiles {
  /// How this process has a file open.
  enum Use: Comparable, Sendable {
    /// The file is not open, so all of it may be read without SQLite.
    case none
    /// Readers have the file open. Only the log may be read without SQLite, since SQLite locks
    /// nothing in it.
    case reading
    /// A writer has the file open, so the log may change at any time.
    case writing
  }

  private struct Connection {
    let use: Use
    let number: Int
    /// The database connection; nil while it is being opened.
    weak var queue: DatabaseQueue?
    var isOpening = true
  }

  private struct State {
    var connections: [FileIdentity: [Connection]] = [:]
    var count = 0

    func use(of file: FileIdentity) -> Use {
      (connections[file] ?? []).filter { $0.isOpening || $0.queue != nil }.map(\.use).max() ?? .none
    }
  }

  private static let state = Mutex(State())

  /// Opens a database connection and tracks it until it is closed.
  static func connecting(
    to path: String,
    _ mode: BoardDocument.Mode,
    _ open: () throws -> DatabaseQueue
  ) throws -> DatabaseQueue {
    guard let file = FileIdentity(path) else { return try open() }
    let number = state.withLock { state in
      state.connections = state.connections.filter { state.use(of: $0.key) > .none }
      state.count += 1
      let use = mode == .writing ? Use.writing : .reading
      state.connections[file, default: []].append(Connection(use: use, number: state.count))
      return state.count
    }
    let queue = Result { try open() }
    state.withLock { state in
      guard let index = state.connections[file]?.firstIndex(where: { $0.number == number }),
        var connection = state.connections[file]?.remove(at: index)
      else { return }
      connection.queue = try? queue.get()
      connection.isOpening = false
      // The file may have been replaced before SQLite opened it, and the inode number reused since.
      state.connections[FileIdentity(path) ?? file, default: []].append(connection)
    }
    return try queue.get()
  }

  /// Closes a connection and stops tracking it, since another file may get its inode number.
  static func close(_ queue: DatabaseQueue) throws {
    defer {
      state.withLock { state in
        for file in state.connections.keys {
          state.connections[file]?.removeAll { $0.queue === queue }
        }
      }
    }
    try queue.close()
  }

  /// Runs `body`, and passes it how this process has the file at `path` open.
  ///
  /// Keep `body` short, since no connection can be opened while it runs.
  static func holding<T: Sendable>(_ path: String, _ body: (Use) throws -> T) rethrows -> T {
    let file = FileIdentity(path)
    return try state.withLock { state in try body(file.map { state.use(of: $0) } ?? .none) }
  }
}

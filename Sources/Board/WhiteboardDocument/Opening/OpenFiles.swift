import Foundation
import GRDB
import PeerCore

/// If a process closes any descriptor of a file, it loses all of SQLite's locks on that file. Therefore, while this
/// process has a file open, only SQLite may read the file and its WAL index.
enum OpenFiles {
  enum Use: Comparable, Sendable {
    /// The file is not open, so all of it may be read without SQLite.
    case none
    /// Readers have the file open. Without SQLite, only its WAL file may be read, since SQLite holds no locks on the
    /// WAL file.
    case reading
    /// A writer has the file open, so the WAL file may change at any time.
    case writing
  }

  private struct Connection {
    let number: Int
    let use: Use
    /// The connected file. Its inode number stays reserved while the connection is tracked. Otherwise a new file could
    /// get the same inode number and would seem to be open.
    var file: ReservedInode
    /// The database connection; nil while it is being opened.
    weak var queue: DatabaseQueue?
    var isOpening = true

    var isOpen: Bool { isOpening || queue != nil }
  }

  /// The connections by file. Finding the state of a file therefore takes no longer if many files are open.
  private struct State {
    private var connections: [FileIdentity: [Connection]] = [:]
    private var files: [ObjectIdentifier: FileIdentity] = [:]
    private var count = 0

    func use(of file: FileIdentity) -> Use { connections[file]?.filter(\.isOpen).map(\.use).max() ?? .none }

    mutating func insert(_ file: ReservedInode, _ use: Use) -> Int {
      count += 1
      // A connection that was released without ``OpenFiles/close(_:)`` must not reserve its inode number for long.
      if count.isMultiple(of: 64) { removeReleased() }
      connections[file.identity, default: []].append(Connection(number: count, use: use, file: file))
      return count
    }

    mutating func opened(_ number: Int, of file: FileIdentity, _ queue: DatabaseQueue?, _ actual: ReservedInode?) {
      guard let index = connections[file]?.firstIndex(where: { $0.number == number }),
        var connection = connections[file]?.remove(at: index)
      else { return }
      if connections[file]?.isEmpty == true { connections[file] = nil }
      guard let queue else { return }
      connection.queue = queue
      connection.isOpening = false
      if let actual { connection.file = actual }
      files[ObjectIdentifier(queue)] = connection.file.identity
      connections[connection.file.identity, default: []].append(connection)
    }

    mutating func remove(_ queue: DatabaseQueue) {
      guard let file = files.removeValue(forKey: ObjectIdentifier(queue)) else { return }
      connections[file]?.removeAll { $0.queue === queue || !$0.isOpen }
      if connections[file]?.isEmpty == true { connections[file] = nil }
    }

    private mutating func removeReleased() {
      connections = connections.mapValues { $0.filter(\.isOpen) }.filter { !$0.value.isEmpty }
      files = files.filter { connections[$0.value] != nil }
    }
  }

  private static let state = Locked(State())

  static func connecting(to path: String, _ mode: BoardDocument.Mode, _ open: () throws -> DatabaseQueue) throws
    -> DatabaseQueue
  {
    guard let file = ReservedInode(path) else { return try open() }
    let number = state.withLock { $0.insert(file, mode == .writing ? .writing : .reading) }
    let queue = Result { try open() }
    // The file may have been replaced before SQLite opened it.
    let actual = ReservedInode(path)
    state.withLock { $0.opened(number, of: file.identity, try? queue.get(), actual) }
    return try queue.get()
  }

  static func close(_ queue: DatabaseQueue) throws {
    defer { state.withLock { $0.remove(queue) } }
    try queue.close()
  }

  /// Runs `body` with the state of the file at `path` in this process. Keep `body` short, since no connection can be
  /// opened while it runs.
  static func holding<T: Sendable>(_ path: String, _ body: (Use) throws -> T) rethrows -> T {
    let file = FileIdentity(path)
    return try state.withLock { state in try body(file.map { state.use(of: $0) } ?? .none) }
  }
}

/// The exclusive right to write a document, among all processes and within this process. The right is an `flock` on a
/// separate lock file in the same directory. The document itself cannot be locked: closing any descriptor of it would
/// release all of SQLite's locks. The kernel releases the lock when the process exits for any reason. A lock file that
/// is left behind has no effect. Readers ignore the lock.
final class WriterLock: Sendable {
  private let descriptor: Locked<CInt?>
  private let path: String
  private let isOurs: Bool

  init(_ document: String) throws(DocumentError) {
    let path = document + "-lock"
    while true {
      let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { throw DocumentError.creating(document) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        close(descriptor)
        throw DocumentError(
          .inUse,
          "\(document): the board is already open in another window or program; use that one, or close it there first"
        )
      }
      // The previous holder may have removed the file between `open` and `flock`. Other processes would not find the
      // removed file, so create another file.
      var ours = stat()
      if fstat(descriptor, &ours) == 0, Self.isFile(descriptor, at: path) {
        self.descriptor = Locked(descriptor)
        self.path = path
        // This program creates only empty lock files, so a file with content belongs to another program.
        isOurs = ours.st_size == 0
        return
      }
      close(descriptor)
    }
  }

  func isLock(of document: String) -> Bool { path == document + "-lock" && descriptor.withLock { $0 != nil } }

  /// Releases the lock now, without waiting for `deinit`. A closure that already ran may still hold a reference to the
  /// lock.
  func release() {
    descriptor.withLock { descriptor in
      guard let open = descriptor else { return }
      descriptor = nil
      // If the directory was recreated, the file at the path may be another document's lock.
      if isOurs, Self.isFile(open, at: path) { unlink(path) }
      close(open)
    }
  }

  private static func isFile(_ descriptor: CInt, at path: String) -> Bool {
    var ours = stat()
    var there = stat()
    return fstat(descriptor, &ours) == 0 && stat(path, &there) == 0 && ours.st_ino == there.st_ino
      && ours.st_dev == there.st_dev
  }

  deinit { release() }
}

/// The right to write a board's file that this program is about to open.
///
/// While the reservation exists, no other program can open the file for writing.
public struct BoardReservation: Sendable {
  private let writerLock: WriterLock

  /// Throws a ``DocumentError`` with the code `inUse` if the document is open in any program.
  package init(_ document: String) throws(DocumentError) {
    writerLock = try WriterLock(DocumentFile.resolved(document))
  }

  /// Returns the lock of a document; nil if the reservation is for another document, or was used and released.
  func lock(of document: String) -> WriterLock? { writerLock.isLock(of: document) ? writerLock : nil }
}

func systemMessage() -> String { String(cString: strerror(errno)) }

import Foundation
import GRDB
import PeerCore
import Whiteboard

/// The file of a document on the disk, and its WAL file and journal, examined without SQLite.
enum DocumentFile {
  /// Returns the path of the file itself, after following a symbolic link. The lock file and the WAL file are beside
  /// the file itself, not beside a symbolic link to it.
  static func resolved(_ path: String) -> String {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, let real = realpath(path, nil) else {
      return path
    }
    defer { free(real) }
    return String(cString: real)
  }

  /// Checks that there is a file at `path` that this process can open in the given mode. Throws `notFound`,
  /// `wrongKind`, `readOnly`, `inputOutput`.
  static func checkAccess(_ path: String, _ mode: BoardDocument.Mode) throws {
    var status = stat()
    guard stat(path, &status) == 0 else {
      let (code, words) = (errno, systemMessage())
      let hasLog = code == ENOENT && size(of: path + "-wal") ?? 0 > 0
      let advice = "; its -wal file exists; 'whiteboard-peer boards recover' saves the data in it"
      throw DocumentError(code == ENOENT ? .notFound : .inputOutput, "\(path): \(words)" + (hasLog ? advice : ""))
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw DocumentError(.wrongKind, "\(path): this is not a file") }
    guard access(path, R_OK) == 0 else {
      throw DocumentError(.inputOutput, "\(path): it is not readable (\(systemMessage()))")
    }
    guard mode == .reading || access(path, W_OK) == 0 else { throw DocumentError.creating(path) }
  }

  /// Checks that SQLite cannot remove another file when it rolls back the journal. A journal can end with the name of
  /// another file, and SQLite removes that file. The journals of this program contain no such name.
  static func checkJournal(of path: String) throws {
    let descriptor = open(path + "-journal", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var end = [UInt8](repeating: 0, count: 8)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size >= 8, pread(descriptor, &end, 8, status.st_size - 8) == 8
    else { return }
    guard end != [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7] else {
      throw DocumentError(
        .wrongKind,
        "\(path): the file beside it that ends in -journal does not belong to a whiteboard; remove that file, "
          + "or ask the person who sent you both files; nothing was changed"
      )
    }
  }

  /// Checks that the file is not empty. SQLite deletes the WAL file and the journal of an empty file, even if SQLite
  /// opens the file only for reading.
  static func checkNotEmpty(of path: String) throws(DocumentError) {
    guard size(of: path) == 0 else { return }
    throw DocumentError(
      .wrongKind,
      "\(path): it is empty, so it is not a whiteboard; if it was one, 'whiteboard-peer boards recover' "
        + "saves the data in the files beside it; nothing was changed"
    )
  }

  static func size(of path: String) -> Int? {
    // Do not open the file: closing the file would release the locks that SQLite has on it.
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : nil
  }

  /// Describes damage to the version bytes in the file's header that prevents programs from writing the file. Returns
  /// nil if there is no such damage, if the file is not an SQLite database, or if this process has the file open. If
  /// byte 18 is greater than 2, SQLite can only read the file. If byte 19 is greater than 2, SQLite cannot open it at
  /// all.
  static func headerDamage(of path: String) -> String? {
    OpenFiles.holding(path) { use in
      let descriptor = use == .none ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1
      guard descriptor >= 0 else { return nil }
      defer { close(descriptor) }
      var header = [UInt8](repeating: 0, count: 20)
      guard pread(descriptor, &header, 20, 0) == 20, header.starts(with: Array("SQLite format 3".utf8) + [0]) else {
        return nil
      }
      let wrong = (18...19).filter { header[$0] > 2 }
      guard !wrong.isEmpty else { return nil }
      let words = wrong.map { "byte \($0) is \(header[$0]), but must be at most 2" }
      return "its header is damaged (\(words.joined(separator: "; "))), so no program can change it"
    }
  }

  static func headerError(_ damage: String, _ path: String) -> DocumentError {
    DocumentError(.damaged, "\(path): \(damage); 'whiteboard-peer boards recover' saves its data; nothing was changed")
  }
}

/// A namespace for creating new files atomically: a file appears when it is complete, or not at all.
enum NewFile {
  /// `fill` adds content before other programs can see the file; its result is returned.
  @discardableResult static func make<Result: Sendable>(
    at path: String,
    board: [UInt8],
    name: String,
    now: Int64,
    fill: @escaping @Sendable (DatabaseQueue) throws -> Result
  ) async throws(DocumentError) -> Result {
    try check(board)
    try DocumentName.check(name)
    return try await publish(at: path) { temporary in
      let queue = try DatabaseQueue(path: temporary)
      defer { try? queue.close() }
      try Schema.make(queue)
      try queue.write { db in
        try StoredIdentity(board: board, created: now).store(db)
        try Meta.set(db, .board, Hexadecimal.encode(board))
        try Meta.set(db, .name, name)
        try Meta.set(db, .created, String(now))
        try Meta.set(db, .changed, String(now))
        try Meta.set(db, .closed, LogTail().text)
      }
      return try fill(queue)
    }
  }

  /// `make` writes a temporary file, which gets its final name when it is complete and on the disk.
  @discardableResult static func publish<Result: Sendable>(
    at path: String,
    _ make: @escaping @Sendable (_ temporary: String) throws -> Result
  ) async throws(DocumentError) -> Result {
    try await Blocking.run(path) {
      var status = stat()
      guard lstat(path, &status) != 0 else { throw Self.exists(path) }
      // The WAL file of a missing file can contain changes. A new file with that name would make these changes
      // unreadable.
      for beside in ["-wal", "-journal"].map({ path + $0 }) where DocumentFile.size(of: beside) ?? 0 > 0 {
        throw DocumentError(
          .exists,
          "\(beside) exists, but the board's file is missing; nothing was changed; move it somewhere else, or save "
            + "the changes in it: whiteboard-peer boards recover \(shellQuoted(path))"
        )
      }
      let temporary = "\(path).\(UUID().uuidString).part"
      let descriptor = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw DocumentError.creating(path, "no file was created") }
      close(descriptor)
      defer { unlink(temporary) }
      let result = try make(temporary)
      try FileSync.synchronize(temporary)
      guard link(temporary, path) == 0 else {
        if errno == EEXIST { throw Self.exists(path) }
        // Some file systems have no hard links. On such file systems, only the check above protects an existing file.
        guard rename(temporary, path) == 0 else { throw DocumentError(.inputOutput, "\(path): \(systemMessage())") }
        return result
      }
      try? FileSync.synchronize((path as NSString).deletingLastPathComponent)
      return result
    }
  }

  static func check(_ board: [UInt8]) throws(DocumentError) {
    guard board.count == BoardDocument.boardIDLength else {
      throw DocumentError(.wrongBoard, "a board id has \(BoardDocument.boardIDLength) bytes")
    }
  }

  private static func exists(_ path: String) -> DocumentError {
    DocumentError(.exists, "\(path): a file with that name already exists; it was not changed")
  }
}

/// The identity does not depend on the file's name.
struct FileIdentity: Hashable, Sendable {
  let device: UInt64
  let inode: UInt64

  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  init?(descriptor: CInt) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  fileprivate init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }
}

/// A file, its size and the time of its last change, according to stat(2).
struct FileStamp: Hashable, Sendable {
  let file: FileIdentity
  private let size: Int64
  private let seconds: Int
  private let nanoseconds: Int

  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    file = FileIdentity(status)
    size = Int64(status.st_size)
    (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
  }
}

/// A file whose inode number the kernel gives to no other file while this object exists. Without this object, a new
/// file can get the inode number of a removed file as soon as that file is closed. The two files then have the same
/// ``FileIdentity``.
final class ReservedInode: Sendable {
  let identity: FileIdentity
  /// A descriptor that was opened with `O_PATH`; -1 if the file could not be opened.
  private let descriptor: CInt

  /// `O_PATH`, which Swift does not import: refers to the file without opening it, so closing it releases no locks.
  private static let pathOnly: CInt = 0x20_0000

  init?(_ path: String) {
    descriptor = open(path, Self.pathOnly | O_CLOEXEC)
    let found = descriptor >= 0 ? FileIdentity(descriptor: descriptor) : FileIdentity(path)
    guard let found else {
      if descriptor >= 0 { close(descriptor) }
      return nil
    }
    identity = found
  }

  deinit { if descriptor >= 0 { close(descriptor) } }
}

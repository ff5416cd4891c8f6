import Foundation
import GRDB
import PeerCore
import Whiteboard

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

  /// Checks the length of a board id; throws `wrongBoard`.
  static func check(_ board: [UInt8]) throws(DocumentError) {
    guard board.count == BoardDocument.boardIDLength else {
      throw DocumentError(.wrongBoard, "a board id has \(BoardDocument.boardIDLength) bytes")
    }
  }

  private static func exists(_ path: String) -> DocumentError {
    DocumentError(.exists, "\(path): a file with that name already exists; it was not changed")
  }
}

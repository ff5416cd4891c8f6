import Foundation
import GRDB
import Whiteboard

/// An open database that is known to be a document, with the facts that were read first.
struct Opened: Sendable {
  let path: String
  let board: [UInt8]
  let database: DatabaseQueue
  let lock: WriterLock?
  let tail: LogTail
  let wasLeftOpen: Bool
  /// Descriptions of the damage found while opening.
  let damages: [String]

  /// Opens and checks the document at `path`; blocks the thread.
  init(_ path: String, _ mode: BoardDocument.Mode, expecting: [UInt8]?) throws {
    let path = Self.resolved(path)
    self.path = path
    try Self.checkFile(path, mode)
    lock = mode == .writing ? try WriterLock(path) : nil
    let look = mode == .writing ? try Self.lookBeforeWriting(path, expecting) : nil
    let connection = try Self.connectNoting(path, mode)
    database = connection.database
    let found = try look?.facts ?? database.read { db in try Facts(db, at: path) }
    try found.check(expecting, at: path)
    board = found.board
    tail = found.tail
    wasLeftOpen = found.closed == nil
    damages = look?.damages ?? connection.damages
    guard mode == .writing else { return }
    do {
      try database.writeWithoutTransaction { db in
        do { try Self.beginWriting(db, at: path) } catch {
          let number = BoardDocument.systemError(of: db)
          throw DocumentError.from(error, at: path, systemError: number)
        }
      }
      try Schema.migrator.migrate(database)
    } catch {
      try? OpenFiles.close(database)
      throw error
    }
  }

  /// The facts about a document that are read first, in one transaction.
  struct Facts: Sendable {
    let board: [UInt8]
    let tail: LogTail
    let closed: String?

    init(_ db: Database, at path: String) throws {
      try Schema.check(db, at: path)
      guard let text = try Meta.get(db, .board, at: path),
        let board = Hexadecimal.decode(text), board.count == BoardDocument.boardIDLength
      else { throw DocumentError.damagedRow("the board's id", at: path) }
      self.board = board
      tail = try LogTail(db, at: path)
      closed = try Meta.get(db, .closed, at: path)
      if let closed, closed != tail.text {
        throw DocumentError.damagedRow("the end of the log", at: path)
      }
    }

    func check(_ expected: [UInt8]?, at path: String) throws(DocumentError) {
      guard expected == nil || expected == board else {
        throw DocumentError(
          .wrongBoard,
          "\(path): it is a different board with that name; it was not changed"
        )
      }
    }
  }

  /// Returns the path of the file itself.
  ///
  /// Its lock and its log are beside the file, not beside a symbolic link to it.
  static func resolved(_ path: String) -> String {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK,
      let real = realpath(path, nil)
    else { return path }
    defer { free(real) }
    return String(cString: real)
  }

  static func checkFile(_ path: String, _ mode: BoardDocument.Mode) throws {
    var status = stat()
    guard stat(path, &status) == 0 else {
      let (code, words) = (errno, systemMessage())
      let hasLog = code == ENOENT && size(of: path + "-wal") ?? 0 > 0
      let advice = "; its log exists; 'whiteboard-peer boards recover' saves the data in it"
      throw DocumentError(
        code == ENOENT ? .notFound : .inputOutput,
        "\(path): \(words)" + (hasLog ? advice : "")
      )
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw DocumentError(.wrongKind, "\(path): this is not a file")
    }
    guard access(path, R_OK) == 0 else {
      throw DocumentError(.inputOutput, "\(path): it is not readable (\(systemMessage()))")
    }
    guard mode == .reading || access(path, W_OK) == 0 else {
      throw DocumentError.creating(path)
    }
  }

  /// Opens the database at `path`; see ``connectNoting(_:_:)``.
  static func connect(_ path: String, _ mode: BoardDocument.Mode) throws -> DatabaseQueue {
    try connectNoting(path, mode).database
  }

  /// Opens the database at `path`, and returns the damage in the log beside it.
  ///
  /// If a process was killed while it began or ended writing, its last transaction must be rolled
  /// back first. A reader does this on a copy, since reading must not write to a recording (REC-1).
  /// If the log is damaged, a reader gets a copy that contains all readable pages of the log
  /// (REC-16).
  static func connectNoting(
    _ path: String,
    _ mode: BoardDocument.Mode
  ) throws -> (database: DatabaseQueue, damages: [String]) {
    guard mode == .reading else { return (try connectOnce(path, mode), []) }
    let log = WriteAheadLog.examine(path)
    if let log {
      try log.checkOrigin(of: path)
      if let damage = log.damage {
        let merged = try connectToMerged(log, of: path)
        return (merged.database, [log.words(damage, isComplete: merged.isComplete)])
      }
    }
    let header = headerDamage(of: path)
    do {
      let own = try identity(of: path, with: log)
      let database = try connectOnce(path, mode)
      if let own { try database.read { db in try own.check(db, at: path) } }
      return (database, header.map { ["The file is damaged: \($0)."] } ?? [])
    } catch let error as DatabaseError
      where [.SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_IOERR, .SQLITE_FULL].contains(
        error.resultCode
      )
    {
      // On a disk that accepts no data, SQLite cannot create the index of the log, so open a copy.
      return (try connectToCopy(of: path) ?? { throw error }(), [])
    } catch let error as DatabaseError where error.resultCode == .SQLITE_NOTADB {
      guard let header else { throw error }
      throw headerError(header, path)
    }
  }

  /// Opens a temporary copy with its last transaction rolled back; nil if no copy can be made.
  static func connectToCopy(of path: String) throws -> DatabaseQueue? {
    let files = FileManager.default
    try checkContent(of: path)
    guard let directory = temporaryDirectory() else { return nil }
    defer { try? files.removeItem(atPath: directory) }
    let copy = directory + "/copy.whiteboard"
    for end in ["", "-journal", "-wal"] where files.fileExists(atPath: path + end) {
      guard (try? files.copyItem(atPath: path + end, toPath: copy + end)) != nil else { return nil }
    }
    try OpenFiles.close(connectOnce(copy, .writing))
    return try connectOnce(copy, .reading)
  }

  /// Creates a directory that only this user can read; nil if that is not possible.
  ///
  /// The directory is in memory if the usual directory is on a disk that accepts no data.
  static func temporaryDirectory() -> String? {
    let places = [NSTemporaryDirectory(), "/dev/shm"]
    for place in places.filter({ DiskCondition.systemError(at: $0) == 0 }) + places {
      let path = place + "/whiteboard-\(UUID().uuidString)"
      let made: Void? = try? FileManager.default.createDirectory(
        atPath: path,
        withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700]
      )
      if made != nil { return path }
    }
    return nil
  }

  /// Checks that SQLite cannot remove another file when it rolls back the journal.
  ///
  /// A journal can end with the name of another file, which SQLite removes. The journals of this
  /// program contain no such name.
  static func checkJournal(of path: String) throws {
    let descriptor = open(path + "-journal", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var end = [UInt8](repeating: 0, count: 8)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size >= 8,
      pread(descriptor, &end, 8, status.st_size - 8) == 8
    else { return }
    guard end != [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7] else {
      throw DocumentError(
        .wrongKind,
        "\(path): the file beside it that ends in -journal does not belong to a whiteboard; remove it, or "
          + "ask the person who sent you both files; nothing was changed"
      )
    }
  }

  /// Checks that the file is not empty.
  ///
  /// SQLite deletes the log and the journal beside an empty file, even if it only reads the file.
  static func checkContent(of path: String) throws(DocumentError) {
    guard size(of: path) == 0 else { return }
    throw DocumentError(
      .wrongKind,
      "\(path): it is empty, so it is not a whiteboard; if it was one, 'whiteboard-peer boards recover' "
        + "saves the data in the files beside it; nothing was changed"
    )
  }

  /// Returns the size of a file in bytes; nil if there is no such file.
  static func size(of path: String) -> Int? {
    // Do not open the file: closing it would release the locks that SQLite has on it.
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : nil
  }

  /// Describes damage to the version bytes in the file's header that prevents programs from writing
  /// the file.
  ///
  /// If byte 18 is greater than 2, SQLite can only read the file. If byte 19 is, SQLite cannot open
  /// it at all.
  /// - Returns: A description of the damage; nil if there is none, if the file is not an SQLite
  ///   database, or if this process has it open.
  static func headerDamage(of path: String) -> String? {
    OpenFiles.holding(path) { use in
      let descriptor = use == .none ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1
      guard descriptor >= 0 else { return nil }
      defer { close(descriptor) }
      var header = [UInt8](repeating: 0, count: 20)
      guard pread(descriptor, &header, 20, 0) == 20,
        header.starts(with: Array("SQLite format 3".utf8) + [0])
      else { return nil }
      let wrong = (18...19).filter { header[$0] > 2 }
      guard !wrong.isEmpty else { return nil }
      let words = wrong.map { "byte \($0) is \(header[$0]), and at most 2 is possible" }
      return "its header is damaged (\(words.joined(separator: "; "))), so no program can change it"
    }
  }

  /// Returns the error for a file with a damaged header.
  static func headerError(_ damage: String, _ path: String) -> DocumentError {
    DocumentError(
      .damaged,
      "\(path): \(damage); 'whiteboard-peer boards recover' saves its data; nothing was changed"
    )
  }

  static func connectOnce(
    _ path: String,
    _ mode: BoardDocument.Mode
  ) throws -> DatabaseQueue {
    try checkContent(of: path)
    try checkJournal(of: path)
    var configuration = Configuration()
    configuration.label = "whiteboard document"
    configuration.readonly = mode == .reading
    configuration.busyMode = .timeout(2)
    configuration.observesSuspensionNotifications = false
    let database = try OpenFiles.connecting(to: path, mode) {
      try DatabaseQueue(path: path, configuration: configuration)
    }
    // This first read fails if a killed process left a transaction that must be rolled back.
    try database.read { db in
      _ = try Int.fetchOne(db, sql: "PRAGMA schema_version")
      try Schema.checkTables(db, at: path)
      try StoredSizes.check(db, at: path)
    }
    return database
  }

  static func quickCheck(_ db: Database, at path: String) throws {
    let found = try String.fetchOne(db, sql: "PRAGMA quick_check(1)") ?? "nothing"
    guard found == "ok" else {
      throw DocumentError(
        .damaged,
        "\(path): its pages are damaged (\(found)); 'whiteboard-peer boards recover' tries to save what can still be read"
      )
    }
  }

  private static func beginWriting(_ db: Database, at path: String) throws {
    let journal = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
    guard journal == "wal" else {
      throw DocumentError(
        .inputOutput,
        "\(path): this file system does not support the log of a whiteboard; move the file to another disk"
      )
    }
    try db.execute(sql: "PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY")
    try db.inTransaction(.immediate) {
      try Meta.set(db, .closed, nil)
      try Schema.raise(db)
      return .commit
    }
  }
}

/// The end of the log, and its distance from the last keyframe.
struct LogTail: Sendable {
  /// The number of the last row; 0 if the log is empty.
  var id: Int64 = 0
  /// The chain at the last row.
  var chain: UInt32 = 0
  /// The number of entries since the last keyframe.
  var entriesSince: Int64 = 0
  /// The number of entries up to the last keyframe.
  var entriesBefore: Int64 = 0
  /// The time of the last keyframe; if there is none, the creation time of the document.
  var keyframeTime: Int64 = 0

  /// The value that `meta` stores as `closed` while the document is closed.
  var text: String { "\(id) \(chain)" }

  init() {}

  /// Reads the end of the log from a database.
  init(_ db: Database, at path: String) throws {
    keyframeTime = try Meta.get(db, .created, at: path).flatMap { Int64($0) } ?? 0
    var keyframeLog: Int64 = 0
    if let row = try Row.fetchOne(
      db,
      sql: "SELECT log, chain, entries, time FROM keyframe ORDER BY log DESC, id DESC LIMIT 1"
    ) {
      keyframeLog = Int64.fromDatabaseValue(row[0]) ?? 0
      id = keyframeLog
      chain = UInt32(truncatingIfNeeded: Int64.fromDatabaseValue(row[1]) ?? 0)
      entriesBefore = Int64.fromDatabaseValue(row[2]) ?? 0
      keyframeTime = Int64.fromDatabaseValue(row[3]) ?? 0
    }
    if let row = try Row.fetchOne(db, sql: "SELECT id, sum FROM log ORDER BY id DESC LIMIT 1"),
      let last = Int64.fromDatabaseValue(row[0]), last >= id
    {
      guard let sum = Int64.fromDatabaseValue(row[1]) else {
        throw DocumentError.damagedRow("row \(last) of the log", at: path)
      }
      id = last
      chain = UInt32(truncatingIfNeeded: sum)
    }
    entriesSince =
      try Int64.fetchOne(
        db,
        sql: "SELECT coalesce(sum(entries), 0) FROM log WHERE id > ?",
        arguments: [keyframeLog]
      ) ?? 0
    let numbers = [id, entriesBefore, entriesSince]
    guard numbers.allSatisfy({ (0...StoredNumber.limit).contains($0) }) else {
      throw DocumentError.damagedRow("the end of the log", at: path)
    }
  }
}

/// Creates new files in one step: a file appears when it is complete, or not at all.
enum NewFile {
  /// Creates a document at `path`.
  ///
  /// `fill` adds content before other programs can see the file.
  static func make(
    at path: String,
    board: [UInt8],
    name: String,
    now: Int64,
    fill: @escaping @Sendable (DatabaseQueue) throws -> Void
  ) async throws(DocumentError) {
    guard board.count == BoardDocument.boardIDLength else {
      throw DocumentError(.wrongBoard, "a board id has \(BoardDocument.boardIDLength) bytes")
    }
    try DocumentName.check(name)
    try await publish(at: path) { temporary in
      let queue = try DatabaseQueue(path: temporary)
      defer { try? queue.close() }
      try Schema.make(queue)
      try queue.write { db in
        try Meta.set(db, .board, Hexadecimal.encode(board))
        try Meta.set(db, .name, name)
        try Meta.set(db, .created, String(now))
        try Meta.set(db, .changed, String(now))
        try Meta.set(db, .closed, LogTail().text)
      }
      try fill(queue)
    }
  }

  /// Creates a file at `path`.
  ///
  /// `make` writes a temporary file, which gets its name when it is complete and on the disk.
  static func publish(
    at path: String,
    _ make: @escaping @Sendable (_ temporary: String) throws -> Void
  ) async throws(DocumentError) {
    try await Blocking.run(path) {
      var status = stat()
      guard lstat(path, &status) != 0 else { throw Self.exists(path) }
      // The log of a missing file can contain changes. A new file with that name would make them
      // unreadable.
      for beside in ["-wal", "-journal"].map({ path + $0 }) where Opened.size(of: beside) ?? 0 > 0 {
        throw DocumentError(
          .exists,
          "\(beside) exists, but the file of its board is missing; run 'whiteboard-peer boards recover "
            + "\(path)' to save its changes, or move it away; nothing was changed"
        )
      }
      let temporary = "\(path).\(UUID().uuidString).part"
      let descriptor = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else {
        throw DocumentError.creating(path, "no file was created")
      }
      close(descriptor)
      defer { unlink(temporary) }
      try make(temporary)
      try FileSync.synchronize(temporary)
      guard link(temporary, path) == 0 else {
        if errno == EEXIST { throw Self.exists(path) }
        // Some file systems have no hard links. On those, only the check above protects an existing
        // file.
        guard rename(temporary, path) == 0 else {
          throw DocumentError(.inputOutput, "\(path): \(systemMessage())")
        }
        return
      }
      try? FileSync.synchronize((path as NSString).deletingLastPathComponent)
    }
  }

  private static func exists(_ path: String) -> DocumentError {
    DocumentError(.exists, "\(path): a file with that name already exists; it was not changed")
  }
}

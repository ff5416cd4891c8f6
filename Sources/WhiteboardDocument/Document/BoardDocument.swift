import GRDB
import Whiteboard

/// A `.whiteboard` file: the current board and the history of its changes.
///
/// Only one process at a time can open it for writing. Any number of processes can open it for reading. An entry is
/// acknowledged when ``append(_:)`` returns: it survives a crash of the process. All methods do their work on a serial
/// queue of the document and never block the caller. Canceling a task does not interrupt work that has begun.
public actor BoardDocument {
  /// The kinds of access for which a document can be opened.
  public enum Mode: Hashable, Sendable {
    /// Reading and writing. Opening fails if the document is already open for writing.
    case writing
    /// Reading only. Another process may write at the same time.
    case reading
  }

  /// The length of a board id, in bytes.
  public static let boardIDLength = 16

  /// The path of the file; if the document was opened through a symbolic link, this is its target.
  public nonisolated let path: String
  /// The id of the board in the document.
  public nonisolated let board: [UInt8]
  /// The kind of access for which the document was opened.
  public nonisolated let mode: Mode
  /// Whether the last process that wrote the document exited without closing it.
  public nonisolated let wasLeftOpen: Bool
  /// Descriptions of the damage that was found while opening.
  ///
  /// An empty list does not mean that the file is undamaged. If the document is opened for writing, the WAL file, the
  /// pages, the rows and the photos are checked, but not the digests. If it is opened for reading, only the WAL file is
  /// checked.
  public nonisolated let damages: [String]
  /// The reason why the document is open only for reading although it was opened for writing; nil otherwise.
  public nonisolated let obstacle: DocumentError?

  /// Whether the file has, or had, facts about its session that this program did not write.
  ///
  /// They are the members, the join code, a removal and the browser links. They are not used, and opening the document
  /// for writing removed them (REC-20).
  public nonisolated let hasForeignFacts: Bool

  /// The seal of the facts that are used; nil if none are.
  nonisolated let seal: DocumentSeal?
  /// The database, on whose queue all methods do their work.
  nonisolated let connection: DocumentConnection
  /// The steps that will run in the next transaction.
  var queue = StepQueue()
  /// The end of the log after the last transaction.
  var tail: LogTail
  var isClosed = false
  let groupInterval: Duration
  let clock: any Clock<Duration>
  private let lock: WriterLock?
  /// The number of committed transactions that appended something, for tests.
  package internal(set) var groupsCommitted = 0
  /// The number of the last row of the log, for tests.
  package var lastRow: Int64 { tail.id }
  /// An error that every write throws, set by tests.
  private(set) var injectedFailure: DocumentError?

  init(
    _ opened: OpenedDocument,
    obstacle: DocumentError? = nil,
    groupInterval: Duration = .milliseconds(5),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.obstacle = obstacle
    path = opened.path
    board = opened.board
    mode = opened.lock == nil ? .reading : .writing
    wasLeftOpen = opened.wasLeftOpen
    damages = opened.damages
    hasForeignFacts = opened.hasForeignFacts
    seal = opened.seal
    connection = DocumentConnection(
      path: opened.path,
      database: opened.database,
      files: opened.lock.map { _ in StoredFiles(opened.path) }
    )
    tail = opened.tail
    lock = opened.lock
    self.groupInterval = groupInterval
    self.clock = clock
  }

  /// Creates a document and opens it for writing.
  /// - Parameters:
  ///   - path: The path of the new file. Its directory must exist; the file must not.
  ///   - board: The board's id, 16 bytes.
  ///   - name: The board's name.
  ///   - now: Milliseconds since 1970.
  ///   - seal: The seal of the facts that the program writes; nil if it does not use them.
  /// - Returns: The document, open for writing.
  /// - Throws: `exists`, `badName`, `wrongBoard`, `readOnly`, `full`, `inputOutput`.
  public static func create(at path: String, board: [UInt8], name: String, now: Int64, seal: DocumentSeal? = nil)
    async throws(DocumentError) -> BoardDocument
  {
    try await NewFile.make(at: path, board: board, name: name, now: now) { _ in }
    return try await open(at: path, mode: .writing, expecting: board, seal: seal)
  }

  /// Opens the document at `path`.
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - mode: The kind of access.
  ///   - board: The id that the board must have; nil accepts any board.
  ///   - seal: The seal of the facts that the program uses and writes; nil if it does not use them.
  ///   - reservation: The file's reservation, if the caller has one; see ``BoardLibrary/reserve(board:)``.
  ///   - groupInterval: The minimum time between two transactions of ``append(_:)``.
  ///   - clock: The clock that measures the group interval.
  /// - Returns: The open document. ``load()`` reads its content.
  /// - Throws: `notFound`, `wrongKind`, `newerSchema`, `readOnly`, `inUse`, `damaged`, `wrongBoard`, `inputOutput`. In
  ///   all cases, the stored data is unchanged.
  public static func open(
    at path: String,
    mode: Mode,
    expecting board: [UInt8]? = nil,
    seal: DocumentSeal? = nil,
    holding reservation: BoardReservation? = nil,
    groupInterval: Duration = .milliseconds(5),
    clock: any Clock<Duration> = ContinuousClock()
  ) async throws(DocumentError) -> BoardDocument {
    let opened = try await Blocking.run(path) {
      try OpenedDocument(path, mode, expecting: board, seal: seal, holding: reservation)
    }
    return BoardDocument(opened, groupInterval: groupInterval, clock: clock)
  }

  /// Writes all entries to the disk and closes the file; a second call does nothing.
  ///
  /// Closing waits for earlier appends. A closed document is a single file.
  /// - Parameter end: The end of the recorded time in milliseconds since 1970 (REC-6), which may be later than the last
  ///   entry; nil if it is unknown.
  /// - Throws: `full`, `inputOutput`. The document is closed even if this throws. Acknowledged entries stay in the WAL
  ///   file, and are read from there when the document is opened again.
  public func close(recordedUntil end: Int64? = nil) async throws(DocumentError) {
    guard !isClosed else { return }
    // Enqueue a group even if it is empty. When `enqueue` returns, all earlier appends are finished.
    isClosed = true
    let stored = await enqueue(end.map { [.entries([.end(time: $0)])] } ?? [])
    defer { lock?.release() }
    if let error = await connection.close(at: tail) ?? stored { throw error }
  }

  /// Limits the size of the file, as a full disk does; for tests.
  ///
  /// - Returns: The new limit in pages. It is never less than the current number of pages.
  package func limitPages(to pages: Int) async throws(DocumentError) -> Int {
    try await connection.run { db in try Int.fetchOne(db, sql: "PRAGMA max_page_count = \(pages)") ?? 0 }.get()
  }

  /// Makes every write fail, as on a broken disk, until this method is called with nil; for tests.
  package func failWrites(with error: DocumentError?) { injectedFailure = error }

  /// Runs `body` in one read transaction.
  func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws(DocumentError) -> T {
    try checkOpen()
    return try await connection.read(body)
  }

  /// Runs `body` in one write transaction; if it throws, nothing is stored.
  func write<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws(DocumentError) -> T {
    try checkWritable()
    if let injectedFailure { throw injectedFailure }
    return try await connection.write(body)
  }

  /// Checks that the document is not closed.
  func checkOpen() throws(DocumentError) { guard !isClosed else { throw .closed(path) } }

  /// Checks that the document is open for writing.
  func checkWritable() throws(DocumentError) {
    try checkOpen()
    guard mode == .writing else {
      if let obstacle { throw obstacle }
      throw DocumentError(.readOnly, "\(path): it was opened for reading only; nothing was saved")
    }
  }
}

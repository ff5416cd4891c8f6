import Foundation
import GRDB
import Whiteboard

/// A `.whiteboard` file: the current board and the history of its changes.
///
/// Only one process at a time can open a document for writing. Any number of processes can open it for reading. An
/// entry is acknowledged when ``append(_:)`` returns: such an entry survives a crash of the process. All methods do
/// their work on a serial queue of the document and never block the caller. Canceling a task does not interrupt work
/// that has begun.
public actor BoardDocument {
  /// The kinds of access for which a document can be opened.
  public enum Mode: Hashable, Sendable {
    /// Reading and writing. Opening fails if the document is already open for writing.
    case writing
    /// Read-only access. Another process may write at the same time.
    case reading
  }

  /// The length of a board id, in bytes.
  public static let boardIDLength = 16

  /// The path of the file; if the document was opened through a symbolic link, the path of the link's target.
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
  /// pages, the rows and the photos are checked, but not the digests. If the document is opened for reading, only the
  /// WAL file is checked.
  public nonisolated let damages: [String]
  /// The reason why the document is open only for reading although it was opened for writing; nil otherwise.
  public nonisolated let obstacle: DocumentError?

  /// Whether the file has, or had, facts about its session that this program did not write.
  ///
  /// Such facts are the members, the join code, a removal and the browser links. The program does not use these facts.
  /// If the document was opened for writing, opening removed them (REC-20).
  public nonisolated let hasForeignFacts: Bool

  /// The seal of the facts that the program uses; nil if the program uses no facts.
  nonisolated let seal: DocumentSeal?
  nonisolated let connection: DocumentConnection
  private nonisolated let thread: DocumentThread
  var queue = StepQueue()
  var tail: LogTail
  var isClosed = false
  let groupInterval: Duration
  /// The time before which the next transaction waits for more steps.
  var nextGroup = ContinuousClock.now
  private let lock: WriterLock?
  /// The number of committed transactions that appended something, for tests.
  package internal(set) var groupsCommitted = 0
  /// The number of the last row of the log, for tests.
  package var lastRow: Int64 { tail.id }
  private(set) var injectedFailure: DocumentError?

  init(_ opened: OpenedDocument, obstacle: DocumentError? = nil, groupInterval: Duration = .milliseconds(5)) {
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
      files: opened.lock.map { _ in StoredFiles(opened.path) },
      checkpointer: opened.lock.map { _ in Checkpointer(opened.path, opened.database) }
    )
    thread = DocumentThread(opened.path)
    tail = opened.tail
    lock = opened.lock
    self.groupInterval = groupInterval
  }

  /// The executor of the document's own thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  /// Creates a document and opens it for writing.
  /// - Parameters:
  ///   - path: The path of the new file. Its directory must exist; the file must not.
  ///   - board: The board's id, 16 bytes.
  ///   - name: The board's name.
  ///   - now: Milliseconds since 1970.
  ///   - seal: The seal of the facts that the program writes; nil if the program uses no facts.
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
  ///   - seal: The seal of the facts that the program uses and writes; nil if the program uses no facts.
  ///   - reservation: The file's reservation, if the caller has one; see ``BoardLibrary/reserve(board:)``.
  ///   - groupInterval: The minimum time between two transactions of ``append(_:)``.
  /// - Returns: The open document. ``load()`` reads its content.
  /// - Throws: `notFound`, `wrongKind`, `newerSchema`, `readOnly`, `inUse`, `damaged`, `wrongBoard`, `inputOutput`. In
  ///   all cases, the stored data is unchanged.
  public static func open(
    at path: String,
    mode: Mode,
    expecting board: [UInt8]? = nil,
    seal: DocumentSeal? = nil,
    holding reservation: BoardReservation? = nil,
    groupInterval: Duration = .milliseconds(5)
  ) async throws(DocumentError) -> BoardDocument {
    let opened = try await Blocking.run(path) {
      try OpenedDocument(path, mode, expecting: board, seal: seal, holding: reservation)
    }
    return BoardDocument(opened, groupInterval: groupInterval)
  }

  /// Writes all entries to the disk and closes the file; a second call does nothing.
  ///
  /// Closing waits for earlier appends. A closed document is a single file.
  /// - Parameter end: The end of the recorded time in milliseconds since 1970 (REC-6), which may be later than the last
  ///   entry; nil if the end is unknown.
  /// - Throws: `full`, `inputOutput`. The document is closed even if this method throws. Acknowledged entries stay in
  ///   the WAL file, and are read from there when the document is opened again.
  public func close(recordedUntil end: Int64? = nil) async throws(DocumentError) {
    guard !isClosed else { return }
    // Enqueue a group even if it is empty. When `enqueue` returns, all earlier appends are finished.
    isClosed = true
    let stored = await enqueue(end.map { [.entries([.end(time: $0)])] } ?? [])
    defer { lock?.release() }
    if let error = await connection.close(at: tail) ?? stored { throw error }
  }

  /// For tests: limits the size of the file, as a full disk does, but not below the current number of pages. Returns
  /// the new limit in pages.
  package func limitPages(to pages: Int) async throws(DocumentError) -> Int {
    try await connection.run { db in try Int.fetchOne(db, sql: "PRAGMA max_page_count = \(pages)") ?? 0 }.get()
  }

  /// For tests: makes every write fail, as on a broken disk, until this method is called with nil.
  package func failWrites(with error: DocumentError?) { injectedFailure = error }

  func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws(DocumentError) -> T {
    try checkOpen()
    return try await connection.read(body)
  }

  /// Runs `body` in one write transaction. If `body` throws, nothing is stored.
  func write<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws(DocumentError) -> T {
    try checkWritable()
    if let injectedFailure { throw injectedFailure }
    return try await connection.write(body)
  }

  func checkOpen() throws(DocumentError) { guard !isClosed else { throw .closed(path) } }

  func checkWritable() throws(DocumentError) {
    try checkOpen()
    guard mode == .writing else {
      if let obstacle { throw obstacle }
      throw DocumentError(.readOnly, "\(path): it was opened for reading only; nothing was saved")
    }
  }
}

extension BoardDocument {
  /// Returns the number of days for which history is stored; nil if it is stored forever.
  public func retention() async throws(DocumentError) -> Int? {
    try await read { [path] db in try Meta.get(db, .retention, at: path).flatMap { Int($0) } }
  }

  /// Sets the number of days for which history is stored; nil stores it forever.
  ///
  /// ``dropHistory(now:keeping:)`` and ``compact(now:keeping:)`` remove older history.
  public func setRetention(days: Int?) async throws(DocumentError) {
    try await write { db in try Meta.set(db, .retention, days.map { String(max(0, $0)) }) }
  }

  /// Removes old history.
  ///
  /// The file keeps its size, but later changes use the freed space. Among the keyframes that are older than the
  /// retention, the newest keyframe remains. All rows and keyframes before this keyframe are removed, except named
  /// versions. The remaining rows are not rewritten. At least two keyframes remain, since a keyframe may be damaged.
  /// - Parameters:
  ///   - now: Milliseconds since 1970.
  ///   - days: The number of days of history that remain; nil uses ``retention()``.
  /// - Throws: `full`, `readOnly`, `closed`. If the method throws, nothing was removed.
  public func dropHistory(now: Int64, keeping days: Int? = nil) async throws(DocumentError) {
    try await write { [path] db in try Retention.dropHistory(db, at: path, now: now, keeping: days) }
  }

  /// Removes history as ``dropHistory(now:keeping:)`` does, and returns the space to the disk.
  /// - Throws: `full` if there is no room for the temporary copy (then nothing is lost), `readOnly`, `closed`.
  public func compact(now: Int64, keeping days: Int? = nil) async throws(DocumentError) {
    try await dropHistory(now: now, keeping: days)
    try checkWritable()
    try await connection.compact()
  }
}

extension BoardDocument {
  /// Reads the current content of the board.
  /// - Throws: `damaged` if data that the current state needs is damaged; `closed`, `inputOutput`.
  /// - Complexity: O(*n*), where *n* is the size of the newest keyframe and the rows after it. Older history is not
  ///   read.
  public func load() async throws(DocumentError) -> DocumentContent {
    try await read { [path] db in try LogReader(db, path: path).content(upTo: nil) }
  }

  /// Reads the content of the board at `time`: the result of all entries applied until then.
  /// - Throws: The errors of ``load()``; `notFound` if the history of that time is no longer stored.
  public func load(at time: Int64) async throws(DocumentError) -> DocumentContent {
    try await read { [path] db in try LogReader(db, path: path).content(upTo: time) }
  }

  /// Returns the markers and gaps of the recording, in order.
  public func marks() async throws(DocumentError) -> [DocumentEntry] {
    try await read { [path] db in try LogReader(db, path: path).marks().compactMap(\.entry) }
  }

  /// Returns the next intact keyframe or version after `number`; nil if there is none.
  ///
  /// Numbers begin at 1. Damaged keyframes are skipped; ``verify()`` reports them.
  public func keyframe(after number: Int64) async throws(DocumentError) -> (number: Int64, keyframe: Keyframe)? {
    try await read { [path] db in try LogReader(db, path: path).keyframe(after: number).map { ($0.id, $0.state) } }
  }

  /// Checks all stored data, page by page and row by row, and returns descriptions of the damage.
  /// - Complexity: O(*n*), where *n* is the size of the file.
  public func verify() async throws(DocumentError) -> [String] {
    let damages = mode == .reading ? damages : []
    return try await read { [path] db in damages + LogReader(db, path: path).damages() }
  }
}

/// The files of an open document: the database file and its WAL file. A process can still write to an open file that
/// was removed, or whose disk was unmounted. A document therefore compares the files at its path with the files that it
/// opened.
struct StoredFiles: Sendable {
  private let path: String
  private let database: FileIdentity?
  private let log: FileIdentity?
  private let directory: FileIdentity?

  init(_ path: String) {
    self.path = path
    database = FileIdentity(path)
    log = FileIdentity(path + "-wal")
    directory = FileIdentity((path as NSString).deletingLastPathComponent)
  }

  var areThere: Bool { database != nil && FileIdentity(path) == database && FileIdentity(path + "-wal") == log }

  /// Whether the file can be recreated: its directory is on the same file system, and no other file has its name.
  var canBeMade: Bool {
    let parent = FileIdentity((path as NSString).deletingLastPathComponent)
    return parent != nil && parent?.device == directory?.device && FileIdentity(path) == nil
  }

  func check() throws(DocumentError) { guard areThere else { throw .removed(path) } }
}

extension BoardDocument {
  /// Stores the whole state as a named version; `position` is its position in the log, as in
  /// ``writeKeyframe(_:digest:time:lostSince:at:)``.
  /// - Throws: `exists` if the name is taken; `badName`; the errors of ``append(_:)``.
  public func checkpoint(
    name: String,
    bytes: [UInt8],
    digest: [UInt8],
    time: Int64,
    at position: LogPosition? = nil
  ) async throws(DocumentError) {
    try DocumentName.check(name)
    try checkWritable()
    // Check for the name in a separate transaction first. Otherwise, a duplicate name would make the steps of other
    // callers in the group fail.
    guard try await read({ db in try !StoredVersions.contains(name, db) }) else {
      throw StoredVersions.exists(name, path)
    }
    let body = try await keyframeBody(bytes, at: position)
    try checkWritable()
    let step = LogWriter.Step.keyframe(body, digest: digest, name: name, time: time, position: position)
    guard let error = await enqueue([step]) else { return }
    let cause = error.cause as? DatabaseError
    throw cause?.resultCode == .SQLITE_CONSTRAINT ? StoredVersions.exists(name, path) : error
  }

  /// Returns the versions, oldest first.
  public func versions() async throws(DocumentError) -> [DocumentVersion] {
    try await read { db in try StoredVersions.all(db) }
  }

  /// Returns the state of a version.
  /// - Throws: `notFound`; `damaged` if the version is lost. The damage affects no other data.
  public func version(_ name: String) async throws(DocumentError) -> Keyframe {
    try await read { [path] db in try StoredVersions.state(name, db, at: path) }
  }
}

extension BoardDocument {
  /// The maximum size of an asset, in bytes.
  public static let maximumAssetSize = 32 << 20

  /// Stores a photo under its hash, and replaces a damaged copy of the photo.
  /// - Throws: `damaged` if the bytes do not have that hash; `tooLarge`, `full`, `readOnly`, `closed`. If the method
  ///   throws, nothing was stored.
  public func storeAsset(_ bytes: [UInt8], sha256: [UInt8]) async throws(DocumentError) {
    guard bytes.count <= Self.maximumAssetSize else {
      throw DocumentError(.tooLarge, "\(path): an asset may have at most \(Self.maximumAssetSize) bytes")
    }
    let body = try await Blocking.run(path) { [path] in try StoredAssets.checked(bytes, sha256: sha256, at: path) }
    try await write { db in try StoredAssets.store(body, sha256: sha256, db) }
  }

  /// Stores the content of a file under its hash; see ``storeAsset(_:sha256:)``.
  /// - Throws: The errors of ``storeAsset(_:sha256:)``; `notFound` or `inputOutput` if the file cannot be read.
  /// - Complexity: O(*n*), where *n* is the size of the file. The file is not read if the asset is already stored and
  ///   intact.
  public func storeAsset(file: String, sha256: [UInt8]) async throws(DocumentError) {
    try checkWritable()
    guard (try? await asset(sha256)) == nil else { return }
    let bytes = try await Blocking.run(file) { try StoredAssets.read(file) }
    try await storeAsset(bytes, sha256: sha256)
  }

  /// Returns the asset with a hash, after checking it.
  /// - Throws: `notFound`; `damaged` if the asset no longer matches its hash. To repair it, call ``removeAsset(_:)``,
  ///   and store a copy from a peer.
  public func asset(_ sha256: [UInt8]) async throws(DocumentError) -> [UInt8] {
    try await read { [path] db in try StoredAssets.find(sha256, db, at: path) }
  }

  /// Returns the hashes of all assets.
  public func assetIDs() async throws(DocumentError) -> Set<[UInt8]> {
    try await read { db in try StoredAssets.hashes(db) }
  }

  /// Removes an asset that is damaged, or that no object shows.
  public func removeAsset(_ sha256: [UInt8]) async throws(DocumentError) {
    try await write { db in try StoredAssets.remove(sha256, db) }
  }
}

extension BoardDocument {
  /// Writes the whole document with its history to a new file.
  ///
  /// The document can be used while the copy is made. The copy has all entries that were appended before the call. The
  /// copy does not have the join code, the membership record or the removal record, because users share copies with
  /// others.
  /// - Throws: `exists`, `full`, `readOnly`, `damaged`, `closed`. If the method throws, there is no new file.
  public func save(as path: String) async throws(DocumentError) {
    try await prepareCopy()
    try await DocumentCopier(connection).copy(to: path)
  }

  /// Creates a document for a new board that begins with a state of this board.
  ///
  /// Records, batches and heads are signed for one board, so the new document does not have them. The new document has
  /// only the given state, and the given assets if this document has them. Permanently deleted data is not in the new
  /// document.
  /// - Throws: The errors of ``save(as:)``; `badName`, `wrongBoard`.
  public func duplicate(
    to path: String,
    board: [UInt8],
    name: String,
    keyframe bytes: [UInt8],
    digest: [UInt8],
    assets: Set<[UInt8]>,
    now: Int64
  ) async throws(DocumentError) {
    try DocumentName.check(name)
    try NewFile.check(board)
    try await prepareCopy()
    try await DocumentCopier(connection).copy(to: path) { db, tail in
      try DocumentCopier.beginBoard(board, name: name, keeping: assets, now: now, db)
      tail = LogTail()
      try LogWriter.keyframe(KeyframeBody(bytes), digest, nil, now, db, &tail)
    }
  }

  private func prepareCopy() async throws(DocumentError) {
    try checkOpen()
    // An empty group is a barrier: when the call returns, all earlier appends are in the file.
    if mode == .writing { _ = await enqueue([]) }
    try connection.files?.check()
  }
}

enum DocumentName {
  /// The maximum length of a name, in bytes of UTF-8.
  static let limit = 128

  static func check(_ name: String) throws(DocumentError) {
    guard !name.isEmpty, name.utf8.count <= limit, !name.utf8.contains(0) else {
      throw DocumentError(.badName, "a name must have 1 to \(limit) bytes; choose another name")
    }
  }
}

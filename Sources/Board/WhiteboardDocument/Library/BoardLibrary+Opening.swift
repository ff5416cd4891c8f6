import Foundation
import GRDB
import PeerCore
import Whiteboard

extension BoardLibrary {
  /// Opens the board with the given name for writing, and creates it if the library has none.
  ///
  /// If no board has that name, the board with that title is opened. If several boards have that title, the board that
  /// was hosted on this computer is opened. If two processes call this method at the same time, the second call finds
  /// the board of the first, and throws `inUse`.
  /// - Parameters:
  ///   - name: The name or title of the board.
  ///   - newBoard: The id for a new board, used if no board is found.
  ///   - now: Milliseconds since 1970.
  ///   - mayRead: Whether an existing board is opened for reading if its disk accepts no data; see
  ///     ``BoardDocument/obstacle``.
  /// - Returns: The open document.
  /// - Throws: `ambiguous` if several boards match; the error of an unreadable file that may be the board; the errors
  ///   of opening and creating a document.
  /// - Complexity: O(*n*), where *n* is the number of files. Only the board names are read from the files.
  public func open(named name: String, orMaking newBoard: [UInt8], now: Int64, orReading mayRead: Bool = false)
    async throws(DocumentError) -> BoardDocument
  {
    try await open(newBoard, name, now, mayRead, nil, .name(name)) { path in
      let parts = Self.nameParts(path)
      let isTagged = parts.tag.utf8.count == Self.tag(of: newBoard).utf8.count
      let stem = Self.stem(of: name)
      // Files of older versions are named `board` if the board's name has no letters from `a` to `z`.
      let isNamed = parts.stem == stem || parts.stem == "board" && stem.utf8.contains { $0 >= 0x80 }
      return isTagged && isNamed
    }
  }

  /// Opens the board with the given id for writing, and creates it if the library does not have it.
  ///
  /// - Parameters:
  ///   - board: The board's id.
  ///   - name: The name of the board, used if the board is created.
  ///   - now: Milliseconds since 1970.
  ///   - mayRead: Whether an existing board is opened for reading if its disk accepts no data; see
  ///     ``BoardDocument/obstacle``.
  ///   - reservation: The reservation of the board's file; nil if there is none.
  /// - Returns: The open document.
  /// - Throws: The errors of ``open(named:orMaking:now:orReading:)``.
  /// - Complexity: O(*n*), where *n* is the number of files. Only the board ids are read from the files.
  public func open(
    board: [UInt8],
    name: String,
    now: Int64,
    orReading mayRead: Bool = false,
    holding reservation: BoardReservation? = nil
  ) async throws(DocumentError) -> BoardDocument {
    try await open(board, name, now, mayRead, reservation, .board(board)) { path in
      Self.nameParts(path).tag == Self.tag(of: board)
    }
  }

  /// Reserves the file of a board, so that no other program opens it before this program does.
  ///
  /// - Returns: The reservation; nil if the library does not have the board, or its disk accepts no data.
  /// - Throws: `inUse` if another program has the board open; the errors of ``file(of:)``.
  public func reserve(board: [UInt8]) async throws(DocumentError) -> BoardReservation? {
    guard let path = try await file(of: board) else { return nil }
    do throws(DocumentError) { return try await Blocking.run(path) { try BoardReservation(path) } } catch {
      if error.code == .inUse { throw error }
      return nil
    }
  }

  /// Returns the path of the file of the board with the given name; nil if the library does not have the board.
  /// - Throws: The errors of ``open(named:orMaking:now:orReading:)``.
  public func file(named name: String) async throws(DocumentError) -> String? {
    try await Blocking.run(directory) { try find(.name(name)) { _ in false } }
  }

  /// Returns the path of a board's file; nil if the library does not have the board.
  /// - Throws: `inputOutput` if the directory cannot be read; `ambiguous` if several files hold the board.
  /// - Complexity: O(*n*), where *n* is the number of files. Only the board ids are read from the files.
  public func file(of board: [UInt8]) async throws(DocumentError) -> String? {
    try await Blocking.run(directory) { try find(.board(board)) { _ in false } }
  }

  /// Returns the paths of files whose board id cannot be read.
  /// - Throws: `inputOutput` if the directory cannot be read.
  /// - Complexity: O(*n*), where *n* is the number of files. Only the board ids are read from the files. With a
  ///   ``LibraryListing``, only the files that were unreadable for the listing are read again.
  public func unreadable() async throws(DocumentError) -> [String] {
    try await Blocking.run(directory) {
      let paths = try listing?.unreadable(in: directory) ?? Self.paths(in: directory)
      return paths.sorted().filter { (try? KnownBoards.board(of: $0)) == nil }
    }
  }

  /// Runs `body` to give a board a name, if no other board of the library has that name.
  ///
  /// While `body` runs, the library is locked, so that no other process finds or creates a board.
  /// - Parameters:
  ///   - name: The name.
  ///   - file: The path of the board's file, which may already have the name; nil if the file does not exist yet.
  ///   - body: A closure that gives the board the name.
  /// - Returns: The result of `body`.
  /// - Throws: `exists` if another board has the name; the errors of `body`.
  /// - Complexity: O(*n*), where *n* is the number of files. Only the board names are read from the files.
  public func giving<Result>(_ name: String, to file: String? = nil, _ body: () async throws(DocumentError) -> Result)
    async throws(DocumentError) -> Result
  {
    let directory = directory
    // If the directory is not writable, no program can create a board, so the lock is not needed.
    let lock = await LibraryLock.acquire(directory)
    defer { (try? lock.get())?.release() }
    let own = file.map { URL(fileURLWithPath: $0).resolvingSymlinksInPath() }
    let bearer = try await Blocking.run(directory) {
      try Self.paths(in: directory).sorted().first { path in
        (try? LibraryEntry(path))?.name == name && URL(fileURLWithPath: path).resolvingSymlinksInPath() != own
      }
    }
    guard bearer == nil else {
      throw DocumentError(.exists, "\(bearer ?? directory): a board with that name already exists; choose another name")
    }
    return try await body()
  }

  private func open(
    _ board: [UInt8],
    _ name: String,
    _ now: Int64,
    _ mayRead: Bool,
    _ reservation: BoardReservation?,
    _ sought: Sought,
    mayBe: @escaping @Sendable (_ path: String) -> Bool
  ) async throws(DocumentError) -> BoardDocument {
    let directory = directory
    let path: String
    // If the disk accepts no data, no program can create a board, so finding one needs no lock.
    let lock = await LibraryLock.acquire(directory)
    if !mayRead { _ = try lock.get() }
    let known = try await Blocking.run(directory) { try find(sought, mayBe: mayBe) }
    if let known {
      path = known
    } else {
      _ = try lock.get()
      path = self.path(name: name, board: board)
      try await NewFile.make(at: path, board: board, name: name, now: now) { _ in }
    }
    // From this point on, other processes can find the file.
    (try? lock.get())?.release()
    let seal = seal(forFile: path)
    guard mayRead else {
      return try await BoardDocument.open(at: path, mode: .writing, seal: seal, holding: reservation)
    }
    return try await BoardDocument.openForWritingOrReading(at: path, seal: seal, holding: reservation)
  }

  private enum Sought: Sendable {
    case board([UInt8])
    /// The name or, if no board has that name, the title.
    case name(String)
  }

  private func find(_ sought: Sought, mayBe: (_ path: String) -> Bool) throws -> String? {
    switch sought {
    case .board(let board):
      if let listing,
        let path = try Self.find(board, among: listing.candidates(for: board, in: directory), mayBe: mayBe)
      {
        return path
      }
      return try Self.find(board, among: Self.paths(in: directory), mayBe: mayBe)
    case .name(let name):
      let paths = try Self.paths(in: directory)
      return try Self.find(among: paths, where: { $0.name == name }, mayBe: mayBe)
        ?? Self.find(among: paths, where: { $0.title == name }, mayBe: { _ in false })
    }
  }

  private static func find(_ board: [UInt8], among paths: [String], mayBe: (_ path: String) -> Bool) throws -> String? {
    try find(
      among: paths,
      where: { $0.board == board },
      mayBe: mayBe,
      ifAlso: { path in try KnownBoards.board(of: path) == board }
    )
  }

  private static func find(
    among paths: [String],
    where isMeant: (LibraryEntry) -> Bool,
    mayBe: (_ path: String) -> Bool,
    ifAlso isCandidate: (_ path: String) throws -> Bool = { _ in true }
  ) throws -> String? {
    var meant: [LibraryEntry] = []
    var unreadable: [(path: String, error: any Error)] = []
    for path in paths.sorted() {
      do {
        guard try isCandidate(path) else { continue }
        let entry = try LibraryEntry(path)
        if isMeant(entry) { meant.append(entry) }
      } catch { if mayBe(path) { unreadable.append((path, error)) } }
    }
    // An unreadable file may be the requested board, unless its recovered copy was found. A new board could be a
    // duplicate of the unreadable file.
    if let first = unreadable.first(where: { file in !meant.contains { $0.path == Self.recoveredPath(of: file.path) } })
    {
      throw DocumentError.from(first.error, at: first.path)
    }
    let all = meant
    meant.removeAll { file in
      all.contains { $0.path == Self.recoveredPath(of: file.path) && $0.board == file.board }
        && Self.isKnownDamaged(file.path)
    }
    if meant.count > 1, meant.count(where: \.isHosted) == 1 { meant.removeAll { !$0.isHosted } }
    guard meant.count <= 1 else {
      throw DocumentError(
        .ambiguous,
        "\(meant.count) files hold a board of that name or id: "
          + "\(meant.prefix(4).map(\.path).joined(separator: ", ")); give the path of one file, "
          + "or move the others out of the directory"
      )
    }
    return meant.first?.path
  }

  /// Returns the path at which `boards recover` saves the data of a damaged file.
  public static func recoveredPath(of path: String) -> String {
    let ending = "." + fileExtension
    let stem = path.hasSuffix(ending) ? String(path.dropLast(ending.count)) : path
    return "\(stem)-recovered\(ending)"
  }

  /// Returns whether opening the file shows damage, or an existing copy shows that the file was damaged before.
  static func isKnownDamaged(_ path: String) -> Bool {
    guard DamagedCopies.all(of: path).isEmpty else { return true }
    guard let opened = try? OpenedDocument(path, .reading, expecting: nil) else { return true }
    defer { try? OpenFiles.close(opened.database) }
    return !opened.damages.isEmpty
  }

  /// Returns whether a file has the file name that is made from a board's name.
  ///
  /// Use this function for a file whose stored name cannot be read.
  public static func isFile(_ path: String, named name: String) -> Bool { nameParts(path).stem == stem(of: name) }

  /// Splits a file name that ``fileName(name:board:)`` made; both parts are empty for other names.
  private static func nameParts(_ path: String) -> (stem: Substring, tag: Substring) {
    let name = (path as NSString).lastPathComponent.dropLast(fileExtension.count + 1)
    guard let dash = name.lastIndex(of: "-") else { return ("", "") }
    return (name[..<dash], name[name.index(after: dash)...])
  }
}

/// The results of reading a library's files once, shared by callers that open many boards at the same time.
///
/// Without a listing, each caller reads the whole directory. Because a listing may be outdated, a file is read again
/// before it is opened. If the listing has no file of a board, the directory is read again.
public final class LibraryListing: Sendable {
  private struct Contents {
    var paths: [[UInt8]: [String]] = [:]
    var unreadable: [String] = []
  }

  private let read: @Sendable (_ path: String) throws -> [UInt8]
  private let contents = Locked<[String: Contents]>([:])

  /// Creates a listing; the files are read when the listing is first needed.
  public convenience init() { self.init { try KnownBoards.board(of: $0) } }

  init(_ read: @escaping @Sendable (_ path: String) throws -> [UInt8]) { self.read = read }

  /// Returns the files that may hold a board, including files that cannot be read. Blocks the thread.
  func candidates(for board: [UInt8], in directory: String) throws(DocumentError) -> [String] {
    let contents = try contents(of: directory)
    return (contents.paths[board, default: []] + contents.unreadable).filter { access($0, F_OK) == 0 }
  }

  func unreadable(in directory: String) throws(DocumentError) -> [String] { try contents(of: directory).unreadable }

  /// Only the first caller reads the files, and the other callers wait, on threads that may block.
  private func contents(of directory: String) throws(DocumentError) -> Contents {
    try contents.withLock { known throws(DocumentError) in
      if let contents = known[directory] { return contents }
      var contents = Contents()
      for path in try BoardLibrary.paths(in: directory) {
        if let board = try? read(path) {
          contents.paths[board, default: []].append(path)
        } else {
          contents.unreadable.append(path)
        }
      }
      known[directory] = contents
      return contents
    }
  }
}

struct LibraryEntry {
  let path: String
  let board: [UInt8]
  let name: String
  let title: String?
  let isHosted: Bool

  init(_ path: String) throws {
    try DocumentFile.checkAccess(path, .reading)
    let database = try Connector.connect(path, .reading)
    defer { try? OpenFiles.close(database) }
    let found = try database.read { db in
      try Schema.check(db, at: path)
      return (
        board: try Meta.get(db, .board, at: path), name: try Meta.get(db, .name, at: path),
        hosted: try Meta.get(db, .hosted, at: path),
        // A damaged title does not prevent finding the board by its name.
        title: try? Meta.get(db, .title, at: path)
      )
    }
    guard let board = found.board.flatMap({ Hexadecimal.decode($0) }), board.count == BoardDocument.boardIDLength else {
      throw DocumentError.damagedRow("the board's id", at: path)
    }
    self.path = path
    self.board = board
    name = found.name ?? ""
    title = found.title ?? nil
    isHosted = found.hosted != nil
  }
}

/// The ids of the boards in files that this process has read, so that a search does not read every file again.
enum KnownBoards {
  private struct Entry {
    let stamp: FileStamp
    let board: [UInt8]
  }

  private static let limit = 16_384

  private static let entries = Locked<[String: Entry]>([:])

  /// Returns the id of the board in a file; throws if the file cannot be read. Blocks the thread.
  static func board(of path: String) throws -> [UInt8] {
    let stamp = FileStamp(path)
    if let stamp, let known = entries.withLock({ $0[path] }) {
      // The changes of this process do not change the board's id.
      let isOwnChange = known.stamp.file == stamp.file && OpenFiles.holding(path) { $0 == .writing }
      if known.stamp == stamp || isOwnChange {
        if known.stamp != stamp { remember(known.board, path, stamp) }
        return known.board
      }
    }
    let board = try LibraryEntry(path).board
    if let stamp { remember(board, path, stamp) }
    return board
  }

  private static func remember(_ board: [UInt8], _ path: String, _ stamp: FileStamp) {
    entries.withLock { entries in
      if entries.count >= limit { entries = [:] }
      entries[path] = Entry(stamp: stamp, board: board)
    }
  }
}

/// A lock on a directory, held while a board is found or created. Waiting for the lock blocks no thread of a pool. The
/// callers of this process wait in a queue. The first caller in the queue waits for other processes on a separate
/// thread.
final class LibraryLock: Sendable {
  /// The callers that wait, by directory; a directory without an entry is not locked by this process.
  private static let queues = Locked<[String: [CheckedContinuation<Void, Never>]]>([:])

  private let directory: String
  private let descriptor: Locked<CInt?>

  private init(_ directory: String, _ descriptor: CInt) {
    self.directory = directory
    self.descriptor = Locked(descriptor)
  }

  /// Waits for the lock on a directory, in the order of the calls; fails if the directory accepts no lock file.
  static func acquire(_ directory: String) async -> Result<LibraryLock, DocumentError> {
    await enter(directory)
    let opened = await Blocking.result(directory) {
      let descriptor = open(directory + "/.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw DocumentError.creating(directory, "nothing was changed") }
      return descriptor
    }
    guard case .success(let descriptor) = opened else {
      leave(directory)
      return opened.map { LibraryLock(directory, $0) }
    }
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
          continuation.resume()
        }
      }
    }
    return .success(LibraryLock(directory, descriptor))
  }

  func release() {
    let held = descriptor.withLock { descriptor in
      defer { descriptor = nil }
      return descriptor
    }
    guard let held else { return }
    close(held)
    Self.leave(directory)
  }

  deinit { release() }

  private static func enter(_ directory: String) async {
    await withCheckedContinuation { continuation in
      let isFree = queues.withLock { queues in
        guard queues[directory] != nil else {
          queues[directory] = []
          return true
        }
        queues[directory]?.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  private static func leave(_ directory: String) {
    let next: CheckedContinuation<Void, Never>? = queues.withLock { queues in
      guard queues[directory]?.isEmpty == false else {
        queues[directory] = nil
        return nil
      }
      return queues[directory]?.removeFirst()
    }
    next?.resume()
  }
}

import Foundation
import GRDB
import Whiteboard

/// The library is the one place that knows which boards there are and what they are called: their
/// files say so themselves.
extension BoardLibrary {
  /// Opens for writing the board of that name, made where there is none yet.
  ///
  /// If no board has that name, the one of that title is meant. Of several boards of that name the one is
  /// meant that was hosted here. Two processes that do this
  /// at once get one board, and the second is told that it is open.
  /// - Parameters:
  ///   - name: What the board is called.
  ///   - newBoard: The id of the board that is made where none is called so.
  ///   - now: Milliseconds since 1970.
  ///   - mayRead: Whether an existing board is opened for reading if its disk accepts no data; see
  ///     ``BoardDocument/obstacle``.
  /// - Returns: The document, open for writing.
  /// - Throws: `ambiguous` where several boards are meant; the error of a file that may be the one and
  ///   cannot be read, which is not passed over; and what opening and making a document throw.
  /// - Complexity: O(n) in the files, of which only names are read.
  public func open(
    named name: String,
    orMaking newBoard: [UInt8],
    now: Int64,
    orReading mayRead: Bool = false
  ) async throws(DocumentError) -> BoardDocument {
    try await open(newBoard, name, now, mayRead) { file in
      file.name == name
    } mayBe: { path in
      let parts = Self.nameParts(path)
      let isTagged = parts.tag.utf8.count == Self.tag(of: newBoard).utf8.count
      return isTagged && parts.stem == Self.stem(of: name)
    } orElse: { file in
      file.title == name
    }
  }

  /// Opens for writing the board of that id, made where there is none yet.
  ///
  /// - Parameters:
  ///   - board: Its id.
  ///   - name: What it is called where it is made.
  ///   - now: Milliseconds since 1970.
  ///   - mayRead: Whether an existing board is opened for reading if its disk accepts no data; see
  ///     ``BoardDocument/obstacle``.
  /// - Returns: The document, open for writing.
  /// - Throws: As ``open(named:orMaking:now:orReading:)``.
  /// - Complexity: O(n) in the files, of which only ids are read.
  public func open(
    board: [UInt8],
    name: String,
    now: Int64,
    orReading mayRead: Bool = false
  ) async throws(DocumentError) -> BoardDocument {
    try await open(board, name, now, mayRead) { file in
      file.board == board
    } mayBe: { path in
      Self.nameParts(path).tag == Self.tag(of: board)
    }
  }

  /// The file of a board, or nil if the library does not have it.
  /// - Throws: `inputOutput` if the directory cannot be read; `ambiguous` if several files hold the
  ///   board.
  /// - Complexity: O(n) in the number of files; only their ids are read.
  public func file(of board: [UInt8]) async throws(DocumentError) -> String? {
    let directory = directory
    return try await Blocking.run(directory) {
      try Self.find(in: directory) {
        $0.board == board
      } mayBe: { _ in
        false
      }
    }
  }

  /// The files that do not tell which board they are of.
  /// - Throws: `inputOutput` where the directory cannot be read.
  /// - Complexity: O(n) in the files, of which only ids are read.
  public func unreadable() async throws(DocumentError) -> [String] {
    let directory = directory
    return try await Blocking.run(directory) {
      try Self.paths(in: directory).sorted().filter { (try? Identity($0)) == nil }
    }
  }

  /// Gives a board a name that no board of the library has, while nobody else looks for one or makes
  /// one.
  /// - Parameters:
  ///   - name: The name.
  ///   - file: The file of the board that gets it, which may have it; nil where there is none yet.
  ///   - body: Gives it.
  /// - Returns: What `body` does.
  /// - Throws: `exists` where another board is called so; what `body` throws.
  /// - Complexity: O(n) in the files, of which only names are read.
  public func giving<Result>(
    _ name: String,
    to file: String? = nil,
    _ body: () async throws(DocumentError) -> Result
  ) async throws(DocumentError) -> Result {
    let directory = directory
    // If the directory is not writable, no program can create a board.
    let lock = await Blocking.result(directory) { try LibraryLock(directory) }
    defer { (try? lock.get())?.release() }
    let own = file.map { URL(fileURLWithPath: $0).resolvingSymlinksInPath() }
    let bearer = try await Blocking.run(directory) {
      try Self.paths(in: directory).sorted().first { path in
        (try? Identity(path))?.name == name
          && URL(fileURLWithPath: path).resolvingSymlinksInPath() != own
      }
    }
    guard bearer == nil else {
      throw DocumentError(
        .exists,
        "\(bearer ?? directory): there is a board of that name; choose another"
      )
    }
    return try await body()
  }

  private func open(
    _ board: [UInt8],
    _ name: String,
    _ now: Int64,
    _ mayRead: Bool,
    where isMeant: @escaping @Sendable (Identity) -> Bool,
    mayBe: @escaping @Sendable (_ path: String) -> Bool,
    orElse isAlsoMeant: @escaping @Sendable (Identity) -> Bool = { _ in false }
  ) async throws(DocumentError) -> BoardDocument {
    let directory = directory
    let path: String
    // On a disk that accepts no data, no program can create a board.
    let lock = await Blocking.result(directory) { try LibraryLock(directory) }
    if !mayRead { _ = try lock.get() }
    let known = try await Blocking.run(directory) {
      try Self.find(in: directory, where: isMeant, mayBe: mayBe)
        ?? Self.find(in: directory, where: isAlsoMeant, mayBe: { _ in false })
    }
    if let known {
      path = known
    } else {
      _ = try lock.get()
      path = self.path(name: name, board: board)
      try await NewFile.make(at: path, board: board, name: name, now: now) { _ in }
    }
    // From here on the file is found by whoever looks.
    (try? lock.get())?.release()
    guard mayRead else { return try await BoardDocument.open(at: path, mode: .writing) }
    return try await BoardDocument.openForWritingOrReading(at: path)
  }

  /// The one file that is meant.
  private static func find(
    in directory: String,
    where isMeant: (Identity) -> Bool,
    mayBe: (_ path: String) -> Bool
  ) throws -> String? {
    var meant: [Identity] = []
    var unreadable: [(path: String, error: any Error)] = []
    for path in try paths(in: directory).sorted() {
      do {
        let identity = try Identity(path)
        if isMeant(identity) { meant.append(identity) }
      } catch {
        if mayBe(path) { unreadable.append((path, error)) }
      }
    }
    // If no file is found, the unreadable one may be the board. A new board would be a second one.
    if let first = unreadable.first(where: { file in
      !meant.contains { $0.path == Self.recoveredPath(of: file.path) }
    }) {
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
          + "\(meant.prefix(4).map(\.path).joined(separator: ", ")); give the file, or move all but "
          + "one out of the directory"
      )
    }
    return meant.first?.path
  }

  /// The path at which `boards recover` saves the data of a damaged file.
  public static func recoveredPath(of path: String) -> String {
    let ending = "." + fileExtension
    let stem = path.hasSuffix(ending) ? String(path.dropLast(ending.count)) : path
    return "\(stem)-recovered\(ending)"
  }

  /// Whether opening a file shows damage, or copies show that it was damaged before.
  static func isKnownDamaged(_ path: String) -> Bool {
    guard KeptAside.copies(of: path).isEmpty else { return true }
    guard let opened = try? Opened(path, .reading, expecting: nil) else { return true }
    defer { try? OpenFiles.close(opened.database) }
    return !opened.damages.isEmpty
  }

  /// Whether the file name is one that a board of that name gets.
  ///
  /// It identifies a file whose stored name cannot be read.
  public static func isFile(_ path: String, named name: String) -> Bool {
    nameParts(path).stem == stem(of: name)
  }

  /// The parts of a file name that ``fileName(name:board:)`` made; empty where it did not.
  private static func nameParts(_ path: String) -> (stem: Substring, tag: Substring) {
    let name = (path as NSString).lastPathComponent.dropLast(fileExtension.count + 1)
    guard let dash = name.lastIndex(of: "-") else { return ("", "") }
    return (name[..<dash], name[name.index(after: dash)...])
  }
}

/// What a document says that it is, read without looking at the rest of it.
private struct Identity {
  let path: String
  let board: [UInt8]
  let name: String
  let title: String?
  let isHosted: Bool

  init(_ path: String) throws {
    try Opened.checkFile(path, .reading)
    let database = try Opened.connect(path, .reading)
    defer { try? OpenFiles.close(database) }
    let found = try database.read { db in
      try Schema.check(db, at: path)
      return (
        board: try Meta.get(db, .board, at: path), name: try Meta.get(db, .name, at: path),
        hosted: try Meta.get(db, .hosted, at: path),
        // A damaged title is no reason not to find the board by its name.
        title: try? Meta.get(db, .title, at: path)
      )
    }
    guard let board = found.board.flatMap({ Hexadecimal.decode($0) }),
      board.count == BoardDocument.boardIDLength
    else { throw DocumentError.damagedRow("the board's id", at: path) }
    self.path = path
    self.board = board
    name = found.name ?? ""
    title = found.title ?? nil
    isHosted = found.hosted != nil
  }
}

/// Holds off other processes while a board is looked for and made.
private final class LibraryLock: Sendable {
  private let descriptor: CInt

  /// Waits for the lock of a directory; blocks as long as others look for a board.
  init(_ directory: String) throws(DocumentError) {
    descriptor = open(directory + "/.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw DocumentError.creating(directory, "nothing was changed")
    }
    while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
  }

  /// Lets the next one in.
  func release() { flock(descriptor, LOCK_UN) }

  deinit { close(descriptor) }
}

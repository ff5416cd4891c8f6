import Foundation
import GRDB
import PeerCore
import Whiteboard

/// Information about one file of a library.
public struct DocumentSummary: Hashable, Sendable {
  /// The path of the file.
  public let path: String
  /// The board's name; if it cannot be read, the name of the file.
  public let name: String
  /// The title that members gave the board; nil if it has none.
  public let title: String?
  /// The board's id; nil if it cannot be read.
  public let board: [UInt8]?
  /// The number of objects on the board, as of the last keyframe; nil if the file does not contain the number.
  public let objects: Int?
  /// Whether the file has changes that ``objects`` and ``people`` do not include yet.
  public let isOutdated: Bool
  /// The names of the users who drew on the board, as of the last keyframe.
  public let people: [String]
  /// The time of the last change, in milliseconds since 1970.
  public let changed: Int64
  /// The size of the file and its WAL file, in bytes.
  public let size: Int64
  /// A small picture of the board, as SVG.
  public let thumbnail: String?
  /// The error that keeps the file from being read; nil if the file can be read.
  public let error: DocumentError?
  /// A description of the known damage, with the names of the copies of damaged files and the remedy; nil if no damage
  /// is known.
  ///
  /// A listing reads the whole WAL file, but not the whole database file. Therefore nil does not mean that the file is
  /// undamaged.
  public let damage: String?

  /// A hash of the path and of the values that change when the file is written.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(path)
    hasher.combine(changed)
    hasher.combine(size)
  }
}

/// The documents in a directory.
///
/// Listing opens no document for writing, and an unreadable document does not affect the others.
public struct BoardLibrary: Sendable {
  /// The conditions that a document must meet to be listed.
  public struct Filter: Hashable, Sendable {
    /// A string that the name or the title must contain; case does not matter.
    public var text: String?
    /// The earliest time of the last change, in milliseconds since 1970.
    public var since: Int64?
    /// The name of a user who must have drawn on the board.
    public var person: String?

    /// Creates a filter; a document must meet all conditions that are not nil.
    public init(text: String? = nil, since: Int64? = nil, person: String? = nil) {
      self.text = text
      self.since = since
      self.person = person
    }

    /// Returns whether a document meets all conditions of the filter.
    public func passes(_ summary: DocumentSummary) -> Bool {
      if let text {
        let names = [summary.name, summary.title ?? ""]
        guard names.contains(where: { $0.lowercased().contains(text.lowercased()) }) else { return false }
      }
      if let since, summary.changed < since { return false }
      if let person, !summary.people.contains(person) { return false }
      return true
    }
  }

  /// The order in which documents are listed.
  public enum Order: String, CaseIterable, Hashable, Sendable {
    case name
    /// By the time of the last change, the newest first.
    case changed
    /// By size, the largest first.
    case size
    /// By the number of objects, the largest number first.
    case objects
  }

  /// The file name extension of documents.
  public static let fileExtension = "whiteboard"

  /// The path of the library's directory.
  public let directory: String
  private let seal: DocumentSeal?
  let listing: LibraryListing?

  /// Creates a library for a directory.
  ///
  /// The directory does not have to exist yet.
  /// - Parameters:
  ///   - directory: The path of the directory.
  ///   - seal: The seal of the facts that the program writes to files and uses; nil if the program does not use such
  ///     facts.
  ///   - listing: The results of reading the files, shared with other libraries of the same directory; nil if each call
  ///     reads the files.
  public init(directory: String, seal: DocumentSeal? = nil, listing: LibraryListing? = nil) {
    self.directory = directory
    self.seal = seal
    self.listing = listing
  }

  /// Returns the seal with which to open a file, which may be outside the library.
  public func seal(forFile path: String) -> DocumentSeal? { seal?.forFile(path, inLibrary: directory) }

  /// Returns the file name for a board, made from the board's name and a part of its id.
  ///
  /// Names come from users and peers, so the file name has only letters of any script, digits and `-`.
  public static func fileName(name: String, board: [UInt8]) -> String {
    "\(stem(of: name))-\(tag(of: board)).\(fileExtension)"
  }

  /// Returns a file name that consists of the characters of a board's name that are safe in file names.
  static func stem(of name: String) -> String {
    var safe = ""
    for character in name.lowercased().unicodeScalars.prefix(200) {
      if isSafe(character, after: safe.unicodeScalars.last) {
        safe.unicodeScalars.append(character)
      } else if safe.last != "-" {
        safe += "-"
      }
    }
    var words = safe.split(separator: "-").joined(separator: "-").prefix(40)
    // A file name has at most 255 bytes.
    while words.utf8.count > 56 { words.removeLast() }
    return words.isEmpty ? "board" : String(words)
  }

  private static func isSafe(_ scalar: Unicode.Scalar, after before: Unicode.Scalar?) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber: true
    // A combining mark belongs to the letter before it.
    case .nonspacingMark, .spacingMark: before.map { $0 != "-" } ?? false
    default: false
    }
  }

  /// Returns the part of a board's id that its file name contains.
  static func tag(of board: [UInt8]) -> String { Base32.encode(Array(board.prefix(5))) }

  /// Returns the path for the document of a board.
  public func path(name: String, board: [UInt8]) -> String { directory + "/" + Self.fileName(name: name, board: board) }

  /// Lists the documents.
  ///
  /// A file that is damaged, or is not a document, is listed with its error.
  /// - Throws: `inputOutput` if the directory cannot be read. If the directory does not exist, the list is empty.
  public func list(_ filter: Filter = Filter(), by order: Order = .name) async throws(DocumentError)
    -> [DocumentSummary]
  {
    let directory = directory
    return try await Blocking.run(directory) {
      try Self.paths(in: directory).map(Self.summary).filter(filter.passes).sorted { Self.precedes($0, $1, order) }
    }
  }

  /// Returns a stream of changes: the documents that are added, changed and removed, until the task is canceled.
  ///
  /// The stream begins with the existing documents, as `added`. If a document changes several times before the next
  /// element is read, the stream reports one change. The stream buffers at most one element for each file.
  /// - Parameter interval: The minimum time between two scans of the directory.
  /// - Returns: The stream of changes, which supports only one reader.
  public func watch(interval: Duration = .milliseconds(200)) -> AsyncStream<LibraryChange> {
    let watcher = LibraryWatcher(directory, interval)
    return AsyncStream { await watcher.next() }
  }

  private static func precedes(_ lhs: DocumentSummary, _ rhs: DocumentSummary, _ order: Order) -> Bool {
    let byName = (lhs.name.lowercased(), lhs.path) < (rhs.name.lowercased(), rhs.path)
    func descending<T: Comparable>(_ left: T, _ right: T) -> Bool { left == right ? byName : left > right }
    return switch order {
    case .name: byName
    case .changed: descending(lhs.changed, rhs.changed)
    case .size: descending(lhs.size, rhs.size)
    case .objects: descending(lhs.objects ?? 0, rhs.objects ?? 0)
    }
  }

  static func paths(in directory: String) throws(DocumentError) -> [String] {
    var status = stat()
    guard stat(directory, &status) == 0 || errno != ENOENT else { return [] }
    do {
      return try FileManager.default.contentsOfDirectory(atPath: directory).filter {
        $0.hasSuffix("." + fileExtension) && !$0.hasPrefix(".")
      }.map { directory + "/" + $0 }
    } catch { throw DocumentError(.inputOutput, "\(directory): it cannot be read", cause: error) }
  }

  static func summary(_ path: String) -> DocumentSummary {
    var status = stat()
    let isThere = stat(path, &status) == 0
    var size = isThere ? Int64(status.st_size) : 0
    let modified = isThere ? Int64(status.st_mtim.tv_sec) * 1000 : 0
    // While a document is open, its newest data is in the WAL file.
    var log = stat()
    if stat(path + "-wal", &log) == 0 { size += Int64(log.st_size) }
    do {
      let opened = try OpenedDocument(path, .reading, expecting: nil)
      defer { try? OpenFiles.close(opened.database) }
      return try opened.database.writeWithoutTransaction { db in
        let last = try Int64.fetchOne(db, sql: "SELECT time FROM log ORDER BY id DESC LIMIT 1")
        let changed = try Meta.get(db, .changed, at: path).flatMap { Int64($0) }
        let lastEntry = try Int64.fetchOne(db, sql: "SELECT MAX(id) FROM log")
        let lastKeyframe = try Int64.fetchOne(db, sql: "SELECT MAX(log) FROM keyframe")
        let counted = try Meta.get(db, .objects, at: path).flatMap { Int($0) }
        // The program may have ended before it wrote the first summary, or after it wrote the summary of the empty
        // board.
        let isOutdated = lastEntry.map { counted == nil || $0 > lastKeyframe ?? 0 } ?? false
        return DocumentSummary(
          path: path,
          name: try Meta.get(db, .name, at: path) ?? "",
          title: try Meta.get(db, .title, at: path),
          board: opened.board,
          objects: isOutdated && counted ?? 0 == 0 ? nil : counted ?? 0,
          isOutdated: isOutdated,
          people: try StoredSummary.people(db, at: path),
          changed: max(last ?? 0, changed ?? 0),
          size: size,
          thumbnail: try StoredThumbnail.get(db, at: path),
          error: nil,
          damage: damage(of: path, opened.damages)
        )
      }
    } catch {
      return DocumentSummary(
        path: path,
        name: ((path as NSString).lastPathComponent as NSString).deletingPathExtension,
        title: nil,
        board: nil,
        objects: nil,
        isOutdated: false,
        people: [],
        changed: modified,
        size: size,
        thumbnail: nil,
        error: .from(error, at: path),
        damage: damage(of: path, [], isUnreadable: true)
      )
    }
  }

  private static func damage(of path: String, _ found: [String], isUnreadable: Bool = false) -> String? {
    let recovered = recoveredPath(of: path)
    let isDamaged = isUnreadable || !found.isEmpty || !DamagedCopies.all(of: path).isEmpty
    if isDamaged, access(recovered, F_OK) == 0 {
      return "The file was damaged. Its recovered data is in \(recovered). Move the damaged file "
        + "and its copies somewhere else."
    }
    let recover = "run: whiteboard-peer boards recover \(shellQuoted(path))"
    if let first = found.first { return "\(first) To save what can still be read of the file, \(recover)" }
    return DamagedCopies.all(of: path).last.map { copy in
      "The file was damaged, and some changes may be missing. A copy is saved as \(copy). When the data is saved, "
        + "move the copy somewhere else. To save what can still be read of both files, \(recover)"
    }
  }
}

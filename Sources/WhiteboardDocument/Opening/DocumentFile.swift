import Foundation

/// The file of a document on the disk, and its WAL file and journal, examined without SQLite.
enum DocumentFile {
  /// Returns the path of the file itself, after following a symbolic link.
  ///
  /// The lock file and the WAL file are in the directory of the file itself, not in that of a symbolic link to it.
  static func resolved(_ path: String) -> String {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, let real = realpath(path, nil) else {
      return path
    }
    defer { free(real) }
    return String(cString: real)
  }

  /// Checks that there is a file at `path` that this process can open in the given mode; throws `notFound`,
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

  /// Checks that SQLite cannot remove another file when it rolls back the journal.
  ///
  /// A journal can end with the name of another file, and SQLite removes that file. The journals of this program
  /// contain no such name.
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

  /// Checks that the file is not empty.
  ///
  /// SQLite deletes the WAL file and the journal of an empty file, even if it opens the file only for reading.
  static func checkNotEmpty(of path: String) throws(DocumentError) {
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

  /// Describes damage to the version bytes in the file's header that prevents programs from writing the file; nil if
  /// there is none, if the file is not an SQLite database, or if this process has it open.
  ///
  /// If byte 18 is greater than 2, SQLite can only read the file. If byte 19 is greater than 2, SQLite cannot open it
  /// at all.
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

import Foundation

/// The files of an open document: the database file and its WAL file.
///
/// A process can still write to an open file that was removed, or whose disk was unmounted. A document therefore
/// compares the files at its path with the files that it opened.
struct StoredFiles: Sendable {
  private let path: String
  private let database: FileIdentity?
  private let log: FileIdentity?
  private let directory: FileIdentity?

  /// Records the identities of the files that are at `path` now.
  init(_ path: String) {
    self.path = path
    database = FileIdentity(path)
    log = FileIdentity(path + "-wal")
    directory = FileIdentity((path as NSString).deletingLastPathComponent)
  }

  /// Whether the files at the path are the ones that were opened.
  var areThere: Bool { database != nil && FileIdentity(path) == database && FileIdentity(path + "-wal") == log }

  /// Whether the file can be recreated: its directory is on the same file system as before, and no other file has its
  /// name.
  var canBeMade: Bool {
    let parent = FileIdentity((path as NSString).deletingLastPathComponent)
    return parent != nil && parent?.device == directory?.device && FileIdentity(path) == nil
  }

  /// Checks that the files are still at their path.
  ///
  /// - Throws: ``DocumentError`` with the code `removed`.
  func check() throws(DocumentError) { guard areThere else { throw .removed(path) } }
}

import Foundation

/// The files that an open document is in: the database, and the log beside it.
///
/// A file that was removed, or whose disk was unmounted, can still be written to by those who have it
/// open. A document therefore compares the files at its path with the ones it opened.
struct StoredFiles: Sendable {
  /// A file as the kernel tells it from all others.
  private struct Identity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64

    /// The file at `path`; nil if there is none.
    init?(_ path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      device = UInt64(status.st_dev)
      inode = UInt64(status.st_ino)
    }
  }

  private let path: String
  private let database: Identity?
  private let log: Identity?
  private let directory: Identity?

  /// The files that are at `path` now.
  init(_ path: String) {
    self.path = path
    database = Identity(path)
    log = Identity(path + "-wal")
    directory = Identity((path as NSString).deletingLastPathComponent)
  }

  /// Whether the files at the path are the ones that were opened.
  var areThere: Bool {
    database != nil && Identity(path) == database && Identity(path + "-wal") == log
  }

  /// Whether the file can be made again: its directory is on the same file system as before, and no
  /// other file has taken its name.
  var canBeMade: Bool {
    let parent = Identity((path as NSString).deletingLastPathComponent)
    return parent != nil && parent?.device == directory?.device && Identity(path) == nil
  }

  /// Checks that the files are there.
  ///
  /// - Throws: ``DocumentError`` with the code `removed`.
  func check() throws(DocumentError) {
    guard areThere else { throw .removed(path) }
  }
}

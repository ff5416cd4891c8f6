import Foundation

/// The identity does not depend on the file's name.
struct FileIdentity: Hashable, Sendable {
  let device: UInt64
  let inode: UInt64

  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  init?(descriptor: CInt) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  private init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }
}

/// A file whose inode number the kernel gives to no other file while this object exists.
///
/// Without this object, a new file can get the inode number of a removed file as soon as the removed file is closed,
/// and the two files have the same ``FileIdentity``.
final class ReservedInode: Sendable {
  let identity: FileIdentity
  /// A descriptor that was opened with `O_PATH`; -1 if the file could not be opened.
  private let descriptor: CInt

  /// `O_PATH`, which Swift does not import: the descriptor refers to the file without opening it, so closing it
  /// releases no locks.
  private static let pathOnly: CInt = 0x20_0000

  /// Reserves the inode number of the file at `path`; nil if there is no file.
  init?(_ path: String) {
    descriptor = open(path, Self.pathOnly | O_CLOEXEC)
    let found = descriptor >= 0 ? FileIdentity(descriptor: descriptor) : FileIdentity(path)
    guard let found else {
      if descriptor >= 0 { close(descriptor) }
      return nil
    }
    identity = found
  }

  deinit { if descriptor >= 0 { close(descriptor) } }
}

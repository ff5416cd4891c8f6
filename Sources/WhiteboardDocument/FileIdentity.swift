import Foundation

/// The identity of a file or directory in the kernel, which does not depend on its name.
struct FileIdentity: Hashable, Sendable {
  let device: UInt64
  let inode: UInt64

  /// Reads the identity of the file at `path`; nil if there is no file.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }
}

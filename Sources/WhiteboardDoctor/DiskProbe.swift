import WhiteboardKit

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

enum DiskProbe {
  /// Writes a few blocks to a temporary file in a directory, and removes the file; returns the error number of the
  /// failed attempt; nil if the data reached the disk.
  static func writeFailure(in directory: String) -> Int32? {
    let path = "\(directory)/.whiteboard-test-\(getpid())"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return errno }
    defer {
      close(descriptor)
      unlink(path)
    }
    let bytes = [UInt8](repeating: 0x5A, count: 65_536)
    if let number = FileWriting.writeAll(bytes, to: descriptor) { return number }
    return fsync(descriptor) == 0 ? nil : errno
  }

  static func advice(for number: Int32, _ shown: String) -> String {
    switch number {
    case ENOSPC, EDQUOT: "Free some space, or choose another directory with --data-dir."
    case EROFS:
      "Make the disk writable (sudo mount -o remount,rw MOUNTPOINT; findmnt -T \(shown) shows the mount "
        + "point), or choose another directory with --data-dir."
    case EACCES, EPERM: "Run: chmod -R u+rwX \(shown)"
    default: "Check the disk, or choose another directory with --data-dir."
    }
  }
}

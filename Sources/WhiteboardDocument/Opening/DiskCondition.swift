import Foundation

/// The conditions in which a disk accepts no data.
enum DiskCondition {
  /// Returns the error code for the `errno` of a failed write; nil if the cause is unknown.
  static func code(_ number: Int32) -> DocumentError.Code? {
    switch number {
    case ENOSPC: .full
    case EDQUOT: .quota
    case EROFS, EACCES, EPERM: .readOnly
    case EIO: .inputOutput
    default: nil
    }
  }

  /// Returns the message for the `errno` of a failed write; nil if the cause is unknown.
  static func words(_ number: Int32) -> String? {
    switch number {
    case ENOSPC: "the disk is full; saved changes are not lost; free some space"
    case EDQUOT: "the disk quota is used up; saved changes are not lost; free some space"
    case EROFS: "the disk is read-only; saved changes are not lost; make it writable, or save a copy elsewhere"
    case EACCES, EPERM:
      "the file is not writable; saved changes are not lost; make it writable, or save a copy elsewhere"
    case EIO: "the disk reports an error; unacknowledged changes were not saved"
    default: nil
    }
  }

  /// Returns the `errno` that a write to the file at `path` would cause now, judging by the state of its disk; 0 if no
  /// reason for a failure is apparent.
  ///
  /// SQLite does not always report the `errno` of a failed call.
  static func systemError(at path: String) -> Int32 {
    var status = statvfs()
    let directory = (path as NSString).deletingLastPathComponent
    guard statvfs(path, &status) == 0 || statvfs(directory.isEmpty ? "." : directory, &status) == 0 else { return 0 }
    if status.f_flag & UInt(ST_RDONLY) != 0 { return EROFS }
    return status.f_blocks > 0 && status.f_bavail == 0 ? ENOSPC : 0
  }
}

extension DocumentError {
  /// Creates the error for a file that could not be created or opened for writing, from `errno`.
  ///
  /// - Parameters:
  ///   - path: The file or directory that the message names.
  ///   - rest: The rest of the message after the cause; nil uses the usual advice for the cause.
  /// - Returns: The error. Its message begins with the cause.
  static func creating(_ path: String, _ rest: String? = nil) -> DocumentError {
    let number = errno
    let words = DiskCondition.words(number) ?? String(cString: strerror(number))
    let message = rest.map { "\(words.prefix { $0 != ";" }); \($0)" } ?? words
    return DocumentError(DiskCondition.code(number) ?? .readOnly, "\(path): \(message)")
  }
}

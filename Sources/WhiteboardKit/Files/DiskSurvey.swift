#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// Descriptions of the reasons why a file system does not accept data.
package enum DiskSurvey {
  static func creationFailure(of directory: String) -> String {
    guard mkdir(directory, 0o700) != 0 else { return "it did not exist" }
    return words(for: errno)
  }

  /// Returns the reason why a disk does not accept data, in everyday words.
  package static func words(for number: Int32) -> String {
    switch number {
    case ENOSPC: "the disk is full"
    case EDQUOT: "the disk quota is used up"
    case EROFS: "the disk is read-only"
    default: SystemError.words(for: number)
    }
  }
}

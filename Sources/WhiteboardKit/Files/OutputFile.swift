import PeerCore

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

package enum OutputFile {
  /// The reason why the file was not written.
  package enum WriteError: Error, Equatable, Sendable {
    case exists(String)
    /// The path exists, but is not a regular file.
    case noFile(String)
    /// The system refused to write the file, for the given reason.
    case unwritable(String, why: String)

    /// The problem, in words that are safe to display.
    package var message: String {
      switch self {
      case .exists(let path): "\(Self.shown(path)) already exists"
      case .noFile(let path): "\(Self.shown(path)) is not a regular file"
      case .unwritable(let path, let why): "\(Self.shown(path)) cannot be written: \(why)"
      }
    }

    private static func shown(_ path: String) -> String { UntrustedText(path).quoted(limit: 256) }
  }

  /// Writes a file under a temporary name and then renames it, so that no program reads an incomplete file; if it
  /// throws ``WriteError``, an existing file is unchanged.
  package static func write(_ bytes: [UInt8], to path: String, isReplacing: Bool) throws(WriteError) {
    try check(path, isReplacing: isReplacing)
    let beside = "\(path).\(UInt64.random(in: 0...UInt64.max)).part"
    let descriptor = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw refused(path, errno) }
    var failure = FileWriting.writeAll(bytes, to: descriptor)
    if close(descriptor) != 0, failure == nil { failure = errno }
    if failure == nil { failure = name(beside, path, isReplacing: isReplacing) }
    guard let failure else { return }
    unlink(beside)
    throw failure == EEXIST ? .exists(path) : refused(path, failure)
  }

  /// Checks whether a file can be written to a path, before its contents are created; throws if the file cannot be
  /// written.
  package static func check(_ path: String, isReplacing: Bool) throws(WriteError) {
    var status = stat()
    guard stat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .noFile(path) }
    guard isReplacing else { throw .exists(path) }
  }

  /// Renames a file; returns the system's error number if that fails.
  private static func name(_ beside: String, _ path: String, isReplacing: Bool) -> Int32? {
    // `link` fails if another program created the file meanwhile; `rename` would replace that file.
    if !isReplacing {
      if link(beside, path) == 0 {
        unlink(beside)
        return nil
      }
      // Some file systems do not support hard links.
      guard errno == EPERM || errno == ENOTSUP else { return errno }
    }
    return rename(beside, path) == 0 ? nil : errno
  }

  private static func refused(_ path: String, _ number: Int32) -> WriteError {
    .unwritable(path, why: SystemError.words(for: number))
  }
}

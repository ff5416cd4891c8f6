import WhiteboardRendering

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// A file that is written completely or not at all.
package enum OutputFile {
  /// The reason why the file was not written.
  package enum WriteError: Error, Equatable, Sendable {
    /// A file with this name exists.
    case exists(String)
    /// The name belongs to something else than a regular file.
    case noFile(String)
    /// The system refuses to write the file, for a reason.
    case unwritable(String, why: String)

    /// The problem, safe for display.
    package var message: String {
      switch self {
      case .exists(let path): "\(Self.shown(path)) already exists"
      case .noFile(let path): "\(Self.shown(path)) is not a regular file"
      case .unwritable(let path, let why): "\(Self.shown(path)) cannot be written: \(why)"
      }
    }

    private static func shown(_ path: String) -> String {
      TerminalText.quoted(path, limit: 256)
    }
  }

  /// Writes a file under a temporary name and then renames it, so that no program reads half of it.
  ///
  /// - Parameters:
  ///   - bytes: The contents.
  ///   - path: The path of the file.
  ///   - isReplacing: Whether it may replace an existing file.
  /// - Throws: ``WriteError``; an existing file is then unchanged.
  package static func write(
    _ bytes: [UInt8],
    to path: String,
    isReplacing: Bool
  ) throws(WriteError) {
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

  /// Checks that a file can be written to a path, before its contents are made.
  ///
  /// - Throws: ``WriteError`` if it cannot.
  package static func check(_ path: String, isReplacing: Bool) throws(WriteError) {
    var status = stat()
    guard stat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .noFile(path) }
    guard isReplacing else { throw .exists(path) }
  }

  /// Renames a file; returns the system error if that fails.
  private static func name(_ beside: String, _ path: String, isReplacing: Bool) -> Int32? {
    // A link fails if another program created the file meanwhile; a rename would replace it.
    if !isReplacing {
      if link(beside, path) == 0 {
        unlink(beside)
        return nil
      }
      // Some file systems have no links.
      guard errno == EPERM || errno == ENOTSUP else { return errno }
    }
    return rename(beside, path) == 0 ? nil : errno
  }

  private static func refused(_ path: String, _ number: Int32) -> WriteError {
    .unwritable(path, why: SystemError.words(for: number))
  }
}

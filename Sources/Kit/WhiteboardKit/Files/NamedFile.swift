import Dispatch
import FoundationEssentials
import PeerCore
import PeerSession

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

struct NamedFile: Equatable, Sendable {
  let path: String
  let name: String
  static let limit = 10_000

  // MARK: - Sending

  /// Returns the files at the paths, and all files in folders among the paths. The name of a file in a folder is the
  /// path that begins with the folder. Skips symbolic links in folders. Throws if a path does not exist, a folder
  /// contains no files, or there are more than ``limit`` files (`tooBig`).
  static func files(at paths: [String]) async throws(CommandError) -> [NamedFile] {
    try await FileQueue.run { () throws(CommandError) in try found(at: paths) }
  }

  private static func found(at paths: [String]) throws(CommandError) -> [NamedFile] {
    var files: [NamedFile] = []
    for path in paths {
      let trimmed = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
      let name = String(trimmed.split(separator: "/").last ?? "files")
      guard kind(of: path) == S_IFDIR else {
        try FileReading.check(path)
        files.append(NamedFile(path: path, name: name))
        continue
      }
      guard let inside = try? FileManager.default.subpathsOfDirectory(atPath: path) else {
        throw CommandError(.fileUnreadable, "\(UntrustedText(path).quoted(limit: 256)) cannot be read")
      }
      let found = inside.sorted().filter { kind(of: "\(trimmed)/\($0)", followsLinks: false) == S_IFREG }
      guard !found.isEmpty else {
        throw CommandError(.fileUnreadable, "the folder \(UntrustedText(path).quoted(limit: 256)) contains no files")
      }
      files += found.map { NamedFile(path: "\(trimmed)/\($0)", name: "\(name)/\($0)") }
    }
    guard files.count <= limit else {
      throw CommandError(
        .tooBig,
        "these folders contain \(files.count) files; at most \(limit) can be sent with one command"
      )
    }
    return files
  }

  private static func kind(of path: String, followsLinks: Bool = true) -> mode_t? {
    var status = stat()
    guard (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
    return status.st_mode & S_IFMT
  }

  // MARK: - Saving

  /// Returns a safe file name: replaces folder separators by `_`, and removes leading dots and characters that are not
  /// safe to display.
  static func cleaned(_ name: UntrustedText) -> String {
    let separators: Set<Character> = ["/", "\\", ":"]
    let parts = name.raw.split { separators.contains($0) }.map {
      UntrustedText($0).displayed(width: CommandLimits.maximumNameLength)
    }.map { String($0.drop { $0 == "." || $0 == " " }) }.filter { !$0.isEmpty }
    let whole = parts.joined(separator: "_")
    guard !whole.isEmpty else { return "file" }
    let (stem, ending) = split(whole)
    var cut = stem
    while cut.utf8.count + ending.utf8.count > maximumLength { cut.removeLast() }
    return cut + ending
  }

  /// The maximum length of a file name, in bytes. The length leaves room for a number.
  private static let maximumLength = 200

  /// `ending` includes the dot. A long ending remains part of the stem.
  private static func split(_ name: String) -> (stem: String, ending: String) {
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex, name[dot...].utf8.count <= 16 else {
      return (name, "")
    }
    return (String(name[..<dot]), String(name[dot...]))
  }

  /// Moves a received file to a folder; returns the new path. Never replaces a file: if the sender's name is taken,
  /// adds a number to the name. If moving fails, the file stays at its old path.
  static func save(_ path: String, named name: UntrustedText, in folder: String) async throws(CommandError) -> String {
    try await FileQueue.run { () throws(CommandError) in try moved(path, to: folder, cleaned(name)).get() }
  }

  private static func moved(_ path: String, to folder: String, _ name: String) -> Result<String, CommandError> {
    var number: Int32 = 0
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let (stem, ending) = split(name)
    for attempt in 1...10_000 {
      let free = "\(folder)/\(attempt == 1 ? name : "\(stem) (\(attempt))\(ending)")"
      number = moveWithoutReplacing(path, free)
      if number == 0 { return .success(free) }
      guard number == EEXIST else { break }
    }
    return .failure(
      CommandError(
        .fileUnwritable,
        "The file cannot be saved in \(UntrustedText(folder).quoted(limit: 256)): "
          + "\(SystemError.words(for: number)). It is at \(UntrustedText(path).escaped())."
      )
    )
  }

  private static func moveWithoutReplacing(_ path: String, _ new: String) -> Int32 {
    if link(path, new) == 0 {
      unlink(path)
      return 0
    }
    let number = errno
    // The folder is on another file system, or its file system has no hard links.
    guard [EXDEV, EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(number) else { return number }
    return copy(path, new)
  }

  private static func copy(_ path: String, _ new: String) -> Int32 {
    let source = open(path, O_RDONLY | O_CLOEXEC)
    guard source >= 0 else { return errno }
    defer { close(source) }
    let target = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard target >= 0 else { return errno }
    var failure: Int32?
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while failure == nil {
      let count = read(source, &buffer, buffer.count)
      if count == 0 { break }
      failure = count < 0 ? errno : FileWriting.writeAll(Array(buffer[..<count]), to: target)
    }
    if failure == nil, fsync(target) != 0 { failure = errno }
    if close(target) != 0, failure == nil { failure = errno }
    if let failure {
      unlink(new)
      return failure
    }
    unlink(path)
    return 0
  }
}

package enum OutputFile {
  package enum WriteError: Error, Equatable, Sendable {
    case exists(String)
    case noFile(String)
    /// A symbolic link with another ending leads to the file of a board, for example to the board that is exported.
    case board(String)
    case unwritable(String, why: String)

    package var message: String {
      switch self {
      case .exists(let path): "\(Self.shown(path)) already exists"
      case .noFile(let path): "\(Self.shown(path)) is not a regular file"
      case .board(let path): "\(Self.shown(path)) leads to the file of a board, which would be lost"
      case .unwritable(let path, let why): "\(Self.shown(path)) cannot be written: \(why)"
      }
    }

    private static func shown(_ path: String) -> String { UntrustedText(path).quoted(limit: 256) }
  }

  /// Writes to a temporary file and then renames it, so that no program reads an incomplete file. If the method throws,
  /// an existing file is unchanged.
  package static func write(_ bytes: [UInt8], to path: String, isReplacing: Bool) throws(WriteError) {
    try check(path, isReplacing: isReplacing)
    let path = resolved(path)
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

  /// Checks in advance whether the file can be written.
  package static func check(_ path: String, isReplacing: Bool) throws(WriteError) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      guard errno == ENOENT else { throw refused(path, errno) }
      return
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .noFile(path) }
    let ending = ".\(BoardFile.fileExtension)"
    guard path.hasSuffix(ending) || !resolved(path).hasSuffix(ending) else { throw .board(path) }
    guard isReplacing else { throw .exists(path) }
  }

  /// Returns the path of the file itself, after following symbolic links. The file need not exist. First, call
  /// ``check(_:isReplacing:)``, which refuses links that form a loop.
  package static func resolved(_ path: String) -> String {
    guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { return path }
    let folder = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    return resolved(target.hasPrefix("/") ? target : "\(folder)/\(target)")
  }

  /// Gives a temporary file beside `path` its name. Returns the system's error number if that failed; `EEXIST` if
  /// another program created the file meanwhile.
  package static func name(_ beside: String, _ path: String, isReplacing: Bool) -> Int32? {
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

package enum FileWriting {
  /// Waits while the descriptor cannot accept more bytes. Returns the system's error number if writing failed.
  package static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
    var offset = 0
    while offset < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        write(descriptor, buffer.baseAddress.map { $0 + offset }, buffer.count - offset)
      }
      if count >= 0 {
        offset += count
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        // The descriptor is non-blocking, for example because another program changed the terminal.
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&entry, 1, -1)
      default: return errno
      }
    }
    return nil
  }
}

/// Runs work that takes a long time or blocks its thread, such as encoding a board or waiting for other programs.
enum FileQueue {
  /// The quality of service differs from that of actors, so that long work does not occupy the threads of actors.
  private static let queue = DispatchQueue(label: "whiteboard.files", qos: .utility, attributes: .concurrent)
  private static let background = DispatchQueue(label: "whiteboard.background", qos: .background)

  /// Runs work for which no user waits, after all earlier work of this kind. The system prefers all other threads.
  static func runInBackground<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      background.async {
        // Only this queue uses threads of its quality of service.
        preferOtherThreads()
        continuation.resume(returning: work())
      }
    }
  }

  static func run<Value: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
      queue.async {
        preferOtherThreads()
        do throws(Failure) { continuation.resume(returning: .success(try work())) } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    return try result.get()
  }

  /// Runs work that changes nothing outside the program; throws ``CommandError`` with the code `ending` if the board
  /// closes first. In this case, the result is not used, and the work ends with the program.
  nonisolated(nonsending) static func run<Value: Sendable>(
    untilEndOf runtime: BoardRuntime,
    _ work: @escaping @Sendable () throws(CommandError) -> Value
  ) async throws(CommandError) -> Value {
    defer { checkIsolation(#isolation) }
    let result = Locked<Result<Value, CommandError>?>(nil)
    let wake = runtime.wake
    queue.async {
      preferOtherThreads()
      let ended: Result<Value, CommandError>
      do throws(CommandError) { ended = .success(try work()) } catch { ended = .failure(error) }
      result.withLock { $0 = ended }
      wake()
    }
    _ = await runtime.wait { result.withLock { $0 != nil } }
    guard let ended = result.withLock({ $0 }) else {
      throw CommandError(.ending, "the program ended before the command was complete, so nothing has changed")
    }
    return try ended.get()
  }
}

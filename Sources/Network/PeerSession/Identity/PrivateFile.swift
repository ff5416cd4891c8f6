import PeerCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A file that only its owner may read, and that is written completely or not at all.
package struct PrivateFile {
  package enum Failure: Error, Equatable, Sendable {
    case system(call: String, path: String, errno: Int32)
    /// The file is not of the expected kind: a directory if `isDirectory` is true, otherwise a regular file.
    case wrongKind(path: String, isDirectory: Bool)
    case notOurs(path: String)
    case tooOpen(path: String, isDirectory: Bool)
    case tooLarge(path: String, limit: Int)
  }

  package let path: String

  package init(path: String) { self.path = path }

  private var directory: String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Creates the file's directory with mode 0700 if it is missing. Throws if the directory belongs to another user, or
  /// other users may write in it.
  package func prepareDirectory() throws(Failure) {
    try Self.makeDirectory(directory)
    var status = stat()
    guard stat(directory, &status) == 0 else { throw failure("stat", directory) }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw .wrongKind(path: directory, isDirectory: true) }
    guard status.st_uid == geteuid() else { throw .notOurs(path: directory) }
    guard status.st_mode & 0o022 == 0 else { throw .tooOpen(path: directory, isDirectory: true) }
  }

  private static func makeDirectory(_ path: String) throws(Failure) {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    let error = errno
    guard error == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
      throw .system(call: "mkdir", path: path, errno: error)
    }
    try makeDirectory(String(path[..<slash]))
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .system(call: "mkdir", path: path, errno: errno) }
  }

  /// Returns `nil` if there is no file. Throws if the file belongs to another user, or other users may read or write
  /// it.
  package func read(limit: Int) throws(Failure) -> [UInt8]? {
    // Open without blocking, so that the call does not hang if the path refers to a named pipe.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw failure("open")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure("fstat") }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .wrongKind(path: path, isDirectory: false) }
    guard status.st_uid == geteuid() else { throw .notOurs(path: path) }
    guard status.st_mode & 0o077 == 0 else { throw .tooOpen(path: path, isDirectory: false) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = systemRead(descriptor, &chunk, chunk.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw failure("read") }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
      guard bytes.count <= limit else { throw .tooLarge(path: path, limit: limit) }
    }
  }

  struct Version: Equatable {
    fileprivate var inode: UInt64
    fileprivate var size: Int64
    fileprivate var seconds: Int
    fileprivate var nanoseconds: Int
  }

  var version: Version? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    return Version(
      inode: UInt64(status.st_ino),
      size: Int64(status.st_size),
      seconds: Int(status.st_mtim.tv_sec),
      nanoseconds: Int(status.st_mtim.tv_nsec)
    )
  }

  /// Writes the file unless it exists; returns whether this call created the file. If several processes try at the same
  /// time, exactly one process succeeds, and no process sees an incomplete file.
  func create(_ bytes: [UInt8]) throws(Failure) -> Bool {
    let temporary = try writeTemporary(bytes)
    defer { unlink(temporary) }
    if link(temporary, path) == 0 {
      try syncDirectory()
      return true
    }
    if errno == EEXIST { return false }
    throw failure("link")
  }

  package func replace(_ bytes: [UInt8]) throws(Failure) {
    let temporary = try writeTemporary(bytes)
    guard rename(temporary, path) == 0 else {
      let error = failure("rename")
      unlink(temporary)
      throw error
    }
    try syncDirectory()
  }

  /// Runs `body` while holding an exclusive lock on `<path>.lock`; blocks while another process writes.
  func withLock<Result>(_ body: () throws -> Result) throws -> Result {
    let lockPath = path + ".lock"
    let descriptor = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure("open", lockPath) }
    defer { close(descriptor) }
    while flock(descriptor, LOCK_EX) != 0 { guard errno == EINTR else { throw failure("flock", lockPath) } }
    return try body()
  }

  private func writeTemporary(_ bytes: [UInt8]) throws(Failure) -> String {
    let suffix = String(UInt64.random(in: .min ... .max), radix: 36)
    let temporary = "\(path).\(suffix).new"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure("open", temporary) }
    do throws(Failure) {
      try writeAll(bytes, to: descriptor)
      guard fsync(descriptor) == 0 else { throw failure("fsync", temporary) }
    } catch {
      close(descriptor)
      unlink(temporary)
      throw error
    }
    guard close(descriptor) == 0 else {
      let error = failure("close", temporary)
      unlink(temporary)
      throw error
    }
    return temporary
  }

  private func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(Failure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw failure("write") }
      rest = rest.dropFirst(count)
    }
  }

  private func syncDirectory() throws(Failure) {
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("open", directory) }
    defer { close(descriptor) }
    // Some file systems cannot sync directories. The file itself was synced before.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw failure("fsync", directory) }
  }

  private func failure(_ call: String, _ path: String? = nil) -> Failure {
    .system(call: call, path: path ?? self.path, errno: errno)
  }
}

/// Calls `read(2)`, because inside the type a method named `read` hides the system call.
private func systemRead(_ descriptor: Int32, _ buffer: inout [UInt8], _ count: Int) -> Int {
  buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, count) }
}

extension PrivateFile.Failure: CustomStringConvertible {
  /// Sentences that state the problem and the remedy. The user may have chosen a directory of the system by mistake, so
  /// no remedy changes a path that may belong to someone else.
  package var description: String {
    switch self {
    case .system(_, let path, EROFS):
      "The disk is read-only: \(path) cannot be written. Make the disk writable, or choose another "
        + "directory with --data-dir."
    case .system(_, let path, ENOSPC):
      "The disk is full: \(path) cannot be written. Free some space, or choose another directory with --data-dir."
    case .system(_, let path, let number) where Self.concernsPath(number):
      "\(path) cannot be used: \(String(cString: strerror(number))). Choose another directory with --data-dir."
    case .system(let call, let path, let number): "\(call) failed on \(path): \(String(cString: strerror(number)))."
    case .wrongKind(let path, _) where [S_IFCHR, S_IFBLK].contains(Self.kind(of: path)):
      "\(path) is a device, and not a file or directory. Choose another directory with --data-dir, or remove the link "
        + "to the device."
    case .wrongKind(let path, isDirectory: true):
      "\(path) is a file, and not a directory. Choose another directory with --data-dir."
    case .wrongKind(let path, isDirectory: false):
      "\(path) is not a file. Move it somewhere else: mv \(shellQuoted(path)) \(shellQuoted(path + ".old"))"
    case .notOurs(let path):
      "\(path) belongs to another user. Choose a directory of your own with --data-dir"
        + (Self.isInOwnDirectory(path)
          ? ", or: sudo chown \(geteuid()) \(shellQuoted(path))"
          : Self.commandAsOwner(of: path).map { ", or run the program as that user: \($0)" } ?? ".")
    case .tooOpen(let path, isDirectory: true):
      "Other users can write to \(path). Choose another directory with --data-dir"
        // All users share a directory with the sticky bit, such as /tmp.
        + (Self.mode(of: path) & S_ISVTX != 0
          ? "." : ", or, if only you use this one, run: chmod 700 \(shellQuoted(path))")
    case .tooOpen(let path, isDirectory: false):
      "Other users can read or write \(path). Run: chmod 600 \(shellQuoted(path))"
    case .tooLarge(let path, let limit):
      "\(path) has more than \(limit) bytes. Move the file somewhere else: "
        + "mv \(shellQuoted(path)) \(shellQuoted(path + ".old"))"
    }
  }

  /// Returns whether a system call failed because of the path that the user chose.
  private static func concernsPath(_ number: Int32) -> Bool {
    [ENOTDIR, ENOENT, ELOOP, ENAMETOOLONG, EACCES, EPERM].contains(number)
  }

  /// Returns the command with which root runs the program as the owner of a file; nil for another user than root.
  private static func commandAsOwner(of path: String) -> String? {
    var status = stat()
    guard geteuid() == 0, stat(path, &status) == 0 else { return nil }
    var user = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    guard getpwuid_r(status.st_uid, &user, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
    let command = CommandLine.arguments.map { word in
      // An option is not a path, so its first character needs no quotes.
      shellQuoted("/\(word)") == "/\(word)" ? word : shellQuoted(word)
    }.joined(separator: " ")
    return "runuser -u \(shellQuoted(String(cString: user.pw_name))) -- \(command)"
  }

  private static func kind(of path: String) -> mode_t { mode(of: path) & S_IFMT }

  private static func mode(of path: String) -> mode_t {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode : 0
  }

  /// Returns whether a path is in a directory of this user; `false` for root, because root owns the system's
  /// directories.
  private static func isInOwnDirectory(_ path: String) -> Bool {
    var status = stat()
    return geteuid() != 0 && stat(PrivateFile(path: path).directory, &status) == 0 && status.st_uid == geteuid()
  }
}

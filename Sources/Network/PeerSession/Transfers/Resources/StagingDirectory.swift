import Crypto
import FoundationEssentials
import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The metadata of an unfinished transfer, stored in a file next to the bytes (RES-1).
struct StagingRecord: Codable, Equatable, Sendable {
  var sender: PeerID
  /// The hex SHA-256 of the resource's name; the name itself is not needed.
  var name: String
  var size: Int
  var modified: Int?
  /// Whether the file is useful only to the process that began the transfer.
  var isTemporary: Bool?

  /// Returns whether a file that is offered under another id has the same metadata, including a modification time.
  func isSameFile(as other: StagingRecord) -> Bool { modified != nil && self == other }
}

/// The directory for finished resources, with a subdirectory `.partial` for unfinished resources. All calls block.
/// Files are named only by transfer ids and accessed relative to open directories. Neither text from a peer nor a
/// symbolic link can therefore redirect an access.
final class StagingDirectory: Sendable {
  /// How long the bytes of an abandoned transfer are kept, in seconds.
  static let maximumAge = 7 * 24 * 3_600

  struct Partial: Sendable {
    var id: TransferID
    var size: Int
    /// The time of the last change, in seconds since 1970.
    var modified: Int
    var record: StagingRecord?
    var isInUse: Bool
  }

  struct Survey: Sendable {
    var deliveredBytes = 0
    var delivered: Set<TransferID> = []
    var partials: [Partial] = []
    var freeBytes: Int?
    var diskBytes: Int?
  }

  let path: String
  private let inbox: Int32
  private let partial: Int32
  private let calls: DiskCalls

  /// Creates missing directories with mode 0700.
  init(path: String, calls: DiskCalls) throws(SessionError) {
    self.path = path
    self.calls = calls
    try Self.makeDirectories(path)
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
    let inbox = open(path, flags)
    guard inbox >= 0 else { throw .system("Cannot open \(path)", errno: errno) }
    guard mkdirat(inbox, ".partial", 0o700) == 0 || errno == EEXIST else {
      let error = SessionError.system("Cannot make \(path)/.partial", errno: errno)
      close(inbox)
      throw error
    }
    let partial = openat(inbox, ".partial", flags | O_NOFOLLOW)
    guard partial >= 0 else {
      let error = SessionError.system("Cannot open \(path)/.partial", errno: errno)
      close(inbox)
      throw error
    }
    self.inbox = inbox
    self.partial = partial
    var status = stat()
    guard fstat(partial, &status) == 0 else { throw .system("Cannot read \(path)/.partial", errno: errno) }
    guard status.st_uid == geteuid() else {
      throw SessionError(.system, "Another user owns \(path)/.partial. Choose another directory with --data-dir.")
    }
    // Change the mode only if necessary, because a read-only disk refuses every change.
    guard status.st_mode & 0o7777 == 0o700 || fchmod(partial, 0o700) == 0 else {
      throw .system("Cannot restrict access to \(path)/.partial", errno: errno)
    }
  }

  deinit {
    close(partial)
    close(inbox)
  }

  func survey() throws(SessionError) -> Survey {
    var survey = Survey()
    for name in try Self.names(in: inbox) {
      guard let status = Self.status(inbox, name), status.st_mode & S_IFMT == S_IFREG else { continue }
      survey.deliveredBytes += Int(status.st_size)
      if let id = TransferID(text: name) { survey.delivered.insert(id) }
    }
    for name in try Self.names(in: partial) {
      guard let id = TransferID(text: name), let status = Self.status(partial, name), status.st_mode & S_IFMT == S_IFREG
      else { continue }
      survey.partials.append(
        Partial(
          id: id,
          size: Int(status.st_size),
          modified: Int(status.st_mtim.tv_sec),
          record: readRecord(id),
          isInUse: isInUse(id)
        )
      )
    }
    survey.freeBytes = calls.freeBytes(partial)
    survey.diskBytes = calls.diskBytes(partial)
    return survey
  }

  /// Removes partial transfers that are older than seven days or cannot be resumed; throws `system`. Transfers that
  /// another process is using are not removed.
  func sweep(now: Int) throws(SessionError) {
    for partial in try survey().partials where !partial.isInUse {
      let isUseful = partial.record.map { $0.isTemporary != true } ?? false
      if !isUseful || now - partial.modified > Self.maximumAge { remove(partial.id) }
    }
    for name in try Self.names(in: partial) where name.hasSuffix(".json") {
      guard Self.status(partial, String(name.dropLast(5))) == nil else { continue }
      unlinkat(partial, name, 0)
    }
  }

  /// Creates an empty file and a record for a new transfer; if this method throws `diskFull` or `system`, no file
  /// remains.
  func create(_ id: TransferID, _ record: StagingRecord) throws(SessionError) -> StagingFile {
    remove(id)
    let descriptor = openat(partial, id.text, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system("Cannot create a file in \(path)", errno: errno) }
    let file = StagingFile(descriptor: descriptor, calls: calls)
    _ = file.lock()
    do { try writeRecord(id, record) } catch {
      remove(id)
      throw error
    }
    return file
  }

  func reopen(_ old: TransferID, as id: TransferID, _ record: StagingRecord) throws(SessionError) -> StagingFile {
    let descriptor = openat(partial, old.text, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system("Cannot open an unfinished transfer", errno: errno) }
    let file = StagingFile(descriptor: descriptor, calls: calls)
    guard file.lock() else { throw SessionError(.declined, "Another program is receiving this transfer.") }
    if old != id {
      guard renameat(partial, old.text, partial, id.text) == 0 else {
        throw .system("Cannot rename an unfinished transfer", errno: errno)
      }
      unlinkat(partial, old.text + ".json", 0)
      try writeRecord(id, record)
    }
    return file
  }

  private func isInUse(_ id: TransferID) -> Bool {
    let descriptor = openat(partial, id.text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0
  }

  /// Moves a complete file to the place where the application finds it, and returns its path. Throws if a file with
  /// that id already exists. A temporary file need not survive a power cut.
  func deliver(_ id: TransferID, _ file: StagingFile, isTemporary: Bool) throws(SessionError) -> String {
    if !isTemporary { try file.synchronize() }
    guard Self.status(inbox, id.text) == nil else {
      throw SessionError(.declined, "A resource with that id already exists.")
    }
    guard renameat(partial, id.text, inbox, id.text) == 0 else {
      throw .system("Cannot deliver a resource", errno: errno)
    }
    unlinkat(partial, id.text + ".json", 0)
    if !isTemporary { _ = fsync(inbox) }
    return path + "/" + id.text
  }

  func remove(_ id: TransferID) {
    unlinkat(partial, id.text, 0)
    unlinkat(partial, id.text + ".json", 0)
  }

  private func writeRecord(_ id: TransferID, _ record: StagingRecord) throws(SessionError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    guard let bytes = try? encoder.encode(record) else { preconditionFailure("a record holds only text and integers") }
    let name = id.text + ".json"
    unlinkat(partial, name, 0)
    let descriptor = openat(partial, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system("Cannot create a file in \(path)", errno: errno) }
    defer { close(descriptor) }
    let written = bytes.withUnsafeBytes { calls.write(descriptor, $0, 0) }
    guard written == bytes.count else {
      throw .system("Cannot write a file in \(path)", errno: written < 0 ? errno : ENOSPC)
    }
  }

  private func readRecord(_ id: TransferID) -> StagingRecord? {
    let descriptor = openat(partial, id.text + ".json", O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1_024)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count > 0 else { return nil }
    return try? JSONDecoder().decode(StagingRecord.self, from: Data(bytes[..<count]))
  }

  private static func makeDirectories(_ path: String) throws(SessionError) {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    let error = errno
    guard error == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
      throw .system("Cannot make \(path)", errno: error)
    }
    try makeDirectories(String(path[..<slash]))
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .system("Cannot make \(path)", errno: errno) }
  }

  private static func names(in directory: Int32) throws(SessionError) -> [String] {
    // Open a new descriptor, because the directory stream closes its descriptor and two streams must not share a
    // position.
    let descriptor = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0, let stream = fdopendir(descriptor) else {
      throw .system("Cannot list the inbox", errno: errno)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  private static func status(_ directory: Int32, _ name: String) -> stat? {
    var status = stat()
    return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
  }
}

/// The system calls that can fail on a full or broken disk; tests replace them.
struct DiskCalls: Sendable {
  /// A function like `pwrite`, which returns the number of bytes written, or sets `errno` and returns -1.
  var write: @Sendable (Int32, UnsafeRawBufferPointer, Int) -> Int
  /// A function that returns the bytes available on a directory's disk, or `nil` if the system does not report them.
  var freeBytes: @Sendable (_ directory: Int32) -> Int?
  /// A function that returns the size of a directory's disk in bytes, or `nil` if the system does not report it.
  var diskBytes: @Sendable (_ directory: Int32) -> Int?

  static let system = DiskCalls(
    write: { descriptor, bytes, offset in pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset)) },
    freeBytes: { directory in bytes(directory) { Int(clamping: $0.f_bavail) } },
    diskBytes: { directory in bytes(directory) { Int(clamping: $0.f_blocks) } }
  )

  private static func bytes(_ directory: Int32, _ blocks: (statvfs) -> Int) -> Int? {
    var status = statvfs()
    guard fstatvfs(directory, &status) == 0 else { return nil }
    let (bytes, overflow) = blocks(status).multipliedReportingOverflow(by: Int(clamping: status.f_frsize))
    return overflow ? .max : bytes
  }
}

/// The bytes of one unfinished transfer, in a private file named by the transfer's id. All calls block, so they run on
/// a thread pool, one at a time.
final class StagingFile: Sendable {
  private let descriptor: Int32
  private let calls: DiskCalls

  init(descriptor: Int32, calls: DiskCalls) {
    self.descriptor = descriptor
    self.calls = calls
  }

  deinit { close(descriptor) }

  /// Locks the file while this object exists; returns `false` if another process has locked it.
  func lock() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

  /// Unlocks the file, so that another process may resume an interrupted transfer.
  func unlock() { flock(descriptor, LOCK_UN) }

  /// Throws `diskFull` or `system`.
  func write(_ pieces: [ByteBuffer], at offset: Int, after hash: SHA256) throws(SessionError) -> SHA256 {
    var hash = hash
    var offset = offset
    for piece in pieces {
      var failure: SessionError?
      piece.withUnsafeReadableBytes { bytes in
        do { try write(bytes, at: offset) } catch { failure = error as? SessionError }
        hash.update(bufferPointer: bytes)
      }
      if let failure { throw failure }
      offset += piece.readableBytes
    }
    return hash
  }

  func hashPrefix(_ count: Int, isCancelled: @Sendable () -> Bool) throws(SessionError) -> SHA256 {
    try hashFile(
      descriptor,
      count: count,
      isCancelled: isCancelled,
      shortRead: SessionError(.system, "The file of an unfinished transfer became shorter.")
    )
  }

  func truncate(to count: Int) throws(SessionError) {
    guard ftruncate(descriptor, off_t(count)) == 0 else {
      throw .system("Cannot shorten an unfinished transfer", errno: errno)
    }
  }

  func synchronize() throws(SessionError) {
    guard fsync(descriptor) == 0 else { throw .system("Cannot write a resource to the disk", errno: errno) }
  }

  private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SessionError) {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let count = calls.write(descriptor, rest, offset + done)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw .system("Cannot write a resource", errno: errno) }
      done += count
    }
  }
}

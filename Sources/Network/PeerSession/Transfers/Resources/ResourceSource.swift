import Crypto
import NIOCore
import PeerWire

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The file that a sender reads. All its calls block, so they run on a thread pool. The file is open during the
/// transfer. After each read, its properties are compared with the properties at opening. This comparison detects
/// changes, so that a mixture of two versions is never sent as one file.
final class ResourceSource: Sendable {
  /// One read fills eight frames, which are sent in one write to the link.
  static let blockSize = 8 * Limits.framePayload

  struct Block: Sendable {
    var frames: ByteBuffer
    var count: Int
    var hash: SHA256
  }

  private struct Mark: Equatable {
    var device: UInt64
    var inode: UInt64
    var size: Int
    var seconds: Int
    var nanoseconds: Int

    init(_ status: stat) {
      device = UInt64(status.st_dev)
      inode = UInt64(status.st_ino)
      size = Int(status.st_size)
      seconds = Int(status.st_mtim.tv_sec)
      nanoseconds = Int(status.st_mtim.tv_nsec)
    }
  }

  /// The size in bytes; if the size changes, the transfer ends.
  let size: Int
  /// The file's modification time, in ms since 1970.
  let modified: Int
  private let path: String
  private let descriptor: Int32
  private let mark: Mark

  init(path: String) throws(SessionError) {
    guard !path.utf8.contains(0) else { throw SessionError(.sourceUnreadable, "A path must not contain NUL.") }
    // Open without blocking, so that the call does not hang if the path refers to a named pipe.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw SessionError(.sourceUnreadable, "Cannot open \(path): \(systemMessage(errno)).")
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw SessionError(.sourceUnreadable, "\(path) is not a regular file.")
    }
    self.path = path
    self.descriptor = descriptor
    mark = Mark(status)
    size = mark.size
    modified = mark.seconds * 1_000 + mark.nanoseconds / 1_000_000
    _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
  }

  deinit { close(descriptor) }

  /// Returns the block at `offset`, divided into frames, and the hash up to the end of the block. `hash` covers the
  /// bytes before the block.
  func block(at offset: Int, after hash: SHA256) throws(SessionError) -> Block {
    let count = min(Self.blockSize, size - offset)
    var hash = hash
    var frames = ByteBufferAllocator().buffer(
      capacity: count + (count / Limits.framePayload + 1) * FrameHeader.maximumLength
    )
    var done = 0
    while done < count {
      let length = min(Limits.framePayload, count - done)
      frames.writeHeader(.chunk, length: length)
      var failure: SessionError?
      frames.writeWithUnsafeMutableBytes(minimumWritableBytes: length) { target in
        let target = UnsafeMutableRawBufferPointer(rebasing: target[..<length])
        do {
          try fill(target, at: offset + done)
          hash.update(bufferPointer: UnsafeRawBufferPointer(target))
        } catch { failure = error as? SessionError }
        return length
      }
      if let failure { throw failure }
      done += length
    }
    try checkUnchanged()
    return Block(frames: frames, count: count, hash: hash)
  }

  /// Returns the hash of the first `count` bytes (RES-2); throws `sourceChanged`, `sourceUnreadable`, or
  /// `transferCancelled` once `isCancelled` returns true.
  func hashPrefix(_ count: Int, isCancelled: @Sendable () -> Bool) throws(SessionError) -> SHA256 {
    let hash = try hashFile(
      descriptor,
      count: count,
      isCancelled: isCancelled,
      shortRead: SessionError(.sourceChanged, "\(path) became shorter while it was being sent.")
    )
    try checkUnchanged()
    return hash
  }

  /// Compares the file with its properties at opening; throws `sourceChanged`. Unlinking the file is allowed, because
  /// its bytes remain complete. Replacing the file is not allowed.
  func checkUnchanged() throws(SessionError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, Mark(status) == mark else { throw changed }
    if stat(path, &status) == 0 {
      let now = Mark(status)
      guard now.inode == mark.inode, now.device == mark.device else { throw changed }
    }
  }

  private var changed: SessionError { SessionError(.sourceChanged, "\(path) changed while it was being sent.") }

  private func fill(_ target: UnsafeMutableRawBufferPointer, at offset: Int) throws(SessionError) {
    var done = 0
    while done < target.count {
      let count = pread(descriptor, target.baseAddress?.advanced(by: done), target.count - done, off_t(offset + done))
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw SessionError(.sourceUnreadable, "Cannot read \(path): \(systemMessage(errno)).") }
      guard count > 0 else { throw changed }
      done += count
    }
  }
}

/// Hashes the first `count` bytes of an open file; throws `shortRead` if the file ends earlier, `system` if the file
/// cannot be read, or `transferCancelled` once `isCancelled` returns true.
func hashFile(_ descriptor: Int32, count: Int, isCancelled: @Sendable () -> Bool, shortRead: SessionError)
  throws(SessionError) -> SHA256
{
  var hash = SHA256()
  var buffer = [UInt8](repeating: 0, count: min(ResourceSource.blockSize, max(count, 1)))
  var offset = 0
  while offset < count {
    if isCancelled() { throw SessionError(.transferCancelled, "The transfer was canceled.") }
    let wanted = min(buffer.count, count - offset)
    let read = pread(descriptor, &buffer, wanted, off_t(offset))
    if read < 0 && errno == EINTR { continue }
    guard read >= 0 else { throw .system("Cannot read a file", errno: errno) }
    guard read > 0 else { throw shortRead }
    buffer.withUnsafeBytes { hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<read])) }
    offset += read
  }
  return hash
}

func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
  let digits = Array("0123456789abcdef".utf8)
  var text: [UInt8] = []
  for byte in bytes {
    text.append(digits[Int(byte >> 4)])
    text.append(digits[Int(byte & 15)])
  }
  return String(decoding: text, as: UTF8.self)
}

extension SHA256 {
  var digest: [UInt8] { Array(finalize()) }

  var text: String { hexadecimal(finalize()) }
}

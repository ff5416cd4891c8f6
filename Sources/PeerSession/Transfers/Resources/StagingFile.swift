import Crypto
import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The bytes of one unfinished transfer, in a private file named by the transfer's id.
///
/// All calls block, so they run on a thread pool, one at a time.
final class StagingFile: Sendable {
  private let descriptor: Int32
  private let calls: DiskCalls

  /// Creates an object that owns an open file, and closes the file when it is released.
  init(descriptor: Int32, calls: DiskCalls) {
    self.descriptor = descriptor
    self.calls = calls
  }

  deinit { close(descriptor) }

  /// Locks the file against other processes while this object exists; returns `false` if another process has locked the
  /// file.
  func lock() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

  /// Unlocks the file, so that another process may resume an interrupted transfer.
  func unlock() { flock(descriptor, LOCK_UN) }

  /// Writes `pieces` in order, starting at `offset`, and hashes them; throws `diskFull` or `system`.
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

  /// Hashes the first `count` bytes.
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

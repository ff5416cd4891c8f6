#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The system calls that can fail on a full or broken disk.
///
/// Tests replace them.
struct DiskCalls: Sendable {
  /// A function like `pwrite`, which returns the number of bytes written, or sets `errno` and returns -1.
  var write: @Sendable (Int32, UnsafeRawBufferPointer, Int) -> Int
  /// A function that returns the bytes available on a directory's disk, or `nil` if the system does not report them.
  var freeBytes: @Sendable (_ directory: Int32) -> Int?
  /// A function that returns the size of a directory's disk in bytes, or `nil` if the system does not report it.
  var diskBytes: @Sendable (_ directory: Int32) -> Int?

  /// The real system calls.
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

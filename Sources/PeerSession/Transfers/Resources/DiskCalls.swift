#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The system calls that fail on a full or broken disk; tests replace them.
struct DiskCalls: Sendable {
  /// As `pwrite`: bytes written, or -1 with `errno`.
  var write: @Sendable (Int32, UnsafeRawBufferPointer, Int) -> Int
  /// Bytes free for us where the directory is, or `nil` when the system does not say.
  var freeBytes: @Sendable (_ directory: Int32) -> Int?
  /// The size of that disk in bytes, or `nil` when the system does not say.
  var diskBytes: @Sendable (_ directory: Int32) -> Int?

  /// The system's own.
  static let system = DiskCalls(
    write: { descriptor, bytes, offset in
      pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
    },
    freeBytes: { directory in bytes(directory) { Int(clamping: $0.f_bavail) } },
    diskBytes: { directory in bytes(directory) { Int(clamping: $0.f_blocks) } }
  )

  private static func bytes(_ directory: Int32, _ blocks: (statvfs) -> Int) -> Int? {
    var status = statvfs()
    guard fstatvfs(directory, &status) == 0 else { return nil }
    let (bytes, overflow) = blocks(status)
      .multipliedReportingOverflow(by: Int(clamping: status.f_frsize))
    return overflow ? .max : bytes
  }
}

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

package enum SystemError {
  package static func words(for number: Int32) -> String {
    var text = [CChar](repeating: 0, count: 256)
    // The POSIX variant of `strerror_r` fills the buffer. The GNU variant fills the buffer, or returns a constant
    // string.
    guard strerror_r(number, &text, text.count) == 0 else { return "error \(number)" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

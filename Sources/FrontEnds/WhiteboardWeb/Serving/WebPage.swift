import CWebPage
import CZlib
import Crypto
import NIOCore

struct WebPage: Sendable {
  struct File: Sendable {
    /// The bytes without compression; nil if the program contains only the compressed bytes.
    let bytes: ByteBuffer?
    let type: String
    /// The compressed bytes, and the name of the compression; nil if compression does not help.
    let compressed: (bytes: ByteBuffer, encoding: String)?
    /// The identifier of this version of the file, in quotation marks.
    let tag: String
  }

  private let files: [String: File]

  /// Reads the files from the program, shortens the scripts and the style sheet, and compresses the files that are not
  /// compressed yet.
  init() {
    var count = 0
    let start = whiteboard_page_files(&count)
    let all = UnsafeBufferPointer(start: start, count: count)
    files = Dictionary(
      uniqueKeysWithValues: all.map { file in
        let stored = UnsafeBufferPointer(start: file.bytes, count: file.count)
        let isCode = ["text/javascript", "text/css"].contains { String(cString: file.type).hasPrefix($0) }
        let bytes = isCode ? Self.shortened(stored) : Array(stored)
        let tag = SHA256.hash(data: bytes).prefix(12).map { String($0, radix: 16) }.joined()
        let buffer = ByteBuffer(bytes: bytes)
        let encoding = file.encoding.map { String(cString: $0) }
        return (
          String(cString: file.path),
          File(
            bytes: encoding == nil ? buffer : nil,
            type: String(cString: file.type),
            compressed: encoding.map { (buffer, $0) } ?? Gzip.compress(bytes).map { (ByteBuffer(bytes: $0), "gzip") },
            tag: "\"\(tag)\""
          )
        )
      }
    )
  }

  /// Returns a script or style sheet without indentation. Lines that contain only a comment become empty lines, so that
  /// the line numbers in errors match the source. In the page's files, no string contains a line that looks like a
  /// comment, and no string continues on another line; tests verify this.
  static func shortened(_ script: some Collection<UInt8>) -> [UInt8] {
    var isInComment = false
    let lines = String(decoding: script, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    return Array(
      lines.map { line -> Substring in
        let text = line.drop { $0 == " " }
        if isInComment || text.hasPrefix("/*") {
          isInComment = !text.hasSuffix("*/")
          return ""
        }
        return text.hasPrefix("//") ? "" : text
      }.joined(separator: "\n").utf8
    )
  }

  var paths: [String] { files.keys.sorted() }

  func file(at path: String) -> File? { files[path == "/" ? "/index.html" : path] }
}

/// The gzip compression of files for browsers (RFC 1952).
enum Gzip {
  /// Compresses bytes as much as possible; nil if there is not enough memory.
  static func compress(_ bytes: [UInt8]) -> [UInt8]? {
    var stream = z_stream()
    // 15 selects the largest window, and adding 16 selects the gzip format.
    guard
      deflateInit2_(
        &stream,
        Z_BEST_COMPRESSION,
        Z_DEFLATED,
        15 + 16,
        9,
        Z_DEFAULT_STRATEGY,
        ZLIB_VERSION,
        Int32(MemoryLayout<z_stream>.size)
      ) == Z_OK
    else { return nil }
    defer { deflateEnd(&stream) }
    let bound = deflateBound(&stream, UInt(bytes.count))
    return bytes.withUnsafeBufferPointer { bytes in
      [UInt8](unsafeUninitializedCapacity: Int(bound)) { output, count in
        stream.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
        stream.avail_in = UInt32(bytes.count)
        stream.next_out = output.baseAddress
        stream.avail_out = UInt32(output.count)
        let result = deflate(&stream, Z_FINISH)
        precondition(result == Z_STREAM_END, "the output has room for the compressed bytes")
        count = output.count - Int(stream.avail_out)
      }
    }
  }
}

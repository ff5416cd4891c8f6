import CZlib

/// The gzip compression of files for browsers (RFC 1952).
enum Gzip {
  /// Compresses bytes as much as possible.
  ///
  /// - Returns: The compressed bytes; nil if there is not enough memory.
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

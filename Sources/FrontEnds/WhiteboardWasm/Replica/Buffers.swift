/// The memory through which a page and the replica exchange bytes. Before a call, the page writes the bytes of the call
/// to the input. After the call, the page copies the output. The module has only one thread, so the page and the
/// replica never access this memory at the same time.
enum Buffers {
  nonisolated(unsafe) static var input: [UInt8] = []
  nonisolated(unsafe) static var output: [UInt8] = []

  /// Returns the input of a call, with the given number of bytes, and clears the output.
  static func takeInput(_ count: Int32) -> [UInt8] {
    output = []
    // Do not copy the input, because a photo is large.
    defer { input = [] }
    return input.count == Int(count) ? input : Array(input.prefix(max(0, Int(count))))
  }
}

/// Makes room for an input.
///
/// - Parameter count: The number of bytes.
/// - Returns: The address of the input, valid until the next call.
@_expose(wasm, "input") @_cdecl("input") public func inputAddress(_ count: Int32) -> UnsafeMutablePointer<UInt8>? {
  Buffers.input = Array(repeating: 0, count: max(1, Int(count)))
  return Buffers.input.withUnsafeMutableBufferPointer { $0.baseAddress }
}

/// Returns the address of the output of the last call, valid until the next call.
@_expose(wasm, "output") @_cdecl("output") public func outputAddress() -> UnsafePointer<UInt8>? {
  Buffers.output.withUnsafeBufferPointer { $0.baseAddress }
}

/// Returns the number of bytes in the output of the last call.
@_expose(wasm, "outputCount") @_cdecl("outputCount") public func outputCount() -> Int32 { Int32(Buffers.output.count) }

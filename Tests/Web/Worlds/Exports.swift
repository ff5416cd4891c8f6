/// The text of the last call.
nonisolated(unsafe) private var text: [UInt8] = []

/// Runs a simulation of `board-worlds`, and stores its line of output.
///
/// - Parameters:
///   - seed: The seed.
///   - kind: 0 for boards, 1 for replicas, 2 for an owned board, 3 for slow signatures, 4 for diagrams.
/// - Returns: The address of the line, in UTF-8.
@_expose(wasm, "world") @_cdecl("world") public func world(_ seed: UInt64, _ kind: Int32) -> UnsafePointer<UInt8>? {
  let line =
    switch kind {
    case 0: BoardWorld.line(of: seed)
    case 4: DiagramWorld.line(of: seed)
    default: ReplicaWorld.line(of: seed, isOwned: kind == 2, hasSlowSignatures: kind == 3)
    }
  text = Array(line.utf8)
  // The array is not changed before the next call.
  return text.withUnsafeBufferPointer { $0.baseAddress }
}

/// Returns the number of bytes of the line.
@_expose(wasm, "length") @_cdecl("length") public func length() -> Int32 { Int32(text.count) }

/// The bytes that the caller wrote for the next call of ``decode``.
nonisolated(unsafe) private var input: [UInt8] = []

/// Returns the address of an input buffer with the given number of bytes.
@_expose(wasm, "input") @_cdecl("input") public func inputBuffer(_ count: Int32) -> UnsafeMutablePointer<UInt8>? {
  input = Array(repeating: 0, count: max(1, Int(count)))
  // The array is not changed before `decode`.
  return input.withUnsafeMutableBufferPointer { $0.baseAddress }
}

/// Passes the first bytes of the input buffer to every decoder, and stores the resulting line.
@_expose(wasm, "decode") @_cdecl("decode") public func decode(_ count: Int32) -> UnsafePointer<UInt8>? {
  text = Array(Decoders.line(of: Array(input.prefix(Int(count)))).utf8)
  return text.withUnsafeBufferPointer { $0.baseAddress }
}

/// The text of the last call.
nonisolated(unsafe) private var text: [UInt8] = []

/// Runs a world of `board-worlds`, and keeps its line.
///
/// - Parameters:
///   - seed: The seed.
///   - kind: 0 for boards, 1 for replicas, 2 for an owned board, 3 for slow signatures.
/// - Returns: The address of the line, in UTF-8.
@_expose(wasm, "world")
@_cdecl("world")
public func world(_ seed: UInt64, _ kind: Int32) -> UnsafePointer<UInt8>? {
  let line =
    kind == 0
    ? BoardWorld.line(of: seed)
    : ReplicaWorld.line(of: seed, isOwned: kind == 2, hasSlowSignatures: kind == 3)
  text = Array(line.utf8)
  // The array is not changed before the next call.
  return text.withUnsafeBufferPointer { $0.baseAddress }
}

/// Returns the number of bytes of the line.
@_expose(wasm, "length")
@_cdecl("length")
public func length() -> Int32 { Int32(text.count) }

import Crypto
import Foundation
import PeerTestKit
import WhiteboardDocument

/// A test's own directory, which is removed with all its files.
final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "whiteboard-document-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String = "board.whiteboard") -> String { path + "/" + name }
}

let someBoard: [UInt8] = Array(1...16)
let otherBoard: [UInt8] = Array(17...32)

/// Returns an entry whose bytes contain `number`.
func numbered(_ number: Int, size: Int = 16) -> DocumentEntry {
  .batch(bytes: numberedBytes(number, size: size), time: 1_700_000_000_000 + Int64(number))
}

func numberedBytes(_ number: Int, size: Int = 16) -> [UInt8] {
  var generator = SeededGenerator(seed: UInt64(number))
  var bytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  bytes.reserveCapacity(size)
  while bytes.count < size { bytes.append(UInt8(truncatingIfNeeded: generator.next())) }
  return bytes
}

func numbers(_ entries: [DocumentEntry]) -> [Int] {
  entries.compactMap { entry in
    guard case .batch(let bytes, _) = entry, bytes.count >= 8 else { return nil }
    let number = (0..<8).reduce(0) { $0 | Int(bytes[$1]) << (8 * $1) }
    return bytes == numberedBytes(number, size: bytes.count) ? number : nil
  }
}

/// Returns the code of the error that `body` throws, or nil.
func code(isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void) async -> DocumentError.Code? {
  do {
    try await body()
    return nil
  } catch { return (error as? DocumentError)?.code }
}

/// Flips a bit at each position of these bytes in a file; returns the number of positions.
@discardableResult func damage(_ path: String, where bytes: [UInt8]) throws -> Int {
  let file = URL(fileURLWithPath: path)
  var data = try Data(contentsOf: file)
  var count = 0
  var from = data.startIndex
  while let place = data.range(of: Data(bytes), in: from..<data.endIndex) {
    data[place.lowerBound] ^= 1
    from = place.upperBound
    count += 1
  }
  try data.write(to: file)
  return count
}

/// Returns the SHA-256 of bytes.
func sha256(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }

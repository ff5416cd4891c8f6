import Foundation
import Testing

/// A third-party program that checks our output.
///
/// Tests without it report that and check nothing.
struct Judge {
  struct Verdict {
    let status: Int32
    let words: String
  }

  let path: String

  /// Creates a judge; nil, with a warning, if the program is not installed.
  init?(_ name: String, package: String) {
    let path = "/usr/bin/\(name)"
    guard access(path, X_OK) == 0 else {
      Issue.record(
        "\(name) is not installed, and judged nothing (Debian: \(package))",
        severity: .warning
      )
      return nil
    }
    self.path = path
  }

  func judge(_ arguments: [String], input: String = "") async throws -> Verdict {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    let directory = try TemporaryDirectory()
    let (inputFile, outputFile) = (directory.path + "/in", directory.path + "/out")
    try Data(input.utf8).write(to: URL(fileURLWithPath: inputFile))
    try Data().write(to: URL(fileURLWithPath: outputFile))
    process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: inputFile))
    let output = try FileHandle(forWritingTo: URL(fileURLWithPath: outputFile))
    process.standardOutput = output
    process.standardError = output
    // Do not block a thread of the pool, because all tests share its few threads.
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in continuation.resume() }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    let words = try Data(contentsOf: URL(fileURLWithPath: outputFile))
    return Verdict(status: process.terminationStatus, words: String(decoding: words, as: UTF8.self))
  }
}

/// A test's own directory, which is removed with it.
final class TemporaryDirectory {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "relay-operations-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

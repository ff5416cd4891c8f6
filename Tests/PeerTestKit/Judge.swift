import Foundation

/// A third-party program that checks the output of a test.
public struct Judge {
  /// The result of a check.
  public struct Verdict {
    /// The exit status.
    public let status: Int32
    /// The output.
    public let words: String
  }

  private let path: String

  /// Creates a judge; nil if the program is not installed.
  public init?(_ name: String) {
    path = "/usr/bin/\(name)"
    guard access(path, X_OK) == 0 else { return nil }
  }

  /// Runs the program, and returns its verdict.
  public func judge(_ arguments: [String], input: String = "") async throws -> Verdict {
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
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in continuation.resume() }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    let words = try Data(contentsOf: URL(fileURLWithPath: outputFile))
    return Verdict(status: process.terminationStatus, words: String(decoding: words, as: UTF8.self))
  }
}

/// A directory of a test, which is removed with this object.
public final class TemporaryDirectory {
  /// The path of the directory.
  public let path: String

  /// Creates a directory.
  public init() throws {
    path = NSTemporaryDirectory() + "whiteboard-test-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

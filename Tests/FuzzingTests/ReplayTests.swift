import CZlib
import Foundation
import Testing

/// Runs each fuzzer on the inputs of its corpus and on its fail cases, as `Tests/Fuzzing/run --replay` does, but
/// without a build of its own.
///
/// Each fuzzer runs in its own process, because the violation of a property ends the process.
@Suite(.serialized) struct ReplayTests {
  @Test("each fuzzer has a corpus, and each corpus has a fuzzer") func corpora() throws {
    let archives = try FileManager.default.contentsOfDirectory(atPath: folder + "/Corpus")
    #expect(archives.sorted() == fuzzers.keys.map { $0 + ".tar.gz" }.sorted())
  }

  @Test("the properties of a fuzzer hold for all stored inputs", arguments: fuzzers.keys.sorted())
  func replay(name: String) async throws {
    let log = FileManager.default.temporaryDirectory.appending(path: "whiteboard-replay-\(UUID().uuidString)").path()
    defer { try? FileManager.default.removeItem(atPath: log) }
    let result = await #expect(processExitsWith: .success) { [name = name as String, log = log as String] in
      // The parent process reads the name of the last input and the message of its trap from this file.
      try #require(dup2(open(log, O_WRONLY | O_CREAT | O_APPEND, 0o600), STDERR_FILENO) >= 0)
      await onThread { replayInputs(of: name) }
    }
    if result == nil {
      let lines = (try? String(contentsOfFile: log, encoding: .utf8))?.split(separator: "\n") ?? []
      let last = lines.lastIndex { $0.hasPrefix("input ") } ?? lines.startIndex
      Issue.record("\(name) fails: \(lines[last...].prefix(3).joined(separator: "\n"))")
    }
  }
}

private let folder =
  URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().path() + "/Fuzzing"

private func replayInputs(of name: String) {
  guard let fuzzer = fuzzers[name] else { fatalError("no fuzzer \(name)") }
  var inputs = archivedInputs("\(folder)/Corpus/\(name).tar.gz")
  precondition(!inputs.isEmpty, "a corpus has inputs")
  let failCases = (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/FailCases")) ?? []
  for file in failCases.sorted() where file.hasPrefix(name + "-") {
    guard let data = FileManager.default.contents(atPath: "\(folder)/FailCases/\(file)") else { fatalError(file) }
    inputs.append((file, Array(data)))
  }
  for (file, bytes) in inputs {
    FileHandle.standardError.write(Data("input \(file)\n".utf8))
    // An input that computes for longer is a finding too.
    var limit = itimerval(it_interval: timeval(), it_value: timeval(tv_sec: 60, tv_usec: 0))
    setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &limit, nil)
    var input = Input(bytes)
    fuzzer(&input)
  }
}

/// Returns the files in an archive: a compressed `ustar` file that `Tests/Fuzzing/corpus.py` wrote.
private func archivedInputs(_ path: String) -> [(name: String, bytes: [UInt8])] {
  guard let file = gzopen(path, "rb") else { fatalError("\(path) cannot be read") }
  defer { gzclose(file) }
  func read(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    precondition(gzread(file, &bytes, UInt32(count)) == count, "\(path) is complete")
    return bytes
  }
  var inputs: [(name: String, bytes: [UInt8])] = []
  while true {
    let header = read(512)
    guard header[0] != 0 else { return inputs }
    let name = String(decoding: header.prefix(100).prefix { $0 != 0 }, as: UTF8.self)
    guard let size = Int(String(decoding: header[124..<135], as: UTF8.self), radix: 8) else {
      fatalError("\(path) has no size for \(name)")
    }
    inputs.append((name, Array(read((size + 511) / 512 * 512).prefix(size))))
  }
}

/// Runs a function on a thread whose stack is as large as that of a main thread.
///
/// The function may block, and some fuzzers need the same thread for all inputs.
private func onThread(_ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    let thread = Thread {
      body()
      continuation.resume()
    }
    thread.stackSize = 8 << 20
    thread.start()
  }
}

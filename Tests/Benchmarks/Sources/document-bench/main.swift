import Foundation
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

// Measures the cost of a document on the file system of a directory: `document-bench [DIRECTORY]`.

/// A key that does not sign, because the cost of a document does not depend on signatures.
struct NoKey: AuthorKey {
  let publicKey = [4] + [UInt8](repeating: 1, count: 64)
  func signature(of text: [UInt8]) -> [UInt8] { [UInt8](repeating: 0, count: 64) }
}

let directory = CommandLine.arguments.dropFirst().first ?? NSTemporaryDirectory()
let path = "\(directory)/document-bench-\(getpid()).whiteboard"
let clock = ContinuousClock()

func processorSeconds() -> Double {
  var usage = rusage()
  // 0 is RUSAGE_SELF. The constant itself does not have the type of the parameter.
  getrusage(0, &usage)
  func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
  return seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

func seconds(_ duration: Duration) -> Double {
  Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
}

func report(_ what: String, _ value: Double, _ unit: String) {
  print("\(what): \((value * 100).rounded() / 100) \(unit)")
}

func bytesOnDisk() -> Double {
  var status = stat()
  return stat(path, &status) == 0 ? Double(status.st_size) : 0
}

func entry(_ number: Int) -> DocumentEntry {
  .batch(bytes: (0..<16).map { UInt8(truncatingIfNeeded: number >> ($0 % 4)) }, time: Int64(number))
}

let board = [UInt8](repeating: 7, count: 16)
var document = try await BoardDocument.create(at: path, board: board, name: "bench", now: 0)
defer { unlink(path) }

/// Returns the share of a core that `work` takes when twenty callers call it 2,000 times per second.
func share(_ work: @escaping @Sendable (Int) async throws -> Void) async throws -> Double {
  let processor = processorSeconds()
  let start = clock.now
  try await withThrowingTaskGroup(of: Void.self) { group in
    for caller in 0..<20 {
      group.addTask {
        var next = clock.now.advanced(by: .microseconds(caller * 500))
        for number in 0..<500 {
          try await clock.sleep(until: next)
          try await work(number * 20 + caller)
          next = next.advanced(by: .milliseconds(10))
        }
      }
    }
    try await group.waitForAll()
  }
  return 100 * (processorSeconds() - processor) / seconds(clock.now - start)
}

// Twenty callers append a batch of one operation a hundred times per second each.
let idle = try await share { number in _ = entry(number) }
let writing = try await share { [document] number in try await document.append([entry(number)]) }
report("of a core for 2,000 operations a second, one a batch, 20 callers", writing - idle, "%")
report("of a core for callers that only wait", idle, "%")
try await document.close()
report("bytes an operation of 16 at that pace", bytesOnDisk() / 10_000, "bytes")

document = try await BoardDocument.open(at: path, mode: .writing, groupInterval: .zero)
var start = clock.now
for number in 0..<5_000 { try await document.append([entry(number)]) }
report("transactions a second, one caller that waits", 5_000 / seconds(clock.now - start), "/s")

start = clock.now
for group in 0..<1_000 { try await document.append((0..<1_000).map { entry(group + $0) }) }
report("operations a second, 1,000 at once", 1_000_000 / seconds(clock.now - start), "/s")

let state = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
start = clock.now
try await document.writeKeyframe(state, digest: board, time: 0)
report("a keyframe of 1 MB", 1000 * seconds(clock.now - start), "ms")
for number in 0..<400 { try await document.append((0..<10).map { entry(number + $0) }) }
try await document.close()
report("file of 1,019,000 operations and a keyframe", bytesOnDisk() / 1e6, "MB")

for mode in [BoardDocument.Mode.reading, .writing] {
  start = clock.now
  document = try await BoardDocument.open(at: path, mode: mode)
  let content = try await document.load()
  report("open for \(mode) and load 1 MB and \(content.entries.count) entries", 1000 * seconds(clock.now - start), "ms")
  try await document.close()
}
// A typical board: 10,000 texts in a keyframe. The measured time ends when the board can be edited.
unlink(path)
guard let boardID = BoardID(bytes: board) else { fatalError("16 bytes are an id") }
func replica() -> Replica {
  Replica(author: Author(board: boardID, key: NoKey()), now: Moment(wall: 1_700_000_000_000, uptime: 1))
}
let writer = replica()
for number in 0..<10_000 {
  _ = try writer.change(now: Moment(wall: 1_700_000_000_000, uptime: 1)) { board in
    _ = try board.createText("Text \(number)", at: Point(x: Double(number % 100) * 50, y: Double(number / 100) * 50))
  }
}
document = try await BoardDocument.create(at: path, board: board, name: "bench", now: 0)
try await document.writeKeyframe(writer.snapshotForKeeping(), digest: writer.digest.bytes, time: 0)
try await document.close()
report("file of 10,000 texts in a keyframe", bytesOnDisk() / 1e6, "MB")
var times: [Double] = []
for _ in 0..<11 {
  start = clock.now
  document = try await BoardDocument.open(at: path, mode: .writing)
  guard let keyframe = try await document.load().keyframe else { fatalError("it was written") }
  let opened = replica()
  _ = try opened.restore([.keyframe(keyframe.bytes)], now: Moment(wall: 1_700_000_000_000, uptime: 1))
  times.append(1000 * seconds(clock.now - start))
  guard opened.digest == writer.digest else { fatalError("another board") }
  try await document.close()
}
report("open that board for writing, median of 11", times.sorted()[5], "ms")

start = clock.now
_ = try await BoardLibrary(directory: directory).list()
report("listing the directory", 1000 * seconds(clock.now - start), "ms")

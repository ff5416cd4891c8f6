import FoundationEssentials
import Glibc
import Whiteboard
import WhiteboardSync

/// Returns the current or the peak resident memory of this process in megabytes.
func memory(_ key: String) throws -> Double {
  let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  for line in status.split(separator: "\n") where line.hasPrefix(key) {
    if let kibibytes = Double(line.filter(\.isNumber)) { return kibibytes * 1024 / 1e6 }
  }
  throw Failure(description: "no \(key)")
}

func measure(_ row: String) throws -> Figures {
  let work = try Work()
  switch row {
  case "alone": return try receiving(try work.updates(batchedBy: 1), work)
  case "batched": return try receiving(try work.updates(batchedBy: 50), work)
  case "drags": return try receiving(try work.drags(batchedBy: 50), work)
  case "shuffled": return try shuffled(work)
  case "catch-up": return try catchUp(work)
  case "ink": return try ink()
  default: throw Failure(description: "no such row: \(row)")
  }
}

let words = Array(CommandLine.arguments.dropFirst())
do {
  let figures: Figures
  switch words.first {
  case "save" where words.count == 2:
    let bytes = try snapshot(try Work())
    try Data(bytes).write(to: URL(filePath: words[1]))
    figures = [("bytes", Double(bytes.count))]
  case "load" where words.count == 2:
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: words[1])))
    let before = try memory("VmRSS:")
    let (time, state) = try load(bytes)
    let after = try memory("VmHWM:")
    guard state.objectCount == Work.replicas * Work.objectsEach else {
      throw Failure(description: "not all objects were loaded")
    }
    figures = [("time", time * 1000), ("memory", after - before)]
  case let row?: figures = try measure(row)
  case nil: throw Failure(description: "board-bench ROW | save FILE | load FILE")
  }
  print("{" + figures.map { "\"\($0.name)\": \($0.value)" }.joined(separator: ", ") + "}")
} catch {
  print("board-bench: \(error)")
  exit(64)
}

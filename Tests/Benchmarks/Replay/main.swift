// Measures reading, playing and verifying a recording of one hour in which four people draw.
//
//     replay-bench DIRECTORY [OPERATIONS]
//
// Creates a new file in DIRECTORY with drags, strokes in chunks, typing letter by letter, and moves of ten objects. The
// batches are the same as those that a board writes. All figures are for one thread, except the figures of the
// verification, which runs one replica per processor at the same time.

import PeerTestKit
import SessionReplay
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

#if canImport(Glibc)
@preconcurrency import Glibc
#endif

let arguments = CommandLine.arguments.dropFirst()
guard let directory = arguments.first else {
  print("replay-bench DIRECTORY [OPERATIONS]")
  exit(64)
}
let wanted = arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000_000
let clock = ContinuousClock()
let path = "\(directory)/replay-bench.whiteboard"
unlink(path)
guard let boardID = BoardID(bytes: Array(UInt8(1)...16)) else { exit(70) }

/// A simulated person who draws.
struct Person {
  let board: Board
  private var objects: [ObjectID] = []
  private var texts: [ObjectID] = []
  private var random: SeededGenerator

  init(_ number: UInt64) {
    guard let member = MemberID(bytes: [UInt8](repeating: UInt8(number), count: 32)) else {
      preconditionFailure("32 bytes")
    }
    board = Board(
      incarnation: Incarnation(number &* 0x9E37_79B9_7F4A_7C15),
      member: member,
      wallClock: 1_700_000_000_000
    )
    random = SeededGenerator(seed: number)
  }

  /// Performs one random user action, and returns its batches.
  mutating func act(at time: UInt64) throws -> [Batch] {
    board.wallClock = time
    let kind = objects.count < 10 ? 9 : random.below(10)
    switch kind {
    case 0..<4:
      let object = objects[random.below(objects.count)]
      for _ in 0..<30 { try board.move([object], by: Point(x: Double(random.below(9)), y: 1)) }
    case 4..<6:
      let stroke = try board.beginDrawing()
      var count = 0
      for _ in 0..<5 {
        var ink: [InkPoint] = []
        for _ in 0..<12 { ink.append(InkPoint(x: Int32(random.below(6400)), y: Int32(random.below(6400)))) }
        try board.appendInk(ink, to: stroke, first: count)
        count += ink.count
      }
      try board.endDrawing(stroke, count: count)
      objects.append(stroke)
    case 6..<8 where !texts.isEmpty:
      let text = texts[random.below(texts.count)]
      if (board.snapshot(text)?.text?.count ?? 0) < 500 {
        for letter in "hello " { try board.text(text).type(replacing: 0..<0, with: String(letter)) }
      }
    case 8:
      let chosen = (0..<10).map { _ in objects[random.below(objects.count)] }
      try board.move(Array(Set(chosen)), by: Point(x: 3, y: 4))
    default:
      let place = Point(x: Double(random.below(2000)), y: Double(random.below(2000)))
      let text = try board.createText("new", at: place)
      objects.append(text)
      texts.append(text)
    }
    _ = board.takeChanges()
    return board.takeBatches()
  }
}

func seconds(_ body: () async throws -> Void) async rethrows -> Double {
  let began = clock.now
  try await body()
  return (clock.now - began) / .seconds(1)
}

func line(_ what: String, _ figure: String) { print("| \(what) | \(figure) |") }

func rate(_ count: Int, _ time: Double) -> String {
  let rate = Int(Double(count) / time)
  return rate < 1_000_000
    ? "\(rate / 1000),000" : "\(rate / 1_000_000),\(String(rate / 1000 % 1000 + 1000).dropFirst()),000"
}

// The operations are spread evenly over an hour.
var people = (1...4).map { Person(UInt64($0)) }
var operations = 0
var entries: [DocumentEntry] = []
let start: UInt64 = 1_700_000_000_000
while operations < wanted {
  for index in people.indices where operations < wanted {
    let time = start + UInt64(operations) * 3_600_000 / UInt64(wanted)
    for batch in try people[index].act(at: time) {
      operations += batch.operations.count
      entries.append(.batch(bytes: EncodedBatch(batch).bytes, time: Int64(time)))
    }
  }
}
try await BoardDocument.create(at: path, board: boardID.bytes, name: "bench", now: Int64(start)).close()
let document = try await BoardDocument.open(at: path, mode: .writing, groupInterval: .zero)
let written = try await seconds {
  // Entries are appended in groups, as by a node that collects them for about 100 ms.
  for first in stride(from: 0, to: entries.count, by: 30) {
    try await document.append(Array(entries[first..<min(first + 30, entries.count)]))
  }
}
try await document.close()
var status = stat()
stat(path, &status)
let perOperation = Double(status.st_size) / Double(operations)
print("\(operations) operations in \(entries.count) batches, \(written) s to write")
line("bytes an operation in the file", "\((perOperation * 10).rounded() / 10)")

var read: Recording?
let opening = try await seconds { read = try await Recording.open(path) }
guard let recording = read else { exit(70) }
line("read and check the file, ms", "\(Int(opening * 1000))")

var playback = Playback(recording, spacing: .max)
let playing = await seconds { playback.seek(toPlace: recording.count) }
line("replay into one replica, operations a second", rate(operations, playing))
line("objects on the board in the end", "\(playback.board.state.objectCount)")

var isGood = false
let proving = await seconds { isGood = await Verification(of: recording, replicas: 8, seed: 1).isGood }
line("verify with 8 replicas, operations a second", rate(operations, proving))
guard isGood else {
  print("NOT GOOD")
  exit(1)
}

var seeking = Playback(recording)
let indexing = await seconds { seeking.seek(toPlace: recording.count) }
line("go through it once, keeping states, ms", "\(Int(indexing * 1000))")
var random = SeededGenerator(seed: 1)
var times: [Double] = []
for _ in 0..<500 {
  let target = random.below(recording.count + 1)
  times.append(await seconds { seeking.seek(toPlace: target) } * 1000)
}
times.sort()
func text(_ milliseconds: Double) -> String { "\((milliseconds * 10).rounded() / 10)" }
line("seek anywhere, ms: half / 99 of 100 / worst", "\(text(times[250])) / \(text(times[495])) / \(text(times[499]))")
var usage = rusage()
getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
line("memory at most, MB", "\(usage.ru_maxrss / 1024)")
unlink(path)

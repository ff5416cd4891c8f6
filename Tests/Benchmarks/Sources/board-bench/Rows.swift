import Glibc
import Whiteboard
import WhiteboardSync

typealias Figures = [(name: String, value: Double)]

/// Returns the processor seconds of `body`, without those of other processes.
func seconds<Result>(_ body: () throws -> Result) rethrows -> (Double, Result) {
  let start = processorTime()
  let result = try body()
  return (processorTime() - start, result)
}

private func processorTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// An unknown row, or replicas that differ.
struct Failure: Error, CustomStringConvertible { let description: String }

/// One message of a link: the index of its sender, and its bytes with the kind.
typealias Message = (sender: Int, bytes: [UInt8])

func messages(_ batches: [Batch], of work: Work) -> ([Message], [BatchChain]) {
  var writers = work.authors.map { _ in LinkBatchWriter() }
  var chains = work.authors.map { BatchChain($0) }
  let messages = batches.enumerated().map { number, batch -> Message in
    let sender = number % Work.replicas
    let encoded = EncodedBatch(batch)
    chains[sender].append(encoded.bytes, through: batch.sequences.upperBound)
    return (sender, [1] + writers[sender].encode(encoded))
  }
  return (messages, chains)
}

/// Measures how fast a replica handles remote updates, message by message.
func receiving(_ batches: [Batch], _ work: Work) throws -> Figures {
  let (messages, expected) = messages(batches, of: work)
  var state = try work.board()
  var readers = work.authors.map { author in
    var reader = LinkBatchReader()
    reader.beginAuthor(author, lastSequence: UInt64(Work.objectsEach * Work.properties))
    return reader
  }
  var chains = work.authors.map { BatchChain($0) }
  var told = 0
  let (time, _) = try seconds {
    for message in messages {
      let batch = try readers[message.sender].decode(message.bytes, from: 1)
      chains[message.sender].append(batch.bytes, through: batch.batch.sequences.upperBound)
      var changes = ChangeLog()
      try state.apply(batch.batch, changes: &changes)
      told += changes.changes(in: state).count
    }
  }
  guard zip(chains, expected).allSatisfy({ $0.hash == $1.hash }) else {
    throw Failure(description: "the chains differ")
  }
  guard told > 0 else { throw Failure(description: "no change was reported") }
  let bytes = messages.reduce(0) { $0 + $1.bytes.count }
  return [("rate", Double(Work.updates) / time), ("bytes", Double(bytes) / Double(Work.updates))]
}

/// Measures single updates in full form, in order and in random order.
func shuffled(_ work: Work) throws -> Figures {
  let ordered = try work.updates(batchedBy: 1).map { BatchCoding.encode($0) }
  var random = Generator(seed: 4)
  let mixed = ordered.shuffled(using: &random)
  let start = try work.board()
  func run(_ batches: [[UInt8]]) throws -> (Double, BoardState) {
    var state = start
    let (time, _) = try seconds {
      for bytes in batches {
        var changes = ChangeLog()
        try state.apply(try EncodedBatch(decoding: bytes).batch, changes: &changes)
        _ = changes.changes(in: state)
      }
    }
    return (Double(Work.updates) / time, state)
  }
  let (straight, one) = try run(ordered)
  let (twisted, other) = try run(mixed)
  guard BoardDigest.digest(of: one) == BoardDigest.digest(of: other) else {
    throw Failure(description: "the order made a difference")
  }
  return [("rate", twisted), ("ordered", straight), ("share", twisted / straight)]
}

/// Returns the bytes of the whole board for an empty replica.
func snapshot(_ work: Work) throws -> [UInt8] {
  var state = try work.board()
  var changes = ChangeLog()
  for batch in try work.updates(batchedBy: 50) { try state.apply(batch, changes: &changes) }
  return DifferenceCoding.encode(state.difference(since: Context()))
}

/// Decodes and merges a snapshot into an empty board.
func load(_ bytes: [UInt8]) throws -> (Double, BoardState) {
  try seconds {
    var state = BoardState()
    var changes = ChangeLog()
    try state.merge(try DifferenceCoding.decode(bytes), changes: &changes)
    return state
  }
}

/// Measures the request and the answer for a replica that lacks the last 20,000 updates.
func catchUp(_ work: Work) throws -> Figures {
  let batches = try work.updates(batchedBy: 50)
  var late = try work.board()
  var changes = ChangeLog()
  for batch in batches.dropLast(400) { try late.apply(batch, changes: &changes) }
  var ahead = late
  for batch in batches.suffix(400) { try ahead.apply(batch, changes: &changes) }
  let (time, count) = try seconds {
    var changes = ChangeLog()
    let answer = DifferenceCoding.encode(ahead.difference(since: late.context))
    try late.merge(try DifferenceCoding.decode(answer), changes: &changes)
    return answer.count
  }
  guard BoardDigest.digest(of: ahead) == BoardDigest.digest(of: late) else {
    throw Failure(description: "something is still missing")
  }
  return [("bytes", Double(count)), ("time", time * 1000)]
}

/// Measures the bytes per point of freehand strokes: 120 points per second, and a commit of one message every 250 ms.
func ink() throws -> Figures {
  [
    ("bytes", try ink(hasPressure: false, pieces: 4)), ("pressure", try ink(hasPressure: true, pieces: 4)),
    ("long", try ink(hasPressure: true, pieces: 12)),
  ]
}

private func ink(hasPressure: Bool, pieces: Int) throws -> Double {
  var random = Generator(seed: 5)
  guard let member = MemberID(bytes: Array(repeating: 1, count: 32)) else {
    throw Failure(description: "a member has 32 bytes")
  }
  let board = Board(incarnation: Incarnation(7), member: member, wallClock: Work.epoch)
  var writer = LinkBatchWriter()
  var bytes = 0
  func send() { for batch in board.takeBatches() { bytes += 1 + writer.encode(EncodedBatch(batch)).count } }
  let strokes = 200
  for _ in 0..<strokes {
    let stroke = try board.beginDrawing()
    send()
    var (x, y) = (Double(random.below(160_000)), Double(random.below(160_000)))
    var heading = Double(random.below(628)) / 100
    var pressure = 120
    for piece in 0..<pieces {
      let points = (0..<30).map { _ in
        heading += Double(random.below(61) - 30) / 100
        let speed = Double(4 + random.below(36))
        x += speed * cos(heading)
        y += speed * sin(heading)
        pressure = min(255, max(1, pressure + random.below(9) - 4))
        return InkPoint(x: Int32(x), y: Int32(y), pressure: hasPressure ? UInt8(pressure) : 0)
      }
      board.wallClock += 250
      try board.appendInk(points, to: stroke, first: piece * 30)
      send()
    }
    try board.endDrawing(stroke, count: pieces * 30)
    send()
  }
  return Double(bytes) / Double(strokes * pieces * 30)
}

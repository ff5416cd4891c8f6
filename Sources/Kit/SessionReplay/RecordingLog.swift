import Whiteboard
import WhiteboardSync

/// The log line of one step of a recording.
public struct RecordingLine: Hashable, Sendable {
  /// The number of the step, from 1.
  public let number: Int
  /// The time of the step, in milliseconds from the beginning.
  public let elapsed: Int64
  /// The author; `nil` if the author is unknown, and for answers and keyframes.
  public let member: MemberID?
  /// The kind of step: `batch`, `answer` or `keyframe`.
  public let kind: String
  /// The size of the step in bytes.
  public let bytes: Int
  /// The incarnation that wrote the batch; `nil` for answers and keyframes.
  public let incarnation: Incarnation?
  /// The sequence number of the first operation; 0 if the step is not a batch.
  public let sequence: UInt64
  /// The number of operations in the step.
  public let operations: Int
  /// A description of the change: the kinds of objects, the properties, and the first words of inserted text.
  ///
  /// The description contains untrusted text from peers.
  public let words: String
}

/// An iterator that describes a recording step by step.
public struct RecordingLog: Sendable {
  private let recording: Recording
  private var members: [Incarnation: MemberID] = [:]
  private var kinds: [ObjectID: ObjectKind] = [:]
  private var place = 0

  /// Creates a log that begins with the first step.
  public init(_ recording: Recording) {
    self.recording = recording
    members = recording.members
  }

  /// Returns the line for the next step, or `nil` at the end.
  public mutating func next() -> RecordingLine? {
    guard place < recording.count else { return nil }
    defer { place += 1 }
    let step = recording.history.steps[place]
    switch step.content {
    case .answer(let bytes): return line("answer", bytes.count, "the state of another member")
    case .keyframe(let bytes): return line("keyframe", bytes.count, "the whole board")
    case .batch(let bytes):
      guard let batch = try? BatchCoding.decode(bytes) else { return line("batch", bytes.count, "malformed") }
      return line("batch", bytes.count, words(batch), batch)
    }
  }

  private func line(_ kind: String, _ bytes: Int, _ words: String, _ batch: Batch? = nil) -> RecordingLine {
    RecordingLine(
      number: place + 1,
      elapsed: recording.times[place],
      member: batch.flatMap { members[$0.author] },
      kind: kind,
      bytes: bytes,
      incarnation: batch?.author,
      sequence: batch?.firstSequence ?? 0,
      operations: batch?.operations.count ?? 0,
      words: words
    )
  }

  private mutating func words(_ batch: Batch) -> String {
    var order: [ObjectID] = []
    var written: [ObjectID: [String]] = [:]
    for operation in batch.operations {
      if operation.property == .kind, case .unsigned(let number) = operation.value {
        kinds[operation.object] = ObjectKind(rawValue: number)
      }
      if written[operation.object] == nil { order.append(operation.object) }
      let word = Self.words(operation)
      if written[operation.object]?.last != word { written[operation.object, default: []].append(word) }
    }
    return order.map { id in "\(kinds[id]?.name ?? "object") \(id): \((written[id] ?? []).joined(separator: ", "))" }
      .joined(separator: "; ")
  }

  private static func words(_ operation: Operation) -> String {
    guard let name = operation.property.name else { return "property \(operation.property.number)" }
    switch operation.value {
    case .bytes(let bytes) where operation.property.number == Property.runNumber:
      // The inserted characters of a text object.
      return (try? TextTree.decodeRun(bytes).1).map { "\(name) \"\($0)\"" } ?? name
    case .text(let text): return "\(name) \"\(text)\""
    case .pair(let x, let y) where operation.property == .position: return "\(name) \(x / 64),\(y / 64)"
    default: return name
    }
  }
}

extension RecordingLog {
  /// Returns the display name of a property, by its number.
  public static func name(ofProperty number: UInt16) -> String { Property.names[number] ?? "property \(number)" }
}

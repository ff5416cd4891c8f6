import Whiteboard
import WhiteboardSync

/// The contribution of each author to a recording, and the recording's size.
public struct RecordingStatistics: Sendable {
  /// The contribution of one member, under all its incarnations.
  public struct Person: Sendable {
    /// The member; nil if no record says whose the incarnation is.
    public let member: MemberID?
    /// How many batches.
    public fileprivate(set) var batches = 0
    /// How many operations.
    public fileprivate(set) var operations = 0
    /// How many bytes its batches have.
    public fileprivate(set) var bytes = 0
    /// When it first wrote, in milliseconds from the beginning.
    public fileprivate(set) var first: Int64
    /// When it last wrote.
    public fileprivate(set) var last: Int64
    /// How long after they were made its batches came to whoever recorded, as both clocks tell it: half of them
    /// within the first time, 99 of 100 within the second, in milliseconds.
    ///
    /// Where clocks differ, all are longer or shorter by that.
    public fileprivate(set) var latency: (median: Int64, late: Int64) = (0, 0)
    fileprivate var latencies: [Int64] = []
  }

  /// The authors, most operations first.
  public let people: [Person]
  /// How many batches there are.
  public let batches: Int
  /// How many answers and keyframes: states that came as a whole.
  public let states: Int
  /// How many operations the batches have.
  public let operations: Int
  /// How many operations there are of each property's number, most first.
  public let properties: [(number: UInt16, count: Int)]
  /// How many bytes the steps have.
  public let bytes: Int
  /// The longest time in which nothing happened, in milliseconds, and when it began.
  public let longestPause: (duration: Int64, since: Int64)

  /// Counts.
  /// - Complexity: O(n).
  public init(of recording: Recording) {
    let members = recording.members
    var people: [MemberID?: Person] = [:]
    var properties: [UInt16: Int] = [:]
    var (batches, states, operations, bytes) = (0, 0, 0, 0)
    var pause: (duration: Int64, since: Int64) = (0, 0)
    for (place, step) in recording.history.steps.enumerated() {
      let time = recording.times[place]
      if place > 0, time - recording.times[place - 1] > pause.duration {
        pause = (time - recording.times[place - 1], recording.times[place - 1])
      }
      switch step.content {
      case .answer(let content), .keyframe(let content):
        states += 1
        bytes += content.count
      case .batch(let content):
        bytes += content.count
        batches += 1
        guard let batch = try? BatchCoding.decode(content) else { continue }
        operations += batch.operations.count
        for operation in batch.operations { properties[operation.property.number, default: 0] += 1 }
        let member = members[batch.author]
        var person = people[member] ?? Person(member: member, first: time, last: time)
        person.batches += 1
        person.operations += batch.operations.count
        person.bytes += content.count
        person.last = time
        let made = Int64(clamping: batch.time.rawValue >> 16)
        person.latencies.append(Recording.difference(step.time, made))
        people[member] = person
      }
    }
    self.people = people.values.map { person in
      var person = person
      let sorted = person.latencies.sorted()
      person.latency = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
      person.latencies = []
      return person
    }.sorted { one, other in
      one.operations != other.operations
        ? one.operations > other.operations
        : (one.member?.description ?? "") < (other.member?.description ?? "")
    }
    self.batches = batches
    self.states = states
    self.operations = operations
    self.properties = properties.map { ($0.key, $0.value) }
      .sorted { ($1.count, $0.number) < ($0.count, $1.number) }
    self.bytes = bytes
    longestPause = pause
  }
}

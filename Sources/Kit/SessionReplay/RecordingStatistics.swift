import Whiteboard
import WhiteboardSync

/// The contribution of each author to a recording, and the recording's size.
public struct RecordingStatistics: Sendable {
  /// The contribution of one member, under all its incarnations.
  public struct Person: Sendable {
    /// The member; `nil` if the recording has no author record of the incarnation.
    public let member: MemberID?
    /// The number of batches that the member wrote.
    public fileprivate(set) var batches = 0
    /// The number of operations in the batches.
    public fileprivate(set) var operations = 0
    /// The size of the batches in bytes.
    public fileprivate(set) var bytes = 0
    /// The time of the first batch, in milliseconds from the beginning.
    public fileprivate(set) var first: Int64
    /// The time of the last batch, in milliseconds from the beginning.
    public fileprivate(set) var last: Int64
    /// The median and the 99th percentile of the time from the creation of a batch to its arrival at the recorder, in
    /// milliseconds.
    ///
    /// The time is measured with the clocks of both computers, so it includes any difference between these clocks.
    public fileprivate(set) var latency: (median: Int64, late: Int64) = (0, 0)
    fileprivate var latencies: [Int64] = []
  }

  /// The authors, in descending order of the number of their operations.
  public let people: [Person]
  /// The number of batches in the recording.
  public let batches: Int
  /// The number of steps that contain a whole state: answers and keyframes.
  public let states: Int
  /// The number of operations in the batches.
  public let operations: Int
  /// The number of operations for each property number, in descending order.
  public let properties: [(number: UInt16, count: Int)]
  /// The size of all steps in bytes.
  public let bytes: Int
  /// The length of the longest pause between two steps, and the time at which the pause began, in milliseconds.
  public let longestPause: (duration: Int64, since: Int64)

  /// Collects the statistics of a recording.
  ///
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
        ? one.operations > other.operations : (one.member?.description ?? "") < (other.member?.description ?? "")
    }
    self.batches = batches
    self.states = states
    self.operations = operations
    self.properties = properties.map { ($0.key, $0.value) }.sorted { ($1.count, $0.number) < ($0.count, $1.number) }
    self.bytes = bytes
    longestPause = pause
  }
}

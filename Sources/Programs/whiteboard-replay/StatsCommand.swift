import ArgumentParser
import PeerCore
import SessionReplay
import Whiteboard
import WhiteboardKit
import WhiteboardPrograms

struct StatsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Show how much each author did in a recording.",
    discussion: """
      LATENCY is the time between the creation of an author's changes and their arrival at the recorder: the \
      median and the 99th percentile. It is computed from the clocks of two computers, so any difference between \
      the clocks distorts it. Times in JSON are in milliseconds.
      """
  )

  @OptionGroup var input: RecordingArgument

  @Flag(help: "Write one JSON object.") var json = false

  mutating func run() async throws {
    let recording = try await input.recording()
    let statistics = RecordingStatistics(of: recording)
    let traffic = TrafficStatistics(of: recording.history.traffic)
    try Console.tell(json ? Self.json(statistics, traffic, recording) : Self.text(statistics, traffic, recording))
  }

  private static func text(_ statistics: RecordingStatistics, _ traffic: TrafficStatistics, _ recording: Recording)
    -> String
  {
    let changed = statistics.people.reduce(0) { $0 + $1.bytes }
    let perOperation = statistics.operations > 0 ? Double(changed) / Double(statistics.operations) : 0
    var text = """
      \(EventText.count(statistics.batches, "batch", "batches")), \(EventText.count(statistics.operations, "operation")), \
      \(changed) bytes (\((perOperation * 10).rounded() / 10) per operation); \
      \(EventText.count(statistics.states, "whole state")), \(statistics.bytes - changed) bytes
      lasts \(Recording.exactText(recording.duration)); the longest pause, \
      \(Recording.exactText(statistics.longestPause.duration)), began at \
      \(Recording.exactText(statistics.longestPause.since))


      """
    text += TextTable.text(
      [["PERSON", "OPERATIONS", "BATCHES", "BYTES", "FROM", "TO", "LATENCY", "99%"]]
        + statistics.people.map { person in
          [
            person.member.map(recording.label) ?? "unknown", "\(person.operations)", "\(person.batches)",
            "\(person.bytes)", Recording.exactText(person.first), Recording.exactText(person.last),
            "\(person.latency.median) ms", "\(person.latency.late) ms",
          ]
        },
      numbers: Set(1...7)
    )
    text += "\n"
    text += TextTable.text(
      [["PROPERTY", "OPERATIONS"]]
        + statistics.properties.map { number, count in [RecordingLog.name(ofProperty: number), "\(count)"] },
      numbers: [1]
    )
    guard !traffic.people.isEmpty else { return text }
    func both(_ amounts: (received: TrafficStatistics.Amount, sent: TrafficStatistics.Amount)) -> [String] {
      [amounts.received, amounts.sent].map { $0.count == 0 ? "-" : "\($0.count) (\($0.bytes))" }
    }
    text += "\nReceived (<-) and sent (->), with the number of bytes:\n"
    text += TextTable.text(
      [["PEER", "MESSAGES <-", "->", "DATAGRAMS <-", "->", "RESOURCES <-", "->", "STREAMS <-", "->", "JOINED", "LOST"]]
        + traffic.people.map { person in
          [recording.label(of: person.member)] + both(person.messages) + both(person.datagrams) + both(person.resources)
            + both(person.streams) + ["\(person.joins)", "\(person.losses)"]
        },
      numbers: Set(1...10)
    )
    return text
  }

  private static func json(_ statistics: RecordingStatistics, _ traffic: TrafficStatistics, _ recording: Recording)
    -> String
  {
    func add(_ member: MemberID, to json: inout JSONObject) {
      json.add("peer", string: member.description)
      if let name = recording.name(of: member) { json.add("name", string: name) }
    }
    func both(_ amounts: (received: TrafficStatistics.Amount, sent: TrafficStatistics.Amount)) -> String {
      var json = JSONObject()
      json.add("received", whole: amounts.received.count)
      json.add("receivedBytes", whole: amounts.received.bytes)
      json.add("sent", whole: amounts.sent.count)
      json.add("sentBytes", whole: amounts.sent.bytes)
      return json.text
    }
    let people = statistics.people.map { person in
      var json = JSONObject()
      if let member = person.member { add(member, to: &json) }
      json.add("operations", whole: person.operations)
      json.add("batches", whole: person.batches)
      json.add("bytes", whole: person.bytes)
      json.add("from", whole: person.first)
      json.add("to", whole: person.last)
      json.add("latency", whole: person.latency.median)
      json.add("latency99", whole: person.latency.late)
      return json.text
    }
    var properties = JSONObject()
    for (number, count) in statistics.properties {
      properties.add(RecordingLog.name(ofProperty: number), whole: count)
    }
    let peers = traffic.people.map { person in
      var json = JSONObject()
      add(person.member, to: &json)
      json.add("messages", json: both(person.messages))
      json.add("datagrams", json: both(person.datagrams))
      json.add("resources", json: both(person.resources))
      json.add("streams", json: both(person.streams))
      json.add("joined", whole: person.joins)
      json.add("lost", whole: person.losses)
      return json.text
    }
    var json = JSONObject()
    json.add("batches", whole: statistics.batches)
    json.add("operations", whole: statistics.operations)
    json.add("bytes", whole: statistics.bytes)
    json.add("states", whole: statistics.states)
    json.add("ms", whole: recording.duration)
    json.add("longestPause", whole: statistics.longestPause.duration)
    json.add("longestPauseSince", whole: statistics.longestPause.since)
    json.add("people", list: people)
    json.add("properties", json: properties.text)
    json.add("traffic", list: peers)
    return json.text + "\n"
  }
}

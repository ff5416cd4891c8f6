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
    func member(_ member: MemberID) -> String {
      let name = recording.name(of: member).map { #","name":\#(JSONObject.quoted($0))"# } ?? ""
      return #""peer":\#(JSONObject.quoted(member.description))\#(name)"#
    }
    func both(_ key: String, _ amounts: (received: TrafficStatistics.Amount, sent: TrafficStatistics.Amount)) -> String
    {
      #""\#(key)":{"received":\#(amounts.received.count),"receivedBytes":\#(amounts.received.bytes),"#
        + #""sent":\#(amounts.sent.count),"sentBytes":\#(amounts.sent.bytes)}"#
    }
    let people = statistics.people.map { person in
      "{" + (person.member.map { member($0) + "," } ?? "")
        + #""operations":\#(person.operations),"batches":\#(person.batches),"bytes":\#(person.bytes),"#
        + #""from":\#(person.first),"to":\#(person.last),"latency":\#(person.latency.median),"#
        + #""latency99":\#(person.latency.late)}"#
    }
    let properties = statistics.properties.map { number, count in
      "\(JSONObject.quoted(RecordingLog.name(ofProperty: number))):\(count)"
    }
    let peers = traffic.people.map { person in
      "{\(member(person.member)),\(both("messages", person.messages)),"
        + "\(both("datagrams", person.datagrams)),\(both("resources", person.resources)),"
        + "\(both("streams", person.streams))," + #""joined":\#(person.joins),"lost":\#(person.losses)}"#
    }
    return #"{"batches":\#(statistics.batches),"operations":\#(statistics.operations),"#
      + #""bytes":\#(statistics.bytes),"states":\#(statistics.states),"#
      + #""ms":\#(recording.duration),"longestPause":\#(statistics.longestPause.duration),"#
      + #""longestPauseSince":\#(statistics.longestPause.since),"# + #""people":[\#(people.joined(separator: ","))],"#
      + #""properties":{\#(properties.joined(separator: ","))},"# + #""traffic":[\#(peers.joined(separator: ","))]}"#
      + "\n"
  }
}

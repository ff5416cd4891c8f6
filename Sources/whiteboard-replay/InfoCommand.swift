import ArgumentParser
import PeerCore
import SessionReplay
import Whiteboard
import WhiteboardCommands
import WhiteboardKit

/// `whiteboard-replay info`.
struct InfoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Summarize the contents of a recording."
  )

  @OptionGroup var input: RecordingArgument

  @Flag(help: "Write one JSON object.") var json = false

  mutating func run() async throws {
    let recording = try await input.recording()
    var playback = Playback(recording, spacing: .max)
    playback.seek(toPlace: recording.count)
    playback.tellFaults()
    let statistics = RecordingStatistics(of: recording)
    let gaps = recording.history.marks.filter { $0.name == nil && $0.until > $0.time }
    let objects = playback.board.shown().snapshots.count
    let names = statistics.people.compactMap(\.member).map(recording.label)
    let facts: [(key: String, label: String, text: String, isNumber: Bool)] = [
      ("name", "name", recording.history.name, false), ("board", "board", recording.board.description, false),
      ("start", "begins", recording.start.map(BoardFile.time) ?? "", false),
      ("seconds", "lasts", "\(Double(recording.duration) / 1000)", true),
      ("people", "people", "\(statistics.people.count)", true), ("steps", "steps", "\(recording.count)", true),
      ("operations", "operations", "\(statistics.operations)", true), ("bytes", "bytes", "\(statistics.bytes)", true),
      ("traffic", "traffic", "\(recording.history.traffic.count)", true),
      ("digests", "digests", "\(recording.history.checks.count)", true),
      ("damages", "damages", "\(recording.history.damages.count)", true), ("objects", "objects", "\(objects)", true),
      ("digest", "digest", playback.board.digest.hex, false),
    ]
    if json {
      var fields = facts.map { fact in
        "\(JSONObject.quoted(fact.key)):\(fact.isNumber ? fact.text : JSONObject.quoted(fact.text))"
      }
      let markers = recording.markers.map { marker in
        #"{"ms":\#(marker.elapsed),"name":\#(JSONObject.quoted(marker.name))}"#
      }
      let unrecorded = gaps.map { gap in
        #"{"from":\#(recording.elapsed(gap.time)),"to":\#(recording.elapsed(gap.until))}"#
      }
      fields.append(#""markers":[\#(markers.joined(separator: ","))]"#)
      fields.append(#""gaps":[\#(unrecorded.joined(separator: ","))]"#)
      try Console.tell("{\(fields.joined(separator: ","))}\n")
      return
    }
    for fact in facts {
      let label = fact.label + String(repeating: " ", count: max(1, 12 - fact.label.count))
      var text = fact.text
      switch fact.key {
      case "seconds": text = Recording.exactText(recording.duration)
      case "people" where !names.isEmpty: text += ": " + names.joined(separator: ", ")
      case "bytes": text += " in the changes"
      case "traffic" where recording.history.traffic.isEmpty: text = "not recorded"
      case "traffic": text += " entries"
      default: break
      }
      try Console.tell("\(label)\(UntrustedText(text).escaped())\n")
    }
    for marker in recording.markers {
      let time = Recording.exactText(marker.elapsed)
      try Console.tell("marker      \(time) \(UntrustedText(marker.name).escaped())\n")
    }
    for gap in gaps {
      let time = Recording.exactText(recording.elapsed(gap.time))
      let until = Recording.exactText(recording.elapsed(gap.until))
      try Console.tell("gap         \(time) to \(until): not recorded\n")
    }
  }
}

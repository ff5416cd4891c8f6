import Foundation
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// The text form of a recording, as JSON lines that users can read, compare and edit.
///
/// The first line contains the id of the board. Author records, photos, steps, marks and digests follow. Marks and
/// digests come after the step to which they refer. In a step, `bytes` contains the change, and `words` is only a
/// description for readers.
public enum RecordingLines {
  /// The reason why lines of text are not a valid recording.
  public struct ReadError: Error, Hashable, Sendable {
    /// The number of the line, from 1.
    public let line: Int
    /// A message that describes the problem and the expected input.
    public let message: String
  }

  private struct Line: Codable {
    var recording: Int?
    var board: String?
    var name: String?
    var author: String?
    var record: String?
    var sequence: UInt64?
    var head: String?
    var photo: String?
    var base64: Data?
    var step: String?
    var time: Int64?
    var by: String?
    var words: String?
    var bytes: String?
    var mark: String?
    var gap: Int64?
    var digest: String?
    var version: String?
    var person: String?
    var end: Int64?
    var traffic: Int?
    var peers: [String]?
    var number: UInt64?
    var size: UInt64?
    var text: String?
  }

  /// The times that a recording can contain, in milliseconds since 1970.
  private static let times: ClosedRange<Int64> = 0...253_402_300_799_999

  /// Writes a recording line by line.
  ///
  /// - Parameters:
  ///   - recording: The recording to write.
  ///   - photos: The photos of the recording, by their SHA-256.
  ///   - tell: A closure that receives each line, including its line feed.
  /// - Throws: The errors thrown by `tell`.
  public static func write(_ recording: Recording, photos: [[UInt8]: [UInt8]], _ tell: (String) throws -> Void) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    func put(_ line: Line) throws { try tell(String(decoding: try encoder.encode(line), as: UTF8.self) + "\n") }
    let history = recording.history
    try put(Line(recording: 1, board: Hexadecimal.encode(history.board), name: history.name))
    for author in history.authors {
      try put(
        Line(
          author: "\(author.incarnation)",
          record: Hexadecimal.encode(author.record),
          sequence: author.sequence,
          head: Hexadecimal.encode(author.head)
        )
      )
    }
    for (person, name) in history.names.sorted(by: { $0.key < $1.key }) { try put(Line(name: name, person: person)) }
    for sha256 in photos.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      try put(Line(photo: Hexadecimal.encode(sha256), base64: photos[sha256].map { Data($0) }))
    }
    var (marks, checks) = (history.marks[...], history.checks[...])
    func passed(_ place: Int) throws {
      while let mark = marks.first, mark.place <= place {
        marks.removeFirst()
        if let name = mark.name {
          try put(Line(time: mark.time, mark: name))
        } else {
          try put(Line(time: mark.time, gap: mark.until))
        }
      }
      while let check = checks.first, check.place <= place {
        checks.removeFirst()
        let digest = Hexadecimal.encode(check.digest)
        try put(Line(time: check.time, digest: digest, version: check.name))
      }
    }
    var log = RecordingLog(recording)
    for (place, step) in history.steps.enumerated() {
      try passed(place)
      let told = log.next()
      let bytes =
        switch step.content {
        case .batch(let bytes), .answer(let bytes), .keyframe(let bytes): bytes
        }
      try put(
        Line(
          step: told?.kind,
          time: step.time,
          by: told?.member?.description,
          words: told?.words,
          bytes: Hexadecimal.encode(bytes)
        )
      )
    }
    try passed(.max)
    for entry in history.traffic {
      try put(
        Line(
          time: entry.time,
          bytes: entry.bytes.isEmpty ? nil : Hexadecimal.encode(entry.bytes),
          traffic: Int(entry.kind.rawValue),
          peers: entry.peers.map { Hexadecimal.encode($0) },
          number: entry.number > 0 ? entry.number : nil,
          size: entry.size > 0 ? entry.size : nil,
          text: entry.text.isEmpty ? nil : entry.text
        )
      )
    }
    if let end = history.end { try put(Line(end: end)) }
  }

  /// Reads lines that ``write(_:photos:_:)`` produced and that a user may have edited.
  ///
  /// - Returns: The recording, with the digests from the lines, and its photos.
  /// - Throws: ``ReadError`` for the first invalid line.
  public static func read(_ lines: some Sequence<some StringProtocol>) throws(ReadError) -> (
    recording: Recording, photos: [[UInt8]: [UInt8]]
  ) {
    let decoder = JSONDecoder()
    var heading: (board: [UInt8], name: String)?
    var steps: [DocumentHistory.Step] = []
    var checks: [DocumentHistory.Check] = []
    var marks: [DocumentHistory.Mark] = []
    var authors: [StoredAuthor] = []
    var photos: [[UInt8]: [UInt8]] = [:]
    var names: [String: String] = [:]
    var traffic: [TrafficEntry] = []
    var end: Int64?
    var number = 0
    for text in lines {
      number += 1
      guard !text.allSatisfy(\.isWhitespace) else { continue }
      func wrong(_ message: String) -> ReadError { ReadError(line: number, message: message) }
      let line: Line
      do { line = try decoder.decode(Line.self, from: Data(text.utf8)) } catch {
        throw wrong("this is not a line of a recording; lines must be as `export -o FILE.jsonl` writes them")
      }
      guard [line.time, line.end, line.gap].allSatisfy({ $0.map(times.contains) ?? true }) else {
        throw wrong("a time must be in the years 1970 to 9999: a number of milliseconds from 0 to \(times.upperBound)")
      }
      func bytes(_ text: String?, _ what: String) throws(ReadError) -> [UInt8] {
        guard let text, let bytes = Hexadecimal.decode(text) else { throw wrong("\(what) is not hexadecimal") }
        return bytes
      }
      if heading == nil {
        guard line.recording == 1 else { throw wrong("the first line must contain \"recording\":1 and \"board\"") }
        heading = (try bytes(line.board, "board"), line.name ?? "board")
      } else if let author = line.author {
        guard let incarnation = UInt64(author) else { throw wrong("author is not a number") }
        authors.append(
          StoredAuthor(
            incarnation: incarnation,
            record: try bytes(line.record ?? "", "record"),
            sequence: line.sequence ?? 0,
            head: try bytes(line.head ?? "", "head")
          )
        )
      } else if let photo = line.photo {
        photos[try bytes(photo, "photo")] = line.base64.map { Array($0) } ?? []
      } else if let person = line.person {
        names[person] = line.name ?? ""
      } else if let time = line.end {
        end = time
      } else if let kind = line.traffic, let time = line.time {
        guard let kind = UInt8(exactly: kind).flatMap(TrafficEntry.Kind.init) else {
          throw wrong("traffic must be a kind from 0 to \(TrafficEntry.Kind.allCases.count - 1)")
        }
        var peers: [[UInt8]] = []
        for peer in line.peers ?? [] { peers.append(try bytes(peer, "a peer id")) }
        guard peers.allSatisfy({ $0.count == TrafficEntry.peerLength }) else {
          throw wrong("a peer id must have \(TrafficEntry.peerLength) bytes")
        }
        traffic.append(
          TrafficEntry(
            kind,
            peers,
            time: time,
            number: line.number ?? 0,
            size: line.size ?? 0,
            text: line.text ?? "",
            bytes: try bytes(line.bytes ?? "", "bytes")
          )
        )
      } else if let kind = line.step, let time = line.time {
        let content = try bytes(line.bytes, "bytes")
        let step: DocumentHistory.Step.Content
        switch kind {
        case "batch": step = .batch(content)
        case "answer": step = .answer(content)
        case "keyframe": step = .keyframe(content)
        default: throw wrong("step must be batch, answer or keyframe")
        }
        steps.append(DocumentHistory.Step(step, time: time, row: 0))
      } else if let name = line.mark, let time = line.time {
        marks.append(.init(name: name, time: time, until: time, place: steps.count))
      } else if let until = line.gap, let time = line.time {
        marks.append(.init(name: nil, time: time, until: until, place: steps.count))
      } else if let digest = line.digest, let time = line.time {
        checks.append(.init(place: steps.count, time: time, name: line.version, digest: try bytes(digest, "digest")))
      } else {
        throw wrong(
          "the line must be an author, person, photo, step, mark, gap, digest, traffic or end, and must have a time"
        )
      }
    }
    guard let heading else { throw ReadError(line: 1, message: "the input is empty") }
    do throws(DocumentError) {
      let history = DocumentHistory(
        board: heading.board,
        name: heading.name,
        steps: steps,
        checks: checks,
        marks: marks,
        authors: authors,
        names: names,
        traffic: traffic,
        end: end
      )
      return (try Recording(history), photos)
    } catch { throw ReadError(line: 1, message: error.message) }
  }
}

extension Property {
  var name: String? { Self.names[number] }

  /// The display names of the properties, by number (BRD-8).
  static let names: [UInt16: String] = [
    0: "position", 1: "scale", 2: "angle", 3: "deleted", 4: "selection", 5: "size", 6: "order", 7: "created",
    8: "purged", 9: "color", 10: "line width", 11: "photo", 12: "stroke ended", 13: "author", 14: "name", 15: "said",
    16: "time", 17: "group", 18: "lock", 19: "game", 20: "set-up", 21: "icon", 22: "replaces", 23: "title",
    24: "background", 25: "grid", 26: "language", 64: "ink", 128: "letters", 129: "letters deleted", 130: "erased",
    131: "move",
  ]
}

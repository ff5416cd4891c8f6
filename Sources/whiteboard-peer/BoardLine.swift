import PeerDiscovery
import PeerSession
import WhiteboardCommands
import WhiteboardDocument
import WhiteboardNode
import WhiteboardRendering

/// One board of the library, as a line tells it.
struct BoardLine: Encodable {
  let path: String
  let name: String
  let title: String?
  let board: String?
  let objects: Int
  let people: [String]
  let changedAt: String
  let byteCount: Int64
  let thumbnail: String?
  let error: String?
  /// The members on this network that have the board open; nil if none were found or searched for.
  let openWith: [Member]?
  let damage: String?

  /// A peer that announces the board.
  struct Member: Encodable {
    let peer: String
    let name: String
  }

  /// Describes a board of the library.
  ///
  /// - Parameters:
  ///   - summary: The summary of its file.
  ///   - nearby: The boards announced on this network.
  ///   - thumbnail: A picture of the board that is safe to show, for lines that programs read.
  init(_ summary: DocumentSummary, nearby: Nearby = Nearby(), thumbnail: String?) {
    let announced = nearby.boards.first { $0.id.bytes == summary.board }
    openWith = announced?.peers.map {
      Member(peer: $0.announcement.peer.text, name: $0.announcement.hostName.raw)
    }
    line = announced.map { EventText.listed($0.names) + ($0.names.count == 1 ? " is" : " are") }
    path = summary.path
    name = summary.name
    title = summary.title
    board = summary.board.flatMap { SessionID(bytes: $0)?.text }
    objects = summary.objects
    people = summary.people
    changedAt = BoardFile.time(summary.changed)
    byteCount = summary.size
    self.thumbnail = thumbnail
    error = summary.error?.message
    damage = summary.damage
  }

  /// The names of those members, followed by "is" or "are".
  private let line: String?

  private enum CodingKeys: String, CodingKey {
    case path, name, title, board, objects, people, changedAt, byteCount, thumbnail, error, damage
    case openWith
  }

  /// The line as an event, for programs or for people.
  func text(_ event: String, json: Bool) -> String {
    guard !json else { return String(decoding: EventLine.json(event, self), as: UTF8.self) }
    return event.dropFirst("board-".count) + " " + Self.table([self], withHead: false)
  }

  /// The lines of several boards as a table for people.
  ///
  /// - Parameters:
  ///   - boards: The boards.
  ///   - withHead: Whether the names of the columns stand above them.
  /// - Returns: The table; a board that cannot be read or is damaged has the reason in a line of its own.
  static func table(_ boards: [BoardLine], withHead: Bool = true) -> String {
    let isOpen = boards.contains { $0.line != nil }
    var head = ["NAME", "OBJECTS", "PEOPLE", "CHANGED", "BYTES"]
    head += isOpen ? ["OPEN", "FILE"] : ["FILE"]
    let rows = boards.map { $0.cells(isOpen: isOpen) }
    let lines = TextTable.lines((withHead ? [head] : []) + rows, numbers: [1, 4])
    let notes = (withHead ? [nil] : []) + boards.map(\.note)
    return zip(lines, notes).map { line, note in "\(line)\n\(note ?? "")" }.joined()
  }

  private func cells(isOpen: Bool) -> [String] {
    var shown = TerminalText.quoted(name, limit: 128)
    if let title, title != name { shown += " (\(TerminalText.quoted(title, limit: 128)))" }
    let path = TerminalText.cleaned(path, limit: 4096)
    let open = isOpen ? [line.map { "\($0) on it" } ?? ""] : []
    guard error == nil else { return [shown, "-", "-", "-", "-"] + open + [path] }
    let who = TerminalText.cleaned(people.joined(separator: ", "), limit: 256)
    let cells = [shown, "\(objects)", who.isEmpty ? "nobody yet" : who, changedAt]
    return cells + ["\(byteCount)"] + open + [path]
  }

  /// What is wrong with the file, in a line of its own.
  private var note: String? {
    let problems = [error, damage.map { "DAMAGED: \($0)" }].compactMap(\.self)
    guard !problems.isEmpty else { return nil }
    return problems.map { "  \(TerminalText.cleaned($0, limit: 4096))\n" }.joined()
  }

  /// The line of a board that is gone.
  static func removed(_ path: String, json: Bool) -> String {
    struct Removed: Encodable { let path: String }
    return json
      ? String(decoding: EventLine.json("board-removed", Removed(path: path)), as: UTF8.self)
      : "removed \(TerminalText.cleaned(path, limit: 4096))\n"
  }
}

/// A time whose changes are in no log, as a line tells it: what came of them is in what was kept
/// whole later.
struct GapLine: Encodable {
  let from: String
  let to: String

  init(_ from: Int64, _ to: Int64) {
    self.from = BoardFile.time(from)
    self.to = BoardFile.time(to)
  }

  func text(json: Bool) -> String {
    json
      ? String(decoding: EventLine.json("gap", self), as: UTF8.self)
      : "not recorded from \(from) to \(to)\n"
  }
}

/// One version of a board, as a line tells it.
struct VersionLine: Encodable {
  let name: String
  let at: String
  let byteCount: Int

  init(_ version: DocumentVersion) {
    name = version.name
    at = BoardFile.time(version.time)
    byteCount = version.size
  }

  var json: String { String(decoding: EventLine.json("version", self), as: UTF8.self) }

  /// The cells of a table for people.
  var cells: [String] { [TerminalText.quoted(name, limit: 128), at, "\(byteCount)"] }
}

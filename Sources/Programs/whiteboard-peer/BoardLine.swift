import ArgumentParser
import CommandLines
import PeerCore
import PeerDiscovery
import PeerSession
import WhiteboardDocument
import WhiteboardKit
import WhiteboardPrograms
import WhiteboardRendering

struct BoardLine: Encodable {
  let path: String
  let name: String
  let title: String?
  let board: String?
  let objects: Int?
  let people: [String]
  let changedAt: String
  let byteCount: Int64
  let thumbnail: String?
  let error: String?
  let openWith: [Member]?
  let damage: String?

  struct Member: Encodable {
    let peer: String
    let name: UntrustedText
  }

  init(_ summary: DocumentSummary, objects: Int?, nearby: Nearby = Nearby(), thumbnail: String?) {
    let announced = nearby.boards.first { $0.id.bytes == summary.board }
    openWith = announced?.peers.map { Member(peer: $0.announcement.peer.text, name: $0.announcement.hostName) }
    line = announced.map { EventText.listed($0.names) + ($0.names.count == 1 ? " is" : " are") }
    path = summary.path
    name = summary.name
    title = summary.title
    board = summary.board.flatMap { SessionID(bytes: $0)?.text }
    self.objects = objects
    isOutdated = summary.isOutdated
    people = summary.people
    changedAt = BoardFile.time(summary.changed)
    byteCount = summary.size
    self.thumbnail = thumbnail
    error = summary.error?.message
    damage = summary.damage
  }

  /// The names of the members that have the board open, followed by "is" or "are".
  private let line: String?
  /// Whether the names do not include the authors of the latest changes.
  private let isOutdated: Bool

  private enum CodingKeys: String, CodingKey {
    case path, name, title, board, objects, people, changedAt, byteCount, thumbnail, error, damage, openWith
  }

  func text(_ event: String, json: Bool) -> String {
    guard !json else { return String(decoding: EventLine.json(event, self), as: UTF8.self) }
    return event.dropFirst("board-".count) + " " + Self.table([self], withHead: false)
  }

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
    var shown = UntrustedText(name).quoted(limit: 128)
    if let title, title != name { shown += " (\(UntrustedText(title).quoted(limit: 128)))" }
    let path = UntrustedText(path).escaped(limit: 4096)
    let open = isOpen ? [line.map { "\($0) on it" } ?? ""] : []
    guard error == nil else { return [shown, "-", "-", "-", "-"] + open + [path] }
    let who = UntrustedText(people.joined(separator: ", ")).escaped(limit: 256)
    let cells = [shown, objects.map { "\($0)" } ?? "-", who.isEmpty ? isOutdated ? "-" : "none yet" : who, changedAt]
    return cells + ["\(byteCount)"] + open + [path]
  }

  private var note: String? {
    let problems = [error, damage.map { "DAMAGED: \($0)" }].compactMap(\.self)
    guard !problems.isEmpty else { return nil }
    return problems.map { "  \(UntrustedText($0).escaped(limit: 4096))\n" }.joined()
  }

  static func removed(_ path: String, json: Bool) -> String {
    struct Removed: Encodable { let path: String }
    return json
      ? String(decoding: EventLine.json("board-removed", Removed(path: path)), as: UTF8.self)
      : "removed \(UntrustedText(path).escaped(limit: 4096))\n"
  }
}

/// The history does not contain the changes made during a gap, but later saved states of the board do.
struct GapLine: Encodable {
  let from: String
  let to: String

  init(_ from: Int64, _ to: Int64) {
    self.from = BoardFile.time(from)
    self.to = BoardFile.time(to)
  }

  func text(json: Bool) -> String {
    json ? String(decoding: EventLine.json("gap", self), as: UTF8.self) : "not recorded from \(from) to \(to)\n"
  }
}

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

  var cells: [String] { [UntrustedText(name).quoted(limit: 128), at, "\(byteCount)"] }
}

extension CompletionKind {
  static let codec = CompletionKind.list(FrameCodec.allCases.map(\.rawValue))

  static let board = CompletionKind.custom { _, _, prefix in
    // Ignore the options on the line that is being completed. Errors in them are reported when the command runs.
    guard !prefix.contains("/"), let options = try? CommonOptions.parse([]), let library = try? options.boardLibrary()
    else { return [] }
    let summaries = (try? await library.list()) ?? []
    return summaries.filter { $0.error == nil }.map(\.name).filter { $0.unicodeScalars.allSatisfy(\.isSafe) }
  }
}

import PeerCore
import Whiteboard
import WhiteboardRendering

/// The chat, with remarks about members between its lines.
struct ChatLog: Hashable, Sendable {
  /// A chat line of a member, or a remark.
  struct Line: Hashable, Sendable {
    /// The author's display name; empty for a remark.
    var name = UntrustedText("")
    /// The author, which determines the color; nil for a remark.
    var author: MemberID?
    let text: UntrustedText

    /// The style of the line: remarks are dimmed, and other lines have their author's color.
    var style: CellStyle { author.map { CellStyle(CellColor(rgb: Pens.color(of: $0))) } ?? .quiet }

    /// The author's name and a colon before the text; empty for a remark.
    var authorPrefix: String { name.isEmpty ? "" : "\(name): " }
  }

  private(set) var lines: [Line] = []
  /// The version of the log: the number of lines that were ever added.
  private(set) var version = 0
  /// The number of lines that arrived while no chat was visible.
  var unreadCount = 0

  /// The maximum number of lines in memory.
  static let limit = 5_000

  mutating func append(_ line: Line) {
    lines.append(line)
    version += 1
    if lines.count > Self.limit { lines.removeFirst() }
  }

  /// Adds a remark.
  mutating func remark(_ text: String) { append(Line(text: UntrustedText(text))) }

  /// Removes all lines, because the whole history is added again.
  mutating func removeAll() { lines = [] }
}

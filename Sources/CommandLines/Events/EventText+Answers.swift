import PeerCore
import Whiteboard
import WhiteboardKit

/// Lines that answer commands.
extension EventText {
  static func answerLine(_ event: BoardEvent) -> String? {
    switch event {
    case .object(let shown): detailed(shown.object)
    case .objects(let list): lines(count(list.count, "object"), list.objects.map { object($0) })
    case .found(let list): lines("\(count(list.count, "object")) there", list.objects.map { object($0) })
    case .chatHistory(let history): lines(count(history.count, "line"), history.lines.map(chat))
    case .settings(let answer): settings(answer.settings)
    case .digest(let digest): "digest \(UntrustedText(digest.digest).escaped()), \(count(digest.objects, "object"))"
    case .checkpoints(let list):
      lines(
        count(list.count, "checkpoint"),
        list.checkpoints.map {
          "\(UntrustedText($0.name).quoted(limit: 256)), \(UntrustedText($0.at).escaped(limit: 32))"
        }
      )
    case .diff(let diff): diffLines(diff)
    default: nil
    }
  }

  private static func lines(_ head: String, _ rest: [String]) -> String {
    ([head] + rest.map { "  \($0)" }).joined(separator: "\n")
  }

  private static func diffLines(_ diff: BoardEvent.Diff) -> String {
    let from = UntrustedText(diff.from).quoted(limit: 256)
    let to = diff.to.map { UntrustedText($0).quoted(limit: 256) } ?? "now"
    return lines(
      "\(count(diff.count, "change")) from \(from) to \(to)",
      diff.changes.map { change in
        let fate = change["change"]?.text ?? ""
        let sign = ["added": "+", "removed": "-"][fate] ?? "~"
        let type = UntrustedText(change["type"]?.text ?? "").escaped(limit: 64)
        let id = UntrustedText(change["id"]?.text ?? "").escaped(limit: 64)
        guard case .object(let fields)? = change["after"], sign == "~" else { return "\(sign) \(type) \(id)" }
        let keys = fields.keys.sorted().map { UntrustedText($0).escaped(limit: 64) }
        return "\(sign) \(type) \(id) (\(keys.joined(separator: ", ")))"
      }
    )
  }

  /// Returns the line about a command that succeeded; nil for queries, whose results are the answer.
  static func doneLine(_ done: BoardEvent.Done) -> String? {
    let made = (done.ids ?? done.id.map { [$0] }) ?? []
    let verb = done.verb.rawValue
    switch done.verb {
    case .objects, .show, .find, .chat, .settings, .peers, .digest, .checkpoints, .diff, .help, .profile, .invite, .web,
      .save:
      return nil
    case .undo, .redo: return "ok: \(steps(done))"
    case .text, .stroke, .photo, .game, .duplicate, .group: return "ok: \(names(made))"
    case .export, .import:
      let way = done.verb == .export ? "to" : "from"
      return "ok: \(verb) \(count(done.objects ?? 0, "object")) \(way) "
        + UntrustedText(done.file ?? "").quoted(limit: 256)
    case .wait:
      let line = syncLine(done.synced ?? [], done.notSynced ?? [])
      return line.isEmpty ? "ok: wait" : "ok: \(line)"
    case .deselect: return "ok: deselect"
    case .purge, .hide, .unhide:
      guard let objects = done.objects else { break }
      return "ok: \(verb) \(count(objects, "object"))"
    case .erase where made.isEmpty: return "ok: there was nothing to erase"
    case .say:
      // No line is needed: the chat line has an event of its own, and users have no use for its id.
      return "ok: say"
    default: break
    }
    let shown = made.count > namesLimit ? "\(made.count) objects" : names(made)
    guard done.changed == false else { return shown.isEmpty ? "ok: \(verb)" : "ok: \(verb) \(shown)" }
    guard !made.isEmpty else { return "ok: nothing changed" }
    return "ok: \(shown) did not change"
  }

  /// The maximum number of existing objects that an answer names.
  private static let namesLimit = 8

  private static func names(_ ids: [ObjectID]) -> String { ids.map(\.description).joined(separator: ", ") }
}

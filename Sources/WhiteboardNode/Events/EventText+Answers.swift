/// Lines that answer verbs.
extension EventText {
  static func answerLine(_ event: NodeEvent) -> String? {
    switch event {
    case .object(let shown):
      whole(shown.object)
    case .objects(let list):
      lines(count(list.count, "object"), list.objects.map(object))
    case .found(let list):
      lines("\(count(list.count, "object")) there", list.objects.map(object))
    case .chatHistory(let history):
      lines(count(history.count, "line"), history.lines.map(chat))
    case .settings(let answer):
      settings(answer.settings)
    case .digest(let digest):
      "digest \(TerminalText.cleaned(digest.digest)), \(count(digest.objects, "object"))"
    case .checkpoints(let list):
      lines(
        count(list.count, "checkpoint"),
        list.checkpoints.map {
          "\(TerminalText.quoted($0.name, limit: 256)), \(TerminalText.cleaned($0.at, limit: 32))"
        }
      )
    case .diff(let diff):
      diffLines(diff)
    default:
      nil
    }
  }

  private static func lines(_ head: String, _ rest: [String]) -> String {
    ([head] + rest.map { "  \($0)" }).joined(separator: "\n")
  }

  private static func diffLines(_ diff: NodeEvent.Diff) -> String {
    let from = TerminalText.quoted(diff.from, limit: 256)
    let to = diff.to.map { TerminalText.quoted($0, limit: 256) } ?? "now"
    return lines(
      "\(count(diff.count, "change")) from \(from) to \(to)",
      diff.changes.map { change in
        let fate = change["change"]?.text ?? ""
        let sign = ["added": "+", "removed": "-"][fate] ?? "~"
        let type = TerminalText.cleaned(change["type"]?.text ?? "", limit: 64)
        let id = TerminalText.cleaned(change["id"]?.text ?? "", limit: 64)
        guard case .object(let fields)? = change["after"], sign == "~" else {
          return "\(sign) \(type) \(id)"
        }
        let keys = fields.keys.sorted().map { TerminalText.cleaned($0, limit: 64) }
        return "\(sign) \(type) \(id) (\(keys.joined(separator: ", ")))"
      }
    )
  }

  /// An answer is worth a line where it names something; otherwise what happened tells it.
  static func doneLine(_ done: NodeEvent.Done) -> String? {
    let made = (done.ids ?? done.id.map { [$0] }) ?? []
    let names = made.map { TerminalText.cleaned($0) }.joined(separator: ", ")
    switch done.verb {
    case "undo", "redo":
      return stepLine(done)
    case "text", "stroke", "photo", "game", "duplicate", "group":
      return made.isEmpty ? nil : "ok: \(names)"
    case "wait", "leave", "send", "accept", "decline", "kick", "cancel", "deselect", "checkpoint",
      "restore", "save-as":
      return "ok: \(done.verb)"
    default:
      guard done.changed == false else { return nil }
      guard !names.isEmpty else { return "ok: it was so already" }
      return "ok: \(names) \(made.count == 1 ? "was" : "were") so already"
    }
  }

  private static func stepLine(_ done: NodeEvent.Done) -> String {
    let step = TerminalText.cleaned(done.step ?? "", limit: 64)
    let line = "ok: \(done.verb) \(step)"
    guard let skipped = done.skipped, skipped > 0 else { return line }
    return "\(line); \(count(skipped, "change")) left, since others changed the same after"
  }
}

/// The checks for commands that a program creates without a parser.
extension Command {
  /// Returns the command with normalized text, as a parser would return it.
  ///
  /// - Throws: ``CommandError`` if a value exceeds its limits, with the message that a parser would use.
  package func checked() throws(CommandError) -> Command {
    switch self {
    case .text(let at, let words, let color, let alias):
      let words = try CommandLimits.checkedWords(words, what: "the text")
      return .text(at: at, words: words, color: color, alias: alias)
    case .insert(let reference, let at, let words, let replacing, let was):
      return .insert(
        reference,
        at: try CommandLimits.checkedPosition(Int64(at), key: "the position"),
        words: try CommandLimits.checkedWords(words, what: "the text"),
        replacing: try CommandLimits.checkedPosition(Int64(replacing), key: "replacing"),
        was: was
      )
    case .say(let words): return .say(words: try CommandLimits.checkedWords(words, what: "the message"))
    case .photo(_, let file, _), .saveAs(let file), .import(let file, _), .export(let file, _, _, _):
      _ = try CommandLimits.checkedFile(file)
    case .play(_, let move): _ = try CommandLimits.checkedMove(move)
    case .accept(let target, _), .decline(let target, _):
      _ = try CommandLimits.checkedTarget(target, what: "the invitation")
    case .scale(let references, let factor, _, _):
      _ = try CommandLimits.checkedReferences(references)
      _ = try CommandLimits.checkedFactor(factor)
    case .rotate(let references, let degrees):
      _ = try CommandLimits.checkedReferences(references)
      _ = try CommandLimits.checkedDegrees(degrees)
    case .width(let references, let width):
      _ = try CommandLimits.checkedReferences(references)
      _ = try CommandLimits.checkedWidth(width, key: "the width")
    case .duplicate(let references, _, _), .select(let references), .take(let references), .move(let references, _),
      .color(let references, _), .order(let references, _), .group(let references, _), .lock(let references),
      .unlock(let references), .delete(let references), .copy(let references):
      _ = try CommandLimits.checkedReferences(references)
    case .send(let bytes, _, _): _ = try CommandLimits.checkedMessage(bytes)
    case .files(let files, _):
      for file in try CommandLimits.checkedFiles(files) { _ = try CommandLimits.checkedFile(file) }
    case .wait(let condition, let timeout):
      if case .seconds(let seconds) = condition {
        _ = try CommandLimits.checkedSeconds(seconds, key: "the time to wait")
      }
      if let timeout { _ = try CommandLimits.checkedSeconds(timeout, key: "the timeout") }
    default: break
    }
    return self
  }
}

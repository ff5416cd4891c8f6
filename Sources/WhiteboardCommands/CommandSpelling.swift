import ArgumentParser
import WhiteboardNode
import WhiteboardRendering

/// Finds mistyped commands before the command line is parsed.
///
/// The parser hands a word that is no command to the default command, which then knows nothing of it.
package enum CommandSpelling {
  /// Looks for a word that stands where a command should stand and is none.
  ///
  /// - Parameters:
  ///   - arguments: The command line.
  ///   - program: The program.
  ///   - hint: What to say of a word below the program itself that is near no command; nil for
  ///     nothing more.
  /// - Throws: ``NodeError``, `usage`, with the command that may have been meant.
  package static func check(
    _ arguments: [String],
    of program: any DocumentedProgram.Type,
    hint: (String) -> String? = { _ in nil }
  ) throws(NodeError) {
    var path: [String] = []
    var command: any ParsableCommand.Type = program
    var rest = arguments[...]
    if rest.first == "help" { rest.removeFirst() }
    while let word = rest.popFirst(), !word.hasPrefix("-") {
      let inner = command.configuration.subcommands
      guard !inner.isEmpty else { return }
      if let next = inner.first(where: { $0._commandName == word }) {
        path.append(word)
        command = next
        continue
      }
      let shown = TerminalText.quoted((path + [word]).joined(separator: " "))
      let nearest = Spelling.nearest(to: word, in: inner.map { $0._commandName })
      let help = ([program.name, "help"] + path).joined(separator: " ")
      let advice =
        if let nearest {
          "did you mean \((path + [nearest]).joined(separator: " "))? `\(help)` lists all commands"
        } else {
          (path.isEmpty ? hint(word) : nil) ?? "`\(help)` lists the commands"
        }
      throw NodeError(.usage, "there is no command \(shown); \(advice)")
    }
  }
}

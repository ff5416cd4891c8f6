import ArgumentParser
import CommandLines
import PeerCore
import WhiteboardKit

/// A check for mistyped commands, made before the command line is parsed.
///
/// The argument parser passes an unknown word to the default command, which cannot report it as a mistyped command.
package enum CommandSpelling {
  /// Returns the number of words at the beginning of arguments that name commands.
  static func commands(_ arguments: ArraySlice<String>, of program: any DocumentedProgram.Type) -> Int {
    var command: any ParsableCommand.Type = program
    var count = 0
    for word in arguments {
      let inner = command.configuration.subcommands.first { $0._commandName == word }
      guard let inner else { break }
      command = inner
      count += 1
    }
    return count
  }

  /// Checks that the commands at the beginning of the command line exist; throws ``WhiteboardError`` with the code
  /// `usage`.
  ///
  /// Its message suggests the most similar command.
  package static func check(
    _ arguments: [String],
    of program: any DocumentedProgram.Type,
    message: (String) -> String? = { _ in nil }
  ) throws(WhiteboardError) {
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
      let shown = UntrustedText((path + [word]).joined(separator: " ")).quoted()
      let nearest = Spelling.nearest(to: word, in: inner.map { $0._commandName })
      if nearest == nil, path.isEmpty, let text = message(word) { throw WhiteboardError(.usage, text) }
      let help = ([program.name, "help"] + path).joined(separator: " ")
      let advice =
        if let nearest {
          "did you mean \((path + [nearest]).joined(separator: " "))? `\(help)` lists all commands"
        } else { "`\(help)` lists the commands" }
      throw WhiteboardError(.usage, "there is no command \(shown); \(advice)")
    }
  }
}

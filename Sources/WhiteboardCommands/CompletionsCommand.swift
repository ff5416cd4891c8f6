import ArgumentParser
import WhiteboardNode

/// The command `completions` of a program.
package struct CompletionsCommand<Program: DocumentedProgram>: AsyncParsableCommand {
  /// The help text of the command.
  package static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "completions",
      abstract: "Print what lets a shell complete commands and options.",
      discussion: """
        Write it to where the shell looks, once and after each update:

          bash: ~/.local/share/bash-completion/completions/\(Program.name)
          zsh:  _\(Program.name) in a directory of $fpath, before compinit
          fish: ~/.config/fish/completions/\(Program.name).fish

        For this shell alone: source <(\(Program.name) completions bash)
        """
    )
  }

  @Argument(
    help: ArgumentHelp("bash, zsh or fish.", valueName: "SHELL"),
    completion: .list(["bash", "zsh", "fish"])
  )
  var shell: String

  /// Makes the command, to be parsed.
  package init() {}

  /// Prints the script.
  ///
  /// - Throws: ``NodeError`` for a shell that there is none for.
  package mutating func run() async throws {
    guard let shell = CompletionShell(rawValue: shell) else {
      throw NodeError(.usage, "there are completions for bash, zsh and fish")
    }
    try Console.tell(Program.completionScript(for: shell) + "\n")
  }
}

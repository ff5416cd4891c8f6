import ArgumentParser
import WhiteboardKit

package struct CompletionsCommand<Program: DocumentedProgram>: AsyncParsableCommand {
  package static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "completions",
      abstract: "Print a shell script that completes commands and options.",
      discussion: """
        Write the script to the file for your shell. Do this again after each update of the program:

          bash: ~/.local/share/bash-completion/completions/\(Program.name)
          zsh:  _\(Program.name) in a directory of $fpath, before compinit
          fish: ~/.config/fish/completions/\(Program.name).fish

        For the current shell only: source <(\(Program.name) completions bash)
        """
    )
  }

  @Argument(help: ArgumentHelp("bash, zsh or fish.", valueName: "SHELL"), completion: .list(["bash", "zsh", "fish"]))
  var shell: String

  package init() {}

  /// Prints the completion script; throws if the program has no completions for the shell.
  package mutating func run() async throws {
    guard let shell = CompletionShell(rawValue: shell) else {
      throw WhiteboardError(.usage, "completions exist only for bash, zsh and fish")
    }
    try Console.tell(Program.completionScript(for: shell) + "\n")
  }
}

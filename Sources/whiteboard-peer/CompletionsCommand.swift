import ArgumentParser
import WhiteboardCommands
import WhiteboardNode

/// `whiteboard-peer completions`.
struct CompletionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "completions",
    abstract: "Print what lets a shell complete commands, options and the names of boards.",
    discussion: """
      Write it to where the shell looks, once and after each update:

        bash: ~/.local/share/bash-completion/completions/whiteboard-peer
        zsh:  _whiteboard-peer in a directory of $fpath, before compinit
        fish: ~/.config/fish/completions/whiteboard-peer.fish

      For this shell alone: source <(whiteboard-peer completions bash)
      """
  )

  @Argument(
    help: ArgumentHelp("bash, zsh or fish.", valueName: "SHELL"),
    completion: .list(["bash", "zsh", "fish"])
  )
  var shell: String

  mutating func run() async throws {
    guard let shell = CompletionShell(rawValue: shell) else {
      throw NodeError(.usage, "there are completions for bash, zsh and fish")
    }
    try Console.tell(WhiteboardPeer.completionScript(for: shell) + "\n")
  }
}

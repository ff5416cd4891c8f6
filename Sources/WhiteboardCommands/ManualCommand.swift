import ArgumentParser
import PeerCore
import WhiteboardKit

/// A program that has manual pages and shell completions.
package protocol DocumentedProgram: AsyncParsableCommand {
  /// The content of the manual page in addition to the commands.
  static var about: ManualPage.Program { get }
}

extension DocumentedProgram {
  /// The name of the program.
  static var name: String { configuration.commandName ?? "" }
}

/// The command `manual` of a program.
package struct ManualCommand<Program: DocumentedProgram>: AsyncParsableCommand {
  /// The help text of the command.
  package static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "manual",
      abstract: "Show the manual page of the program or of one of its commands.",
      discussion: """
        On a terminal, the page is shown with $PAGER or, if that is not set, with less. Otherwise, it is printed \
        in the format of a man page, so you can install it:

          \(Program.name) manual > ~/.local/share/man/man1/\(Program.name).1
        """
    )
  }

  @Argument(
    help: ArgumentHelp("The command to describe; by default, the whole program.", valueName: "COMMAND"),
    completion: .list(Program.configuration.subcommands.compactMap { $0.configuration.commandName })
  ) var command: [String] = []

  /// Creates the command.
  ///
  /// The parser sets its arguments.
  package init() {}

  /// Shows the page.
  ///
  /// - Throws: ``WhiteboardError`` if there is no such command.
  package mutating func run() async throws {
    guard let program = CommandInfo.program(Program.self) else {
      throw WhiteboardError(.internal, "the description of the commands cannot be decoded")
    }
    guard let meant = program.command(command) else {
      try CommandSpelling.check(command, of: Program.self)
      throw WhiteboardError(.usage, "there is no command \(UntrustedText(command.joined(separator: " ")).quoted())")
    }
    let page = ManualPage(meant, Program.about)
    guard let columns = Console.outputColumns else { return try Console.tell(page.macros) }
    try Pager.show(page.text(columns: min(columns, 100)))
  }
}

import ArgumentParser
import WhiteboardNode
import WhiteboardRendering

/// A program with pages of a manual and completions.
package protocol DocumentedProgram: AsyncParsableCommand {
  /// The contents of its manual page in addition to its commands.
  static var about: ManualPage.Program { get }
}

extension DocumentedProgram {
  /// What it is called.
  static var name: String { configuration.commandName ?? "" }
}

/// The command `manual` of a program.
package struct ManualCommand<Program: DocumentedProgram>: AsyncParsableCommand {
  /// What help says of it.
  package static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "manual",
      abstract: "Show the page of the manual for the program or one of its commands.",
      discussion: """
        On a terminal the page is shown by $PAGER, else by less. Elsewhere it is written in the \
        macros of man, so that it can be stored where man looks:

          \(Program.name) manual > ~/.local/share/man/man1/\(Program.name).1
        """
    )
  }

  @Argument(
    help: ArgumentHelp("Of which command; else of the program.", valueName: "COMMAND"),
    completion: .list(
      Program.configuration.subcommands.compactMap { $0.configuration.commandName }
    )
  )
  var command: [String] = []

  /// Makes the command, to be parsed.
  package init() {}

  /// Shows the page.
  ///
  /// - Throws: ``NodeError`` if there is no such command.
  package mutating func run() async throws {
    guard let program = CommandInfo.program(Program.self) else {
      throw NodeError(.internal, "the command line cannot be described")
    }
    guard let meant = program.command(command) else {
      try CommandSpelling.check(command, of: Program.self)
      throw NodeError(
        .usage,
        "there is no command \(TerminalText.quoted(command.joined(separator: " ")))"
      )
    }
    let page = ManualPage(meant, Program.about)
    guard let columns = Console.outputColumns else { return try Console.tell(page.macros) }
    try Pager.show(page.text(columns: min(columns, 100)))
  }
}

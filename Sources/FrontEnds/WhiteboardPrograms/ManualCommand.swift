import ArgumentParser
import CommandLines
import FoundationEssentials
import PeerCore
import WhiteboardKit

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

#if canImport(Glibc)
import CMalloc
#elseif canImport(Musl)
#endif

package protocol DocumentedProgram: AsyncParsableCommand {
  static var about: ManualPage.Program { get }
}

extension DocumentedProgram {
  static var name: String { configuration.commandName ?? "" }
}

package struct ManualCommand<Program: DocumentedProgram>: AsyncParsableCommand {
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

  package init() {}

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

package enum Pager {
  /// Returns nil if text must be printed without a pager.
  package static func command(
    environment: (String) -> String?,
    exists: (String) -> Bool = { FileManager.default.isExecutableFile(atPath: $0) }
  ) -> String? {
    if let chosen = environment("PAGER") { return chosen }
    let directories = (environment("PATH") ?? "/usr/bin:/bin").split(separator: ":")
    guard directories.contains(where: { exists("\($0)/less") }) else { return nil }
    // The options are those that git uses: if the text fits on the screen, less exits immediately, and the text stays
    // visible.
    return environment("LESS") == nil ? "LESS=FRX less" : "less"
  }

  /// Shows text page by page, and returns when the user leaves the pager. Throws if the text is printed without a pager
  /// and cannot be written.
  package static func show(_ text: String) throws(WhiteboardError) {
    guard let command = command(environment: { Environment[$0] }), let pipe = popen(command, "w") else {
      return try Console.tell(text)
    }
    // Only the pager handles Ctrl+C. Otherwise, this program would exit, and the shell would use the terminal before
    // the pager has restored it.
    let interrupt = signal(SIGINT, SIG_IGN)
    defer { signal(SIGINT, interrupt) }
    let bytes = Array(text.utf8)
    // If the user leaves the pager early, this write fails without an error, since SIGPIPE is ignored.
    fwrite(bytes, 1, bytes.count, pipe)
    // Status 127 means that the shell did not find the command.
    if pclose(pipe) == 127 << 8 { try Console.tell(text) }
  }
}

extension DocumentedProgram {
  /// If the program fails, prints an error and exits with the status of that error.
  package static func runMain(
    _ run: ([String]) async throws -> Void = { arguments in
      try CommandSpelling.check(arguments, of: Self.self)
      try await runCommand(arguments)
    }
  ) async {
    prepareProcess()
    do { try await run(Array(CommandLine.arguments.dropFirst())) } catch let error as WhiteboardError {
      fail(error)
    } catch {
      guard exitCode(for: error) == .success else { exit(withError: error) }
      // Help and version information are regular output, so a failure to write them is reported.
      do throws(WhiteboardError) { try Console.tell(fullMessage(for: error, columns: nil) + "\n") } catch {
        fail(error)
      }
    }
  }

  package static func runCommand(_ arguments: [String]) async throws {
    var command = try await asyncParseAsRoot(optionsAfterCommand(arguments))
    if var asynchronous = command as? any AsyncParsableCommand {
      try await asynchronous.run()
    } else {
      try command.run()
    }
  }

  /// Returns the arguments with the command first. Options before the command, as in `--config FILE config check`, are
  /// moved behind the command. Otherwise, the argument parser would pass the command to the default command, as an
  /// unexpected argument.
  static func optionsAfterCommand(_ arguments: [String]) -> [String] {
    guard arguments.first?.hasPrefix("-") == true, !canParse(arguments) else { return arguments }
    for start in arguments.indices {
      let words = CommandSpelling.commands(arguments[start...], of: Self.self)
      guard words > 0 else { continue }
      let reordered = arguments[start..<start + words] + arguments[..<start] + arguments[(start + words)...]
      if canParse(Array(reordered)) { return Array(reordered) }
    }
    return arguments
  }

  private static func canParse(_ arguments: [String]) -> Bool {
    do {
      _ = try parseAsRoot(arguments)
      return true
    } catch {
      // A request for help or for the version is not an error.
      return exitCode(for: error) == .success
    }
  }

  private static func prepareProcess() {
    // If the reader closes the output, the write must fail, but the signal must not terminate the program.
    signal(SIGPIPE, SIG_IGN)
    #if canImport(Glibc)
    // Return the memory of large messages to the system when they are freed. By default, glibc keeps up to 64 MiB in
    // each arena after a large block is freed.
    mallopt(M_MMAP_THRESHOLD, 1 << 20)
    // Let threads reuse the memory that other threads freed. By default, each thread has its own arena, and an arena
    // keeps as much memory as its thread ever needed at once.
    mallopt(M_ARENA_MAX, 2)
    #endif
  }

  private static func fail(_ error: WhiteboardError) -> Never {
    Console.complain(complaint(error))
    Glibc.exit(error.code.rawValue)
  }

  /// Returns the line that reports an error to the user, without a line feed and without control characters.
  package static func complaint(_ error: WhiteboardError) -> String {
    "\(name): \(UntrustedText(error.message).escaped(limit: 4096))"
  }
}

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

  package mutating func run() async throws {
    guard let shell = CompletionShell(rawValue: shell) else {
      throw WhiteboardError(.usage, "completions exist only for bash, zsh and fish")
    }
    try Console.tell(Program.completionScript(for: shell) + "\n")
  }
}

/// A check for mistyped commands, made before the command line is parsed. The argument parser passes an unknown word to
/// the default command, which cannot report it as a mistyped command.
package enum CommandSpelling {
  /// Returns the number of leading arguments that are names of commands.
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

  /// Throws ``WhiteboardError`` with the code `usage` if a command at the beginning of the command line does not exist;
  /// the message suggests the most similar command.
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

import ArgumentParser
import WhiteboardNode
import WhiteboardRendering

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

extension DocumentedProgram {
  /// Carries out the command line, and ends with a status of its own where that fails.
  package static func runMain() async {
    // Whoever reads our output may leave; that is an error of the write, not the end of us.
    signal(SIGPIPE, SIG_IGN)
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      try CommandSpelling.check(arguments, of: Self.self)
      var command = try await asyncParseAsRoot(arguments)
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch let error as NodeError {
      Console.complain(complaint(error))
      Glibc.exit(error.code.rawValue)
    } catch {
      exit(withError: error)
    }
  }

  /// Returns the line that reports an error to the user of the program.
  ///
  /// - Parameter error: The error; its message can contain text of files and of peers.
  /// - Returns: The line, without a line feed and without control characters.
  package static func complaint(_ error: NodeError) -> String {
    "\(name): \(TerminalText.cleaned(error.message, limit: 4096))"
  }
}

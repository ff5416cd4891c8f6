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
      // Words of files and of peers are in some of them.
      Console.complain("\(name): \(TerminalText.cleaned(error.message, limit: 4096))")
      Glibc.exit(error.code.rawValue)
    } catch {
      exit(withError: error)
    }
  }
}

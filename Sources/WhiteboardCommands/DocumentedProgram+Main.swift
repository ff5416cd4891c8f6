import ArgumentParser
import WhiteboardNode
import WhiteboardRendering

#if canImport(Glibc)
import CMalloc
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

extension DocumentedProgram {
  /// Carries out the command line, and ends with a status of its own where that fails.
  package static func runMain() async {
    // Whoever reads our output may leave; that is an error of the write, not the end of us.
    signal(SIGPIPE, SIG_IGN)
    #if canImport(Glibc)
    // Large messages are given back to the system when they are freed. By default, glibc keeps up to
    // 64 MiB in each arena once it has freed a large block.
    mallopt(M_MMAP_THRESHOLD, 1 << 20)
    // Memory that a thread frees is reused by the others. By default, each thread has an arena of its own,
    // and every arena keeps the most memory that its thread ever needed.
    mallopt(M_ARENA_MAX, 2)
    #endif
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

import ArgumentParser
import PeerCore
import WhiteboardKit

#if canImport(Glibc)
import CMalloc
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

extension DocumentedProgram {
  /// Runs the program.
  ///
  /// If it fails, it prints an error and exits with the status of that error.
  ///
  /// - Parameter run: A closure that runs the program with its arguments. The default runs the command that the
  ///   arguments name.
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

  /// Runs the command that the arguments name.
  package static func runCommand(_ arguments: [String]) async throws {
    var command = try await asyncParseAsRoot(optionsAfterCommand(arguments))
    if var asynchronous = command as? any AsyncParsableCommand {
      try await asynchronous.run()
    } else {
      try command.run()
    }
  }

  /// Returns the arguments with options in front of the command moved behind it, as in `--config FILE config check`.
  ///
  /// The argument parser would pass such a command to the default command, as an unexpected argument.
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

  /// Configures the signals and the memory allocator of the process.
  private static func prepareProcess() {
    // If the reader closes the output, the write must fail, but the signal must not terminate the program.
    signal(SIGPIPE, SIG_IGN)
    #if canImport(Glibc)
    // Return the memory of large messages to the system when they are freed. By default, glibc keeps up to 64 MiB in
    // each arena after a large block is freed.
    mallopt(M_MMAP_THRESHOLD, 1 << 20)
    // Let threads reuse the memory that other threads freed. By default, each thread has its own arena, and every arena
    // keeps the most memory that its thread ever needed.
    mallopt(M_ARENA_MAX, 2)
    #endif
  }

  private static func fail(_ error: WhiteboardError) -> Never {
    Console.complain(complaint(error))
    Glibc.exit(error.code.rawValue)
  }

  /// Returns the line that reports an error to the user of the program.
  ///
  /// - Parameter error: The error. Its message may contain text from files and from peers.
  /// - Returns: The line, without a line feed and without control characters.
  package static func complaint(_ error: WhiteboardError) -> String {
    "\(name): \(UntrustedText(error.message).escaped(limit: 4096))"
  }
}

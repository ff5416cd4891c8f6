import FoundationEssentials
import WhiteboardNode

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// The program that shows long text page by page: `$PAGER`, else `less`.
package enum Pager {
  /// The command that shows pages.
  ///
  /// - Parameters:
  ///   - environment: The value of a variable; nil if it is not set or empty.
  ///   - exists: Whether there is a program of this path.
  /// - Returns: A line for the shell; nil if text is to be printed as it is.
  package static func command(
    environment: (String) -> String?,
    exists: (String) -> Bool = { FileManager.default.isExecutableFile(atPath: $0) }
  ) -> String? {
    if let chosen = environment("PAGER") { return chosen }
    let directories = (environment("PATH") ?? "/usr/bin:/bin").split(separator: ":")
    guard directories.contains(where: { exists("\($0)/less") }) else { return nil }
    // As git does: ends at once if all fits on the screen, and leaves it there.
    return environment("LESS") == nil ? "LESS=FRX less" : "less"
  }

  /// Shows text page by page, and returns when its reader is done.
  ///
  /// - Parameter text: The text.
  /// - Throws: ``NodeError`` if it is printed as it is and the output cannot be written.
  package static func show(_ text: String) throws(NodeError) {
    guard let command = command(environment: { Environment[$0] }), let pipe = popen(command, "w")
    else { return try Console.tell(text) }
    // Ctrl+C is for the pager: the shell would have the terminal back before it is restored.
    let interrupt = signal(SIGINT, SIG_IGN)
    defer { signal(SIGINT, interrupt) }
    let bytes = Array(text.utf8)
    // A reader that leaves early has seen enough: SIGPIPE is ignored.
    fwrite(bytes, 1, bytes.count, pipe)
    // 127: the shell did not find the command.
    if pclose(pipe) == 127 << 8 { try Console.tell(text) }
  }
}

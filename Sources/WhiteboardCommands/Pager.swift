import FoundationEssentials
import WhiteboardKit

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// The program that shows long text page by page: `$PAGER`, else `less`.
package enum Pager {
  /// Returns the shell command that shows text page by page.
  ///
  /// - Parameters:
  ///   - environment: Returns the value of an environment variable; nil if it is not set or empty.
  ///   - exists: Returns whether a path is an executable file.
  /// - Returns: The shell command; nil if text must be printed without a pager.
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

  /// Shows text page by page, and returns when the user leaves the pager.
  ///
  /// - Parameter text: The text.
  /// - Throws: ``WhiteboardError`` if the text is printed without a pager and cannot be written.
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

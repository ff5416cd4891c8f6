import FoundationEssentials
import WhiteboardNode

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// The program's own standard streams.
package enum Console {
  /// Whether a person types and reads here.
  package static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 }

  /// Columns and rows of the terminal; nil where there is none.
  package static var size: (columns: Int, rows: Int)? {
    var size = winsize()
    guard isTerminal, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 else { return nil }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// The columns of the terminal that shows standard output; nil if it is not a terminal.
  package static var outputColumns: Int? {
    var size = winsize()
    guard isatty(STDOUT_FILENO) == 1 else { return nil }
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// Where the program's own file is.
  package static var program: String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      ?? CommandLine.arguments[0]
  }

  /// Writes a text to standard output, whole.
  ///
  /// - Throws: ``NodeError`` when it cannot be written; that its reader is gone is no error.
  package static func tell(_ text: String) throws(NodeError) { try tell(Array(text.utf8)) }

  /// Writes bytes to standard output, all of them.
  ///
  /// - Throws: As for a text.
  package static func tell(_ bytes: [UInt8]) throws(NodeError) {
    switch LineWriter.writeAll(bytes, to: STDOUT_FILENO) {
    case nil, EPIPE?: return
    default: throw NodeError.unwritable
    }
  }

  /// Says something that is for people, on standard error.
  package static func complain(_ line: String) {
    // Where nobody can be told that it cannot be said.
    _ = LineWriter.writeAll(Array((line + "\n").utf8), to: STDERR_FILENO)
  }
}

extension NodeError {
  /// Standard output cannot be written to.
  package static let unwritable = NodeError(.inputOutput, "the output cannot be written to")
}

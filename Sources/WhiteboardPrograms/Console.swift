import FoundationEssentials
import QRCode
import WhiteboardKit

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

package enum Console {
  package static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 }

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

  /// The path of the program's executable file.
  package static var program: String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
  }

  /// Writes all of a string to standard output; throws if the string cannot be written.
  ///
  /// It is not an error if the reader has closed the output.
  package static func tell(_ text: String) throws(WhiteboardError) { try tell(Array(text.utf8)) }

  /// Writes all bytes to standard output; throws if the bytes cannot be written.
  ///
  /// It is not an error if the reader has closed the output. If nothing reads the output, the call waits; when the program
  /// was asked to exit, it gives up after a second.
  package static func tell(_ bytes: [UInt8]) throws(WhiteboardError) {
    // A pipe that is ready takes this many bytes at once (`PIPE_BUF` in pipe(7)), so that no write blocks.
    let piece = 4096
    for start in stride(from: 0, to: bytes.count, by: piece) {
      guard waitForReader() else { throw WhiteboardError.unwritable }
      switch FileWriting.writeAll(Array(bytes[start..<min(start + piece, bytes.count)]), to: STDOUT_FILENO) {
      case nil: continue
      case EPIPE?: return
      default: throw WhiteboardError.unwritable
      }
    }
  }

  /// Waits until standard output accepts bytes; returns false if the program must exit first.
  private static func waitForReader() -> Bool {
    var entry = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
    var waitsAfterRequest = 0
    while true {
      let count = poll(&entry, 1, 100)
      // Errors other than a signal are reported when the bytes are written.
      if count > 0 || count < 0 && errno != EINTR { return true }
      if Termination.isAsked { waitsAfterRequest += 1 }
      if waitsAfterRequest > 10 { return false }
    }
  }

  package static func complain(_ line: String) {
    // If standard error cannot be written either, the failure cannot be reported.
    _ = FileWriting.writeAll(Array((line + "\n").utf8), to: STDERR_FILENO)
  }
}

extension WhiteboardError {
  package static let unwritable = WhiteboardError(.inputOutput, "the output cannot be written")
}

extension Console {
  /// Prints the QR code of a link; complains instead if the terminal is too narrow for it; throws if the link is too
  /// long, or the output cannot be written.
  package static func tellQRCode(of link: String, colors: String?) throws(WhiteboardError) {
    let symbol: QRSymbol
    do throws(QRCodeError) { symbol = try QRSymbol(link) } catch { throw WhiteboardError(.internal, error.description) }
    let width = symbol.size + 4
    // Check the width first, since a truncated or wrapped QR code cannot be scanned.
    if let columns = size?.columns, columns < width {
      complain("The QR code needs \(width) columns, but the terminal has only \(columns).")
      return
    }
    try tell(symbol.drawing(colors: colors))
  }
}

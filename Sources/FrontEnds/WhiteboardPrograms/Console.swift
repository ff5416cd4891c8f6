import Dispatch
import FoundationEssentials
import PeerCore
import QRCode
import Synchronization
import WhiteboardKit
import WhiteboardRendering

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

  package static var outputColumns: Int? {
    var size = winsize()
    guard isatty(STDOUT_FILENO) == 1 else { return nil }
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// The path of this program.
  package static var program: String {
    let files = FileManager.default
    guard let file = try? files.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
      return CommandLine.arguments[0]
    }
    // In the packages, one file contains all programs, and the name by which it is started selects the program.
    let folder = file.prefix(through: file.lastIndex(of: "/") ?? file.startIndex)
    let named = folder + (CommandLine.arguments[0].split(separator: "/").last ?? "")
    return files.fileExists(atPath: String(named)) ? String(named) : file
  }

  package static func write(_ bytes: [UInt8], to file: String, isReplacing: Bool) throws(WhiteboardError) {
    do throws(OutputFile.WriteError) {
      try OutputFile.write(bytes, to: BoardFile.absolute(file), isReplacing: isReplacing)
    } catch { throw WhiteboardError(.cannotCreate, UntrustedText("\(file): \(error.message)").escaped()) }
  }

  /// Succeeds even if the reader has closed the output.
  package static func tell(_ text: String) throws(WhiteboardError) { try tell(Array(text.utf8)) }

  /// Writes all bytes to standard output. Throws if the bytes cannot be written. Succeeds even if the reader has closed
  /// the output. If the reader is slow, the call waits. If the program was asked to exit, the call waits for at most a
  /// second.
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

  private static func waitForReader() -> Bool {
    var entry = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
    var waitsAfterRequest = 0
    while true {
      let count = poll(&entry, 1, 100)
      // If `poll` fails for another reason than a signal, the write reports the error.
      if count > 0 || count < 0 && errno != EINTR { return true }
      if Termination.isAsked { waitsAfterRequest += 1 }
      if waitsAfterRequest > 10 { return false }
    }
  }

  package static func complain(_ line: String) {
    // If standard error cannot be written either, the failure cannot be reported.
    _ = FileWriting.writeAll(Array((line + "\n").utf8), to: STDERR_FILENO)
  }

  package static func warn(_ messages: [String]) { for message in messages { complain("Warning: \(message)") } }
}

extension WhiteboardError {
  package static let unwritable = WhiteboardError(.inputOutput, "the output cannot be written")
}

extension Console {
  /// Prints the QR code of a link, or a message if the terminal is too narrow for it. Throws if the link is too long,
  /// or if the output cannot be written.
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

package enum TextTable {
  /// Returns a line for each row, without trailing spaces or a line feed. Columns are two spaces apart, and the columns
  /// in `numbers` are aligned to the right.
  package static func lines(_ rows: [[String]], numbers: Set<Int> = []) -> [String] {
    var widths: [Int] = []
    for row in rows {
      for (column, cell) in row.enumerated() {
        let width = CharacterWidth.columns(cell)
        if column == widths.count { widths.append(width) }
        widths[column] = max(widths[column], width)
      }
    }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let gap = String(repeating: " ", count: widths[column] - CharacterWidth.columns(cell))
        if column > 0 { line += "  " }
        line += numbers.contains(column) ? gap + cell : cell + gap
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }

  package static func text(_ rows: [[String]], numbers: Set<Int> = []) -> String {
    lines(rows, numbers: numbers).map { $0 + "\n" }.joined()
  }
}

/// A handler of SIGTERM, SIGINT and SIGHUP. The first signal asks the program to exit. A second signal terminates the
/// process immediately.
package final class Termination {
  private let source: any DispatchSourceRead
  private static let asked = Atomic(false)

  /// Whether a signal has asked the program to exit. Stays true even if the user chooses to continue.
  package static var isAsked: Bool { asked.load(ordering: .relaxed) }

  /// Create only one instance in a process, before starting work that must not be interrupted. The first signal calls
  /// `ask` in a separate task. SIGHUP calls `reload`; if `reload` is nil, SIGHUP terminates the program.
  package convenience init(_ ask: @escaping @Sendable () async -> Void, reload: (@Sendable () async -> Void)? = nil) {
    self.init(reload: reload) { _ in
      await ask()
      return true
    }
  }

  /// Starts handling signals in a program that may ask its user whether to exit; SIGHUP terminates the program if
  /// `reload` is nil.
  package init(
    reload: (@Sendable () async -> Void)? = nil,
    asking ask: @escaping @Sendable (_ signal: Int32) async -> Bool
  ) {
    var ends: [Int32] = [-1, -1]
    _ = pipe(&ends)
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    signalPipe = ends[1]
    let readEnd = ends[0]
    let first = FirstSignal()
    source = DispatchSource.makeReadSource(fileDescriptor: readEnd, queue: DispatchQueue(label: "whiteboard.signals"))
    source.setEventHandler {
      var number: UInt8 = 0
      guard read(readEnd, &number, 1) == 1 else { return }
      if let reload, Int32(number) == SIGHUP {
        // No code awaits this task, because `reload` logs its result.
        Task { await reload() }
        return
      }
      Self.asked.store(true, ordering: .relaxed)
      let status = 128 + Int32(number)
      // This task finishes when the board has received the request to close. The code that runs the board waits until
      // the board is closed.
      Task {
        guard await first.begin() else { exit(status) }
        if !(await ask(Int32(number))) { await first.reset() }
      }
    }
    source.activate()
    // A pipe preserves every signal, even a signal that arrives before the source is active.
    for number in [SIGTERM, SIGINT, SIGHUP] {
      signal(number) { number in
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(signalPipe, &byte, 1)
      }
    }
  }

  deinit { source.cancel() }

  private actor FirstSignal {
    private var isPast = false

    func begin() -> Bool {
      defer { isPast = true }
      return !isPast
    }

    func reset() { isPast = false }
  }
}

// Global, because a signal handler cannot capture variables. Safe, because it is written once, before the handlers are
// installed.
private nonisolated(unsafe) var signalPipe: Int32 = -1

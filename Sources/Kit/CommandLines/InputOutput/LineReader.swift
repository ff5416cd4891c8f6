import Dispatch
import WhiteboardKit

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// Reads lines from a file descriptor, no faster than they are requested. A line that exceeds the limit is reported as
/// ``Line/tooLong``; its bytes are skipped, and use no memory.
package actor LineReader {
  package enum Line: Equatable, Sendable {
    case line([UInt8])
    case tooLong

    var isShort: Bool { if case .line(let bytes) = self { bytes.count <= 65_536 } else { true } }

    /// Some editors begin a file with a byte order mark.
    mutating func removeByteOrderMark() {
      let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
      if case .line(let bytes) = self, bytes.starts(with: mark) { self = .line(Array(bytes.dropFirst(mark.count))) }
    }
  }

  private let descriptor: Int32
  private let limit: Int
  private let queue = DispatchQueue(label: "whiteboard.input")
  private var buffer: [UInt8] = []
  /// The offset of the next line.
  private var start = 0
  private var scanned = 0
  private var isSkipping = false
  private var isAtEnd = false
  private let wake: WakePipe

  /// Does not close the descriptor; throws if the system has no descriptors left.
  package init(descriptor: Int32, limit: Int = CommandParser.maximumLineLength) throws(InputError) {
    self.descriptor = descriptor
    self.limit = limit
    wake = try WakePipe()
  }

  package func nextLine() async throws(InputError) -> Line? {
    while true {
      if let line = completeLine() { return line }
      if isAtEnd {
        // After the user types an end of file, a terminal can still deliver more input.
        isAtEnd = false
        return lastLine()
      }
      let descriptor = descriptor
      let wake = wake
      let queue = queue
      let chunk = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          queue.async { continuation.resume(returning: LineReader.read(descriptor, wake: wake)) }
        }
      } onCancel: {
        wake.signal()
      }
      switch chunk {
      case .bytes(let bytes): buffer.append(contentsOf: bytes)
      case .end: isAtEnd = true
      case .cancelled:
        // The signal may come from an earlier call, whose task was canceled after the call had read its bytes.
        guard !Task.isCancelled else { return nil }
      case .failed(let number): throw InputError(number: number)
      }
    }
  }

  package func nextLines() async throws(InputError) -> [Line]? {
    guard let first = try await nextLine() else { return nil }
    var lines = [first]
    while lines.count < Self.linesAtOnce, let line = completeLine() { lines.append(line) }
    return lines
  }

  private static let linesAtOnce = 64

  private func completeLine() -> Line? {
    while let end = buffer[scanned...].firstIndex(of: UInt8(ascii: "\n")) {
      let line = Array(buffer[start..<end])
      start = end + 1
      scanned = start
      if isSkipping {
        isSkipping = false
        continue
      }
      return line.count > limit ? .tooLong : .line(line)
    }
    buffer.removeSubrange(..<start)
    start = 0
    if isSkipping {
      buffer.removeAll()
    } else if buffer.count > limit {
      buffer.removeAll()
      scanned = 0
      isSkipping = true
      return .tooLong
    }
    scanned = buffer.count
    return nil
  }

  private func lastLine() -> Line? {
    defer { buffer = [] }
    guard !buffer.isEmpty, !isSkipping else { return nil }
    scanned = 0
    return .line(buffer)
  }

  private enum Chunk: Sendable {
    case bytes([UInt8])
    case end, cancelled
    case failed(Int32)
  }

  private static func read(_ descriptor: Int32, wake: WakePipe) -> Chunk {
    while true {
      var entries = [
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: wake.readEnd, events: Int16(POLLIN), revents: 0),
      ]
      let ready = poll(&entries, 2, -1)
      if ready < 0 {
        guard errno == EINTR else { return .failed(errno) }
        continue
      }
      guard entries[1].revents == 0 else {
        wake.reset()
        return .cancelled
      }
      var count = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: 64 * 1024) { buffer, initializedCount in
        count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        initializedCount = max(0, count)
      }
      if count > 0 { return .bytes(bytes) }
      if count == 0 { return .end }
      guard errno == EINTR || errno == EAGAIN else { return .failed(errno) }
    }
  }
}

private final class WakePipe: Sendable {
  let readEnd: Int32
  private let writeEnd: Int32

  init() throws(InputError) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw InputError(number: errno) }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    readEnd = ends[0]
    writeEnd = ends[1]
  }

  func signal() {
    var byte: UInt8 = 1
    _ = Glibc.write(writeEnd, &byte, 1)
  }

  func reset() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while Glibc.read(readEnd, &bytes, bytes.count) > 0 {}
  }

  deinit {
    close(readEnd)
    close(writeEnd)
  }
}

package protocol LineSource: Sendable {
  /// Waits for the next line. Returns this line and the following lines that were already read, at most 64 in all.
  /// Returns nil at the end of the input, or when the task is canceled.
  func nextLines() async throws(InputError) -> [LineReader.Line]?
}

extension LineReader: LineSource {}

package actor LineCommands: CommandSource {
  private let lines: any LineSource
  private let areNumbered: Bool
  private var count = 0

  package init(_ lines: any LineSource, areNumbered: Bool) {
    self.lines = lines
    self.areNumbered = areNumbered
  }

  package func nextInputs() async throws(InputError) -> [CommandInput]? {
    while let lines = try await lines.nextLines() {
      let first = count + 1
      count += lines.count
      let areNumbered = areNumbered
      let inputs =
        lines.allSatisfy(\.isShort)
        ? Self.parse(lines, from: first, areNumbered)
        : await withTaskExecutorPreference(globalConcurrentExecutor) {
          await Self.parseBeside(lines, from: first, areNumbered)
        }
      if !inputs.isEmpty { return inputs }
    }
    return nil
  }

  /// Parses on another thread, because the links of the board would wait for seconds while this thread parses megabytes.
  @concurrent private static func parseBeside(_ lines: [LineReader.Line], from first: Int, _ areNumbered: Bool) async
    -> [CommandInput]
  { parse(lines, from: first, areNumbered) }

  /// Lines without a command are left out.
  private static func parse(_ lines: [LineReader.Line], from first: Int, _ areNumbered: Bool) -> [CommandInput] {
    lines.enumerated().compactMap { index, line in
      var line = line
      if first + index == 1 { line.removeByteOrderMark() }
      return CommandInput(parsing: line, number: areNumbered ? first + index : nil)
    }
  }
}

extension CommandInput {
  package init?(parsing line: LineReader.Line, number: Int? = nil) {
    switch line {
    case .tooLong:
      self = .failure(
        CommandError(.lineTooLong, "the line has more than \(CommandParser.maximumLineLength) bytes", line: number)
      )
    case .line(let bytes):
      do throws(CommandError) {
        guard var request = try CommandParser.parse(bytes: bytes) else { return nil }
        request.line = number
        self = .request(request)
      } catch { self = .failure(error.answering(verb: nil, request: nil, line: number)) }
    }
  }
}

extension CommandFeed {
  package func push(_ line: String) {
    guard let input = CommandInput(parsing: .line(Array(line.utf8))) else { return }
    push(input)
  }
}

import Foundation
import Testing

@testable import CommandLines
@testable import WhiteboardKit

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// Both ends of a pipe, which are closed after the test.
private final class LinePipe: Sendable {
  let readEnd: Int32
  let writeEnd: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    readEnd = ends[0]
    writeEnd = ends[1]
  }

  func write(_ text: String) {
    let bytes = Array(text.utf8)
    #expect(Glibc.write(writeEnd, bytes, bytes.count) == bytes.count)
  }

  /// Starts reading to the end on its own thread.
  ///
  /// A blocking `read` must not occupy a thread of the pool, because all tests share its few threads.
  func reading() -> AsyncStream<[UInt8]> {
    let (stream, continuation) = AsyncStream<[UInt8]>.makeStream()
    Thread.detachNewThread {
      var piece = [UInt8](repeating: 0, count: 65_536)
      while case let count = Glibc.read(self.readEnd, &piece, piece.count), count > 0 {
        continuation.yield(Array(piece.prefix(count)))
      }
      continuation.finish()
    }
    return stream
  }

  func closeWriteEnd() { close(writeEnd) }

  func closeReadEnd() { close(readEnd) }
}

@Suite struct LineReaderTests {
  private func bytes(_ text: String) -> LineReader.Line { .line(Array(text.utf8)) }

  @Test("lines arrive as they were written, the last one also without its line feed") func lines() async throws {
    let pipe = try LinePipe()
    let reader = try LineReader(descriptor: pipe.readEnd)
    pipe.write("one\n\nth")
    #expect(try await reader.nextLine() == bytes("one"))
    #expect(try await reader.nextLine() == bytes(""))
    pipe.write("ree\nfour")
    #expect(try await reader.nextLine() == bytes("three"))
    pipe.closeWriteEnd()
    #expect(try await reader.nextLine() == bytes("four"))
    #expect(try await reader.nextLine() == nil)
    #expect(try await reader.nextLine() == nil)
    pipe.closeReadEnd()
  }

  @Test("a line above the limit is reported, and the next one is read") func tooLong() async throws {
    let pipe = try LinePipe()
    let reader = try LineReader(descriptor: pipe.readEnd, limit: 8)
    pipe.write("12345678\n123456789\nok\n123456789012345678901234567890")
    pipe.write("more of it\nend\n")
    pipe.closeWriteEnd()
    #expect(try await reader.nextLine() == bytes("12345678"))
    #expect(try await reader.nextLine() == .tooLong)
    #expect(try await reader.nextLine() == bytes("ok"))
    #expect(try await reader.nextLine() == .tooLong)
    #expect(try await reader.nextLine() == bytes("end"))
    #expect(try await reader.nextLine() == nil)
    pipe.closeReadEnd()
  }

  @Test("cancellation ends a wait for input") func cancellation() async throws {
    let pipe = try LinePipe()
    let reader = try LineReader(descriptor: pipe.readEnd)
    let waiting = Task { try await reader.nextLine() }
    waiting.cancel()
    #expect(try await waiting.value == nil)
    pipe.closeWriteEnd()
    pipe.closeReadEnd()
  }
}

@Suite struct LineWriterTests {
  @Test("lines are written whole and in order, and a slow reader makes the writer wait") func backPressure()
    async throws
  {
    let pipe = try LinePipe()
    let writer = LineWriter(descriptor: pipe.writeEnd, capacity: 1_024)
    // This is more than the pipe and the writer can buffer together.
    let count = 4_000
    let line: @Sendable (Int) -> [UInt8] = { number in Array("\(number) \(String(repeating: "x", count: 100))\n".utf8) }
    let writing = Task {
      for number in 0..<count { try await writer.write(line(number)) }
      try await writer.flush()
      pipe.closeWriteEnd()
    }
    var received: [UInt8] = []
    for await piece in pipe.reading() { received += piece }
    try await writing.value
    #expect(received == (0..<count).flatMap(line))
    pipe.closeReadEnd()
  }

  @Test("a closed pipe is an error and does not end the process") func readerGone() async throws {
    signal(SIGPIPE, SIG_IGN)
    let pipe = try LinePipe()
    let writer = LineWriter(descriptor: pipe.writeEnd)
    pipe.closeReadEnd()
    await #expect(throws: OutputError(number: EPIPE)) {
      try await writer.write([0x0A])
      try await writer.flush()
    }
    #expect(OutputError(number: EPIPE).isReaderGone)
    pipe.closeWriteEnd()
  }
}

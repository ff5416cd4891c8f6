import Testing

@testable import CommandLines
@testable import WhiteboardKit

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

struct StalledWriterTests {
  @Test("a reader that stopped reading does not keep the program from ending", .timeLimit(.minutes(5))) func stalled()
    async throws
  {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let (readEnd, writeEnd) = (ends[0], ends[1])
    signal(SIGPIPE, SIG_IGN)
    let writer = LineWriter(descriptor: writeEnd, capacity: 1 << 30)
    let line = [UInt8](repeating: 0x78, count: 1 << 20)
    try await writer.write(line)
    let flushing = Task { try await writer.flush() }
    await writer.giveUp(ifStalledFor: .milliseconds(1))
    await #expect(throws: OutputError(number: EPIPE)) { try await flushing.value }
    await #expect(throws: OutputError(number: EPIPE)) { try await writer.write(line) }
    // This ends the write that is still waiting for the reader.
    close(readEnd)
  }

  @Test("a writer without pending output is not given up") func idle() async throws {
    let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(null) }
    let writer = LineWriter(descriptor: null)
    try await writer.write([0x78, 0x0A])
    try await writer.flush()
    let waiting = Task { await writer.giveUp(ifStalledFor: .seconds(60)) }
    try await writer.write([0x78, 0x0A])
    try await writer.flush()
    waiting.cancel()
    await waiting.value
    try await writer.write([0x78, 0x0A])
    try await writer.flush()
  }
}

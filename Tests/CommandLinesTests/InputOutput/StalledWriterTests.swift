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

  @Test("a long list of objects is written in parts, as one line") func longList() async throws {
    let objects = (1...1_100).map { ReportedObject(Sample.object(.text, id: $0, text: "text \($0)")) }
    var path = Array("/tmp/list-XXXXXX".utf8CString)
    let file = mkstemp(&path)
    try #require(file >= 0)
    unlink(path)
    defer { close(file) }
    for count in [0, 1, 256, 257, 1_100] {
      ftruncate(file, 0)
      lseek(file, 0, SEEK_SET)
      let event = SharedBoard.Output.answer(.objects(ListedObjects(Array(objects[..<count]))), to: .number(3))
      let writer = LineWriter(descriptor: file)
      try await LineSink(writer, isJSON: true).write([event])
      try await writer.flush()
      var bytes = [UInt8](repeating: 0, count: Int(lseek(file, 0, SEEK_CUR)))
      #expect(pread(file, &bytes, bytes.count, 0) == bytes.count)
      #expect(bytes == EventLine.json(event))
    }
  }
}

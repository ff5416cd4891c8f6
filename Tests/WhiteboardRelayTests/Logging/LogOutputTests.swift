import Foundation
import PeerCore
import Testing

@testable import WhiteboardRelay

struct LogOutputTests {
  @Test("lines of several threads stay whole") func keepsLinesWhole() async {
    let pipe = Pipe()
    let writer = LogOutput(descriptor: pipe.writer, limit: 1 << 30)
    let reading = pipe.reading()
    await withTaskGroup(of: Void.self) { writers in
      for index in 0..<8 {
        let line = String(repeating: "\(index)", count: 9_000) + "\n"
        writers.addTask { for _ in 0..<20 { writer.write(line) } }
      }
    }
    writer.flush(timeout: .seconds(60))
    pipe.endWriting()
    var lines: [Substring] = []
    for await text in reading { lines = text.split(separator: "\n") }
    #expect(lines.count == 160)
    #expect(lines.allSatisfy { $0.count == 9_000 && Set($0).count == 1 })
  }

  @Test("a full pipe delays no caller; the oldest lines are dropped, counted and reported") func dropsTheOldest() {
    let pipe = Pipe()
    pipe.fill()
    let dropped = Locked(0)
    let writer = LogOutput(descriptor: pipe.writer, limit: 100) { dropped.withLock { $0 += 1 } }
    // The pipe is not read, so a writer that waits for its reader would never finish.
    for number in 10..<100 { writer.write("line \(number)\n") { "\($0) dropped\n" } }
    let count = dropped.withLock { $0 }
    // The thread may have taken one line before the queue was full.
    #expect(77...78 ~= count)
    writer.flush(timeout: .nanoseconds(1))
    var text = pipe.read()
    writer.flush(timeout: .seconds(60))
    text += pipe.read()
    let lines = text.split(separator: "\n").filter { $0.first != "#" }.map(String.init)
    #expect(lines.suffix(12) == (88..<100).map { "line \($0)" }[...])
    let noted = lines.filter { $0.hasSuffix(" dropped") }
    #expect(noted.compactMap { Int($0.prefix { $0 != " " }) }.reduce(0, +) == count)
    // O_NONBLOCK would also apply to the other holders of the descriptor. Even without this flag, no call may block.
    #expect(fcntl(pipe.writer, F_GETFL) & O_NONBLOCK == 0)
  }

  @Test("a line that is larger than the queue is written whole") func writesLargeLine() async {
    let pipe = Pipe()
    let writer = LogOutput(descriptor: pipe.writer, limit: 10)
    let reading = pipe.reading()
    let large = String(repeating: "x", count: 300_000) + "\n"
    writer.write(large)
    writer.flush(timeout: .seconds(60))
    pipe.endWriting()
    for await text in reading { #expect(text == large) }
  }

  @Test("a full disk does not stop the program") func survivesFullDisk() throws {
    let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    let writer = LogOutput(descriptor: full.fileDescriptor)
    writer.write("x\n")
    writer.flush(timeout: .seconds(60))
  }
}

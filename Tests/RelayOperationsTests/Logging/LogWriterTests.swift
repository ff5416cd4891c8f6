import Foundation
import Testing

@testable import RelayOperations

struct LogWriterTests {
  @Test("lines of many threads stay whole")
  func keepsLinesWhole() async {
    let pipe = Pipe()
    let writer = LogWriter(descriptor: pipe.writer, patience: 60_000)
    let reading = pipe.reading()
    await withTaskGroup(of: Void.self) { writers in
      for index in 0..<8 {
        let line = String(repeating: "\(index)", count: 9_000) + "\n"
        writers.addTask { for _ in 0..<20 { writer.write(line) } }
      }
    }
    pipe.endWriting()
    var lines: [Substring] = []
    for await text in reading { lines = text.split(separator: "\n") }
    #expect(lines.count == 160)
    #expect(lines.allSatisfy { $0.count == 9_000 && Set($0).count == 1 })
  }

  @Test("a line that nobody takes is dropped, and the next begins on a line of its own")
  func dropsWhatNobodyTakes() throws {
    let pipe = Pipe()
    let writer = LogWriter(descriptor: pipe.writer, patience: 10)
    let large = String(repeating: "x", count: 300_000) + "\n"
    writer.write(large)
    writer.write("dropped whole\n")
    #expect(pipe.read().allSatisfy { $0 == "x" })
    writer.write("next\n")
    writer.write("last\n")
    #expect(pipe.read() == "\nnext\nlast\n")
    // Others may hold the descriptor without O_NONBLOCK; none of this may wait for them.
    #expect(fcntl(pipe.writer, F_GETFL) & O_NONBLOCK == 0)
  }

  @Test("a full disk stops nothing")
  func survivesFullDisk() throws {
    let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    LogWriter(descriptor: full.fileDescriptor).write("x\n")
  }
}

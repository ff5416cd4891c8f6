import Glibc
import Testing
import WhiteboardRelay

struct LogFormatTests {
  @Test("the journal's format is chosen only if the journal reads the descriptor") func choosesJournal() throws {
    let (journal, other) = (Pipe(), Pipe())
    var status = stat()
    #expect(fstat(journal.writer, &status) == 0)
    let ours = "\(status.st_dev):\(status.st_ino)"
    func chosen(_ stream: String?, _ descriptor: Int32) -> LogFormat {
      .chosen(environment: stream.map { ["JOURNAL_STREAM": $0] } ?? [:], descriptor: descriptor)
    }
    #expect(chosen(ours, journal.writer) == .journald)
    #expect(chosen(ours, other.writer) == .text)
    #expect(chosen(nil, journal.writer) == .text)
    for wrong in ["", ":", "\(status.st_dev)", "\(status.st_dev):", ours + "0", " " + ours] {
      #expect(chosen(wrong, journal.writer) == .text)
    }
    #expect(chosen(ours, -1) == .text)
  }

  @Test("the formats have the names of the command line") func hasNames() {
    #expect(LogFormat.allCases.map(\.rawValue) == ["text", "json", "journald"])
  }
}

import FoundationEssentials
import PeerCore
import Testing

@testable import CommandLines
@testable import Whiteboard
@testable import WhiteboardKit

@Suite struct EventLineTests {
  private func line(_ event: SharedBoard.Output) -> String { String(decoding: EventLine.json(event), as: UTF8.self) }

  @Test("a line starts with its version and event and ends with one line feed") func shape() {
    #expect(
      line(.answer(.done(.text, CommandOutcome(id: ObjectID("1-abcdefghijklm"))), to: .number(7)))
        == #"{"v":1,"event":"done","id":"1-abcdefghijklm","request":7,"verb":"text"}"# + "\n"
    )
    #expect(
      line(Sample.joined(Sample.member(1), "anna"))
        == #"{"v":1,"event":"joined","name":"anna","peer":"\#(Sample.member(1))"}"# + "\n"
    )
  }

  @Test("a line of another command has the same format") func otherLines() {
    struct Report: Encodable {
      struct Finding: Encodable {
        let verdict: String
        let check: String
        let advice: String?
      }

      let findings: [Finding]
      let cause: String?
    }
    let report = Report(findings: [.init(verdict: "fine", check: "clock", advice: nil)], cause: nil)
    #expect(
      String(decoding: EventLine.json("doctor", report), as: UTF8.self)
        == #"{"v":1,"event":"doctor","findings":[{"check":"clock","verdict":"fine"}]}"# + "\n"
    )
  }

  @Test("an error has a code, a message, the command and the request id") func failure() {
    #expect(
      line(.answer(.error(CommandError(.noSuchObject, "no", verb: "move")), to: .word("m")))
        == #"{"v":1,"event":"error","code":"no-such-object","message":"no","request":"m","verb":"move"}"# + "\n"
    )
  }

  @Test("an object keeps the names of its properties, and whole numbers stay whole") func object() {
    let object = Sample.object(
      .text,
      text: "hi",
      center: Point(x: 10, y: -20.5),
      size: Size(width: 200, height: 50),
      scale: 1,
      angle: 0
    )
    let member = Sample.member(1)
    #expect(
      line(Sample.added(ReportedObject(object), by: member))
        == #"{"v":1,"event":"object-added","by":"\#(member)","id":"7-abcdefghijklm","object":"#
        + #"{"angle":0,"centerPosition":[10,-20.5],"id":"7-abcdefghijklm","scale":1,"#
        + #""size":[200,50],"text":"hi","type":"text","updatedAt":"2026-11-18T11:06:40.123Z","# + #""zIndex":"800a"}}"#
        + "\n"
    )
  }

  @Test("control characters are escaped, and decode to the original text") func escapes() throws {
    let hostile = "a\u{1B}[2J\u{7F}\u{9B}31m\u{202E}\u{2028}\u{E0041}é漢\n\"\\"
    let line = line(Sample.chat(Sample.member(1), name: "n", hostile))
    for scalar in line.unicodeScalars.dropLast() { #expect(scalar.isSafe, "U+\(String(scalar.value, radix: 16))") }
    struct Read: Decodable { let text: String }
    #expect(try JSONDecoder().decode(Read.self, from: Data(line.utf8)).text == hostile)
    #expect(line.contains("é漢"))
  }
}

import Foundation
import Logging
import Testing

@testable import WhiteboardRelay

struct OperatorLogHandlerTests {
  private struct Failure: Error, CustomStringConvertible { let description = "no \"room\"" }

  private func lines(
    _ format: LogFormat,
    level: Logger.Level = .trace,
    provider: Logger.MetadataProvider? = nil,
    _ log: (inout Logger) -> Void
  ) -> String {
    let pipe = Pipe()
    let writer = LogOutput(descriptor: pipe.writer)
    var logger = Logger(label: "relay") { label in
      OperatorLogHandler(label: label, format: format, level: level, writer: writer, metadataProvider: provider) {
        LogTime(seconds: 1_795_369_915, milliseconds: 7)
      }
    }
    log(&logger)
    writer.flush(timeout: .seconds(60))
    pipe.endWriting()
    return pipe.read()
  }

  @Test("a text line has time, level, logger, message and metadata") func writesText() {
    let text = lines(.text) { logger in
      logger.notice("peer joined", metadata: ["role": "editor", "peer": "st4ksrqd"])
      logger.critical("ends")
      logger.warning("cannot save", error: Failure(), metadata: ["board": "a b", "empty": ""])
      logger.info("nested", metadata: ["list": ["x", "y=z"], "map": ["b": "2", "a": ["1"]]])
    }
    #expect(
      text == """
        2026-11-22T17:51:55.007Z notice   relay: peer joined peer=st4ksrqd role=editor
        2026-11-22T17:51:55.007Z critical relay: ends
        2026-11-22T17:51:55.007Z warning  relay: cannot save board="a b" empty="" error="no \\"room\\""
        2026-11-22T17:51:55.007Z info     relay: nested list="[x, y=z]" map="{a: [1], b: 2}"

        """
    )
  }

  @Test("a line for the journal has a priority and no time") func writesForJournal() {
    let text = lines(.journald) { logger in
      for level in Logger.Level.allCases { logger.log(level: level, "x", metadata: ["level": "\(level)"]) }
    }
    #expect(
      text == """
        <7>relay: x level=trace
        <7>relay: x level=debug
        <6>relay: x level=info
        <5>relay: x level=notice
        <4>relay: x level=warning
        <3>relay: x level=error
        <2>relay: x level=critical

        """
    )
  }

  @Test("each line of JSON is an object with the same contents") func writesJSON() throws {
    let text = lines(.json) { logger in
      logger.error(
        "quote \" backslash \\",
        error: Failure(),
        metadata: ["list": ["x", "ü\u{7f}"], "map": ["b": "2"], "k\"\n": "v"]
      )
      logger.info("plain")
    }
    let lines = text.split(separator: "\n").map { Data($0.utf8) }
    #expect(lines.count == 2)
    let object = try #require(try JSONSerialization.jsonObject(with: lines[0]) as? NSDictionary)
    let expected: NSDictionary = [
      "time": "2026-11-22T17:51:55.007Z", "level": "error", "logger": "relay", "message": "quote \" backslash \\",
      "metadata": ["error": "no \"room\"", "list": ["x", #"ü\u{7f}"#], "map": ["b": "2"], #"k"\n"#: "v"]
        as NSDictionary,
    ]
    #expect(object == expected)
    #expect(
      String(decoding: lines[1], as: UTF8.self)
        == #"{"time":"2026-11-22T17:51:55.007Z","level":"info","logger":"relay","message":"plain"}"#
    )
  }

  @Test("logged text adds no control character and no second line", arguments: LogFormat.allCases) func cleans(
    _ format: LogFormat
  ) {
    let evil = "a\u{1b}]0;x\u{7}\r\n<0>forged\u{9b}31m\u{202e}\u{2028}\u{0}\u{e000}\u{200b}b"
    let text = lines(format) { logger in
      logger.info("\(evil)", metadata: [evil: "\(evil)", "list": ["\(evil)"], "map": [evil: "\(evil)"]])
    }
    #expect(text.hasSuffix("\n"))
    #expect(text.contains("forged"))
    for scalar in text.dropLast().unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse:
        Issue.record("U+\(String(scalar.value, radix: 16)) reached the log")
      default: break
      }
    }
  }

  @Test("the length of a line is bounded, whatever is logged", arguments: LogFormat.allCases) func bounds(
    _ format: LogFormat
  ) {
    let long = String(repeating: "x", count: 1_000_000)
    let many = Dictionary(uniqueKeysWithValues: (0..<5_000).map { ("k\($0)", Logger.MetadataValue("v")) })
    let text = lines(format) { logger in
      logger.info("\(long)", metadata: ["long": "\(long)"])
      logger.info("many", metadata: many)
      logger.info("nested", metadata: ["map": .dictionary(many), "list": .array(Array(many.values))])
    }
    #expect(text.split(separator: "\n").count == 3)
    #expect(text.utf8.count < 10_000)
  }

  @Test("the call's metadata has precedence over the task's, and the task's over the logger's") func mergesMetadata() {
    let provider = Logger.MetadataProvider { ["a": "task", "b": "task"] }
    let text = lines(.journald, provider: provider) { logger in
      logger[metadataKey: "a"] = "logger"
      logger[metadataKey: "c"] = "logger"
      logger.info("x", metadata: ["b": "call"])
    }
    #expect(text == "<6>relay: x a=task b=call c=logger\n")
  }

  @Test("messages below the logger's level are not written") func holdsItsLevel() {
    let text = lines(.journald, level: .notice) { logger in
      logger.info("no")
      logger.notice("yes")
    }
    #expect(text == "<5>relay: yes\n")
  }

  @Test("the time is correct around a leap day and before the epoch") func tellsTime() {
    #expect("\(LogTime(seconds: 0, milliseconds: 0))" == "1970-01-01T00:00:00.000Z")
    #expect("\(LogTime(seconds: 1_709_251_199, milliseconds: 999))" == "2024-02-29T23:59:59.999Z")
    #expect("\(LogTime(seconds: 1_709_251_200, milliseconds: 40))" == "2024-03-01T00:00:00.040Z")
    #expect("\(LogTime(seconds: -1, milliseconds: 5))" == "1969-12-31T23:59:59.005Z")
  }
}

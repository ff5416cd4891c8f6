import Foundation
import PeerCore
import Testing

@testable import CommandLines
@testable import Whiteboard
@testable import WhiteboardKit

/// Compares the lines of JSON and of text about every kind of event with the file `EventLines.txt`.
///
/// With `WHITEBOARD_WRITE_GOLDENS=1` in the environment, a file that differs is rewritten. The test fails anyway, so that
/// no change is overlooked.
@Suite struct EventGoldenTests {
  private static let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "EventLines.txt")

  @Test("the lines about each event are as recorded") func lines() throws {
    let objects = try Self.objectEvents()
    let events = HostileEventTests.otherEvents("x") + objects + HostileEventTests.otherEvents("a\u{1B}\u{8}\u{C}é\"\\/")
    var narrator = BoardNarrator()
    let text =
      events.map { event in
        String(decoding: EventLine.json(event), as: UTF8.self) + (EventText.line(event).map { $0 + "\n" } ?? "")
      }.joined() + events.flatMap { narrator.lines(for: $0, now: .zero) }.map { $0 + "\n" }.joined()
    let known = (try? String(contentsOf: Self.file, encoding: .utf8)) ?? ""
    guard text != known else { return }
    if ProcessInfo.processInfo.environment["WHITEBOARD_WRITE_GOLDENS"] == "1" {
      try Data(text.utf8).write(to: Self.file)
    }
    let changes = text.split(separator: "\n").difference(from: known.split(separator: "\n"))
    Issue.record("\(changes.count) lines differ:\n\(changes.map { "\($0)" }.joined(separator: "\n"))")
  }

  // MARK: - Objects

  private static func added(_ snapshot: ObjectSnapshot, game: GameDescription? = nil, path: String? = nil)
    -> SharedBoard.Output
  { Sample.added(ReportedObject(snapshot, game: game, path: path), by: Sample.member(2)) }

  private static func changed(_ old: ObjectSnapshot, _ new: ObjectSnapshot) -> SharedBoard.Output {
    let object = ReportedObject(new, since: old, changed: ReportedObject.changedKeys(old, new))
    return Sample.changed(object, by: Sample.member(2), isHidden: true)
  }

  private static func objectEvents() throws -> [SharedBoard.Output] {
    let photo = try Sample.photo
    var style = ObjectStyle(form: .arrow)
    style.fill = 0x0102_03FF
    style.lineStyle = .dashed
    style.opacity = 0.25
    style.start = .bar
    style.end = .dot
    style.isCurved = true
    style.textSize = 33
    style.typeface = .code
    style.alignment = .right
    style.isBold = true
    style.isItalic = true
    style.textColor = 0xFFFF_FFFF
    style.isAutoWidth = true
    let ink = (0..<200).map { InkPoint(x: $0 * 7, y: $0 * $0 % 31) }
    let long = String(repeating: "Zoë 😀 ", count: 500)
    let text = Sample.object(.text, text: long)
    let drawing = Sample.object(.drawing, ink: ink, erased: [16...40], isFinished: false)
    let holes = (0..<140).map { $0 * 20...$0 * 20 + 5 }
    let game = GameDescription(
      view: .object([
        "game": .string("wordle"),
        "a": .list([.null, .flag(true), .numbers([1, 2.5, 1e300]), .digits("18446744073709551615")]),
      ]),
      lines: ["crane"]
    )
    return [
      added(Sample.object(.text, text: "hi\u{202E}\n")), added(Sample.object(.text, text: "")),
      added(Sample.object(.drawing, text: "label", form: .arrow, style: style, isFull: true, isFinished: true)),
      added(Sample.object(.drawing, text: "", form: .rectangle, isFinished: true)), added(drawing),
      added(Sample.object(.drawing, ink: [], isFinished: false)),
      added(Sample.object(.photo, asset: photo)),
      added(Sample.object(.photo, isFull: true, asset: photo), path: "/tmp/a b"),
      added(Sample.object(.game), game: game),
      changed(Sample.object(.text, text: "a"), Sample.object(.text, text: "b", isFull: true)),
      changed(text, Sample.object(.text, text: long + "é")),
      changed(text, Sample.object(.text, text: long, center: Point(x: 0, y: 0))),
      changed(text, Sample.object(.text, text: String(repeating: "b", count: 3000))),
      changed(drawing, Sample.object(.drawing, ink: ink + ink.prefix(3), erased: [16...40], isFinished: false)),
      changed(drawing, Sample.object(.drawing, ink: ink, erased: [16...40], isFinished: true)),
      changed(
        drawing,
        Sample.object(.drawing, ink: ink, erased: [16...40], isFinished: false, center: Point(x: -1, y: 0))
      ),
      changed(
        Sample.object(.drawing, ink: ink, erased: holes, isFinished: true),
        Sample.object(.drawing, ink: ink, erased: Array(holes.dropFirst()) + [2850...2900], isFinished: true)
      ),
      changed(
        Sample.object(.drawing, text: "", form: .arrow, isFinished: true),
        Sample.object(.drawing, text: "label", form: .line, style: style, isFull: true, isFinished: true)
      ),
      changed(Sample.object(.photo, asset: photo), Sample.object(.photo, isFull: true, asset: photo)),
    ]
  }
}

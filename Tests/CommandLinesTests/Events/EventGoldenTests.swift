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

  private static func added(_ snapshot: ObjectSnapshot, game: GameDescription? = nil, path: String? = nil) -> BoardEvent
  {
    let object = BoardEvent.ObjectDescription(snapshot, game: game, path: path)
    return .objectAdded(.init(id: object.id, object: object, by: "m"))
  }

  private static func changed(_ old: ObjectSnapshot, _ new: ObjectSnapshot) -> BoardEvent {
    let keys = BoardEvent.ObjectDescription.changedKeys(old, new)
    var object = BoardEvent.ObjectDescription(new)
    object.leaveOutKnown(from: old, changed: keys)
    return .objectChanged(.init(id: object.id, changed: keys, object: object, by: "m", hidden: true))
  }

  private static func objectEvents() throws -> [BoardEvent] {
    let id = try #require(ObjectID("7-abcdefghijklm"))
    let other = try #require(ObjectID("8-abcdefghijklm"))
    let member = try #require(MemberID(bytes: [UInt8](repeating: 1, count: 32)))
    let hash = try #require(AssetID([UInt8](repeating: 2, count: 32)))
    let photo = try AssetReference(id: hash, byteCount: 99, header: PhotoHeader(format: .png, width: 3, height: 4))
    func object(
      _ kind: ObjectKind,
      text: String? = nil,
      form: DrawingForm? = nil,
      style: ObjectStyle? = nil,
      ink: [InkPoint]? = nil,
      erased: [ClosedRange<Int>] = [],
      isFull: Bool = false,
      isFinished: Bool? = nil,
      asset: AssetReference? = nil,
      center: Point = Point(x: -0.5, y: 12_345.125)
    ) -> ObjectSnapshot {
      ObjectSnapshot(
        id: id,
        kind: kind,
        centerPosition: center,
        size: Size(width: 100, height: 0.1),
        scale: 1.5,
        angle: 3.141592653589793,
        selectedBy: isFull ? member : nil,
        zIndex: [0x80, 0x0A],
        updatedAt: 1_795_000_000_123,
        color: isFull ? 0x12AB_34CD : nil,
        text: text,
        form: form,
        style: style ?? ObjectStyle(form: form),
        shownSize: Size(width: 100, height: 0.1),
        outline: nil,
        start: isFull ? Binding(to: other, at: Point(x: 0.25, y: -0.5), isExact: true) : nil,
        end: isFull ? Binding(to: other) : nil,
        ink: ink,
        lineWidth: kind == .drawing ? 2.5 : nil,
        isFinished: isFinished,
        erased: ink == nil ? nil : StrokeSpans(erased),
        groups: isFull ? [other, id] : [],
        isLocked: isFull,
        frame: isFull ? other : nil,
        link: isFull ? "https://example.org/?a=\"b\"" : nil,
        votes: isFull ? [Votes(reaction: "👍🏽", members: [member, member]), Votes(reaction: "\u{7}", members: [])] : [],
        crop: isFull ? Rectangle(Point(x: 0.25, y: 0), Point(x: 1, y: 0.75)) : nil,
        isFlippedHorizontally: isFull,
        isFlippedVertically: isFull,
        game: nil,
        asset: asset,
        isAssetAvailable: asset.map { _ in isFull }
      )
    }
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
    let text = object(.text, text: long)
    let drawing = object(.drawing, ink: ink, erased: [16...40], isFinished: false)
    let holes = (0..<140).map { $0 * 20...$0 * 20 + 5 }
    let game = GameDescription(
      view: .object([
        "game": .string("wordle"),
        "a": .list([.null, .flag(true), .numbers([1, 2.5, 1e300]), .digits("18446744073709551615")]),
      ]),
      lines: ["crane"]
    )
    return [
      added(object(.text, text: "hi\u{202E}\n")), added(object(.text, text: "")),
      added(object(.drawing, text: "label", form: .arrow, style: style, isFull: true, isFinished: true)),
      added(object(.drawing, text: "", form: .rectangle, isFinished: true)), added(drawing),
      added(object(.drawing, ink: [], isFinished: false)),
      added(object(.photo, asset: photo)), added(object(.photo, isFull: true, asset: photo), path: "/tmp/a b"),
      added(object(.game), game: game),
      changed(object(.text, text: "a"), object(.text, text: "b", isFull: true)),
      changed(text, object(.text, text: long + "é")),
      changed(text, object(.text, text: long, center: Point(x: 0, y: 0))),
      changed(text, object(.text, text: String(repeating: "b", count: 3000))),
      changed(drawing, object(.drawing, ink: ink + ink.prefix(3), erased: [16...40], isFinished: false)),
      changed(drawing, object(.drawing, ink: ink, erased: [16...40], isFinished: true)),
      changed(drawing, object(.drawing, ink: ink, erased: [16...40], isFinished: false, center: Point(x: -1, y: 0))),
      changed(
        object(.drawing, ink: ink, erased: holes, isFinished: true),
        object(.drawing, ink: ink, erased: Array(holes.dropFirst()) + [2850...2900], isFinished: true)
      ),
      changed(
        object(.drawing, text: "", form: .arrow, isFinished: true),
        object(.drawing, text: "label", form: .line, style: style, isFull: true, isFinished: true)
      ),
      changed(object(.photo, asset: photo), object(.photo, isFull: true, asset: photo)),
    ]
  }
}

import PeerCore
import Whiteboard

/// An object in an event or an answer (BRD-19).
package struct ReportedObject: Sendable, Equatable {
  package let snapshot: ObjectSnapshot
  package let game: GameDescription?
  package let path: String?
  /// The objects of a group, from back to front; nil if this object is not a group.
  package let members: [ObjectID]?
  /// The state that readers know from earlier events; nil if the whole object is reported.
  private let known: ObjectSnapshot?
  package let changed: [String]
  /// The points of a drawing; nil if there are no points, or if many points are known and no point changed.
  package let points: RelativePoints?
  /// The erased ranges of a drawing; nil if there are no ranges, or if many ranges are known and no range changed.
  package let erased: ErasedRanges?

  /// The maximum number of points and of erased ranges of a drawing that each event repeats.
  private static let repeatedCount = BoardLimits.pointsPerChunk

  /// Omits the data that readers know from earlier events, so that many events about a large object do not repeat this
  /// data. The event that reports the end of a drawing contains all points and erased ranges.
  package init(
    _ snapshot: ObjectSnapshot,
    game: GameDescription? = nil,
    path: String? = nil,
    members: [ObjectID]? = nil,
    since known: ObjectSnapshot? = nil,
    changed: [String] = []
  ) {
    self.snapshot = snapshot
    self.game = game
    self.path = path
    self.members = members
    self.known = known
    self.changed = changed
    let former = changed.contains("isFinished") ? nil : known
    let line = snapshot.form?.hasPoints == true ? snapshot.points : nil
    if let former, (line?.count ?? snapshot.ink?.count ?? 0) > Self.repeatedCount {
      let isChanged = changed.contains("points")
      points =
        isChanged
        ? line.map { RelativePoints(line: $0) } ?? RelativePoints(snapshot.ink ?? [], since: former.ink ?? []) : nil
    } else {
      points = line.map { RelativePoints(line: $0) } ?? snapshot.ink.map { RelativePoints($0) }
    }
    // An empty list contains no information.
    let spans = snapshot.erasedSpans.flatMap { $0.isEmpty ? nil : $0 }
    if let spans, spans.count > Self.repeatedCount, let former = former?.erasedSpans, !former.isEmpty {
      erased = changed.contains("erased") ? ErasedRanges(spans, since: former) : nil
    } else {
      erased = spans.map { ErasedRanges($0) }
    }
  }

  /// Returns the object for one event that replaces the event about `earlier` and the event about this object.
  func joined(after earlier: ReportedObject) -> ReportedObject {
    ReportedObject(
      snapshot,
      game: game,
      path: path,
      members: members,
      since: earlier.known,
      changed: earlier.changed + changed.filter { !earlier.changed.contains($0) }
    )
  }

  /// The whole text, even if the event contains only the change of the text.
  package var wholeText: UntrustedText? {
    guard let text = snapshot.text, snapshot.form == nil || !text.isEmpty else { return nil }
    return UntrustedText(text)
  }

  /// The part of the text that the event contains: all of it, only the change, or nothing if the text is long and did
  /// not change.
  package var text: (whole: UntrustedText?, change: TextChange?) {
    guard let whole = wholeText, let known = known?.text, TextChange.isLong(whole) else { return (wholeText, nil) }
    guard changed.contains("text") else { return (nil, nil) }
    let change = TextChange(whole, since: UntrustedText(known))
    return (change == nil ? whole : nil, change)
  }
}

/// The objects of a board at one moment, from back to front. Each object is described only when it is read, on any
/// thread, because the descriptions of a large board take much time and memory.
package struct ListedObjects: Sequence, Sendable {
  package let count: Int
  private let ids: @Sendable () -> [ObjectID]
  private let describe: @Sendable (ObjectID) -> ReportedObject?

  init(
    count: Int,
    ids: @escaping @Sendable () -> [ObjectID],
    describe: @escaping @Sendable (ObjectID) -> ReportedObject?
  ) {
    self.count = count
    self.ids = ids
    self.describe = describe
  }

  package init(_ objects: [ReportedObject]) {
    let known = Dictionary(uniqueKeysWithValues: objects.map { ($0.snapshot.id, $0) })
    self.init(count: objects.count, ids: { objects.map(\.snapshot.id) }, describe: { known[$0] })
  }

  package func makeIterator() -> AnyIterator<ReportedObject> {
    var rest = ids()[...]
    return AnyIterator {
      while let id = rest.popFirst() { if let object = describe(id) { return object } }
      return nil
    }
  }

  /// Returns parts with at most `length` objects, which can be read at the same time.
  package func parts(of length: Int) -> [ListedObjects] {
    let ids = ids()
    return stride(from: 0, to: ids.count, by: length).map { start in
      let part = Array(ids[start..<Swift.min(start + length, ids.count)])
      return ListedObjects(count: part.count, ids: { part }, describe: describe)
    }
  }
}

/// The points of a drawing, relative to the center of all its points; computed only when they are written. Contains
/// either all points, or only the points that differ from the points that readers know.
package struct RelativePoints: Sendable, Equatable {
  private let ink: [InkPoint]
  private let known: [InkPoint]?
  private let range: Range<Int>
  /// The points of a line or arrow, which are always included; nil for ink.
  private let line: [Point]?

  package init(_ ink: [InkPoint], since known: [InkPoint]? = nil) {
    self.ink = ink
    self.known = known
    line = nil
    let old = known ?? []
    let most = min(old.count, ink.count)
    var start = 0
    while start < most, old[start] == ink[start] { start += 1 }
    var same = 0
    while same < most - start, old[old.count - 1 - same] == ink[ink.count - 1 - same] { same += 1 }
    range = start..<ink.count - same
  }

  fileprivate init(line: [Point]) {
    (ink, known, range) = ([], nil, 0..<0)
    self.line = line
  }

  package var count: Int { line?.count ?? range.count }

  /// Nil if all points are included. Otherwise, `first` is the index of the first included point, `total` counts all
  /// points, and `shift` is the distance by which the other points moved relative to the center of all points.
  package var part: (first: Int, total: Int, shift: [Double])? {
    guard let known else { return nil }
    let (old, new) = (InkBounds(known)?.center, InkBounds(ink)?.center)
    guard let old, let new else { return (range.lowerBound, ink.count, [0, 0]) }
    return (range.lowerBound, ink.count, [old.x - new.x, old.y - new.y])
  }

  package func forEach(_ body: (Point) throws -> Void) rethrows {
    if let line { return try line.forEach(body) }
    guard let center = InkBounds(ink)?.center else { return }
    for point in ink[range] { try body(Point(x: point.point.x - center.x, y: point.point.y - center.y)) }
  }
}

/// Erased ranges of a drawing, in sixteenths of the distance between two points. Contains either all ranges, or only
/// the ranges that readers do not know yet.
package struct ErasedRanges: Sendable, Equatable {
  package let ranges: [ClosedRange<Int>]
  /// The number of all ranges; nil if no range is omitted.
  package let total: Int?
  /// The earlier ranges that no longer exist; nil if the event contains all ranges.
  package let former: [ClosedRange<Int>]?

  init(_ all: [ClosedRange<Int>], since known: [ClosedRange<Int>]? = nil) {
    ranges = known.map { Self.difference(all, $0) } ?? all
    total = known.map { _ in all.count }
    former = known.map { Self.difference($0, all) }
  }

  /// Returns the ranges of a sorted list that are not in another sorted list, in linear time.
  private static func difference(_ ranges: [ClosedRange<Int>], _ others: [ClosedRange<Int>]) -> [ClosedRange<Int>] {
    var rest = others[...]
    return ranges.filter { range in
      rest = rest.drop { $0.lowerBound < range.lowerBound }
      return rest.first != range
    }
  }
}

/// The change of a text that readers know, in the terms of the command `insert`.
package struct TextChange: Sendable, Equatable {
  /// The number of Unicode scalars before the change.
  package let at: Int
  /// The number of Unicode scalars that were removed.
  package let replacing: Int
  package let text: UntrustedText

  /// Returns nil if the whole text should be reported, because it is short or most of it is new.
  fileprivate init?(_ new: UntrustedText, since known: UntrustedText) {
    guard Self.isLong(new) else { return nil }
    let (old, bytes) = (Array(known.raw.utf8), Array(new.raw.utf8))
    let most = min(old.count, bytes.count)
    func isInsideCharacter(_ index: Int) -> Bool { index < bytes.count && UTF8.isContinuation(bytes[index]) }
    var start = 0
    while start < most, old[start] == bytes[start] { start += 1 }
    while isInsideCharacter(start) { start -= 1 }
    var same = 0
    while same < most - start, old[old.count - 1 - same] == bytes[bytes.count - 1 - same] { same += 1 }
    while isInsideCharacter(bytes.count - same) { same -= 1 }
    let inserted = bytes[start..<bytes.count - same]
    guard inserted.count <= bytes.count / 2 else { return nil }
    func characters(_ bytes: ArraySlice<UInt8>) -> Int { bytes.count { !UTF8.isContinuation($0) } }
    at = characters(bytes[..<start])
    replacing = characters(old[start..<old.count - same])
    text = UntrustedText(bytes: inserted)
  }

  /// Whether the text is so long that events about an existing object do not repeat it.
  fileprivate static func isLong(_ text: UntrustedText) -> Bool {
    text.byteCount > 2000 && text.raw.unicodeScalars.count > 2000
  }
}

extension ReportedObject {
  /// Returns the keys whose values differ between two snapshots, except `selectedBy` and `updatedAt`.
  static func changedKeys(_ old: ObjectSnapshot, _ new: ObjectSnapshot) -> [String] {
    var keys: [String] = []
    if old.centerPosition != new.centerPosition { keys.append("centerPosition") }
    if old.size != new.size { keys.append("size") }
    if old.scale != new.scale { keys.append("scale") }
    if old.angle != new.angle { keys.append("angle") }
    if old.zIndex != new.zIndex { keys.append("zIndex") }
    if old.color != new.color { keys.append("color") }
    if old.text != new.text { keys.append("text") }
    if old.ink != new.ink { keys.append("points") }
    if old.lineWidth != new.lineWidth { keys.append("lineWidth") }
    if old.form != nil || old.style != new.style { keys += changedStyleKeys(old, new) }
    if old.erasedSpans != new.erasedSpans { keys.append("erased") }
    if old.groups != new.groups { keys.append("groups") }
    if old.frame != new.frame { keys.append("frame") }
    if old.link != new.link { keys.append("link") }
    if old.votes != new.votes { keys.append("votes") }
    if old.crop != new.crop { keys.append("crop") }
    if old.isFlippedHorizontally != new.isFlippedHorizontally { keys.append("isFlippedHorizontally") }
    if old.isFlippedVertically != new.isFlippedVertically { keys.append("isFlippedVertically") }
    if old.isLocked != new.isLocked { keys.append("isLocked") }
    if old.isFinished != new.isFinished { keys.append("isFinished") }
    if old.asset != new.asset { keys.append("sha256") }
    if old.isAssetAvailable != new.isAssetAvailable { keys.append("isAssetAvailable") }
    return keys
  }

  private static func changedStyleKeys(_ old: ObjectSnapshot, _ new: ObjectSnapshot) -> [String] {
    var keys: [String] = []
    let (one, other) = (old.style, new.style)
    if old.form != new.form { keys.append("form") }
    if old.form?.hasPoints == true, old.points != new.points { keys.append("points") }
    if one.fill != other.fill { keys.append("fill") }
    if one.lineStyle != other.lineStyle { keys.append("lineStyle") }
    if one.opacity != other.opacity { keys.append("opacity") }
    if one.start != other.start { keys.append("lineStart") }
    if one.end != other.end { keys.append("lineEnd") }
    if old.start != new.start { keys.append("startBinding") }
    if old.end != new.end { keys.append("endBinding") }
    if one.isCurved != other.isCurved { keys.append("isCurved") }
    if one.textSize != other.textSize { keys.append("textSize") }
    if one.typeface != other.typeface { keys.append("typeface") }
    if one.alignment != other.alignment { keys.append("alignment") }
    if one.isBold != other.isBold { keys.append("isBold") }
    if one.isItalic != other.isItalic { keys.append("isItalic") }
    if one.textColor != other.textColor { keys.append("textColor") }
    if one.isAutoWidth != other.isAutoWidth { keys.append("isAutoWidth") }
    return keys
  }
}

/// A game as one member sees it: JSON for programs (GAM-8), and a few lines for users.
package struct GameDescription: Sendable, Equatable {
  package var view: JSONTree
  package var lines: [UntrustedText]

  package init(view: JSONTree, lines: [UntrustedText]) {
    self.view = view
    self.lines = lines
  }

  init?(_ view: GameView, naming name: (MemberID) -> String) {
    guard let json = JSONTree(view.json) else { return nil }
    self.init(view: json, lines: view.text(naming: name).map { UntrustedText($0) })
  }
}

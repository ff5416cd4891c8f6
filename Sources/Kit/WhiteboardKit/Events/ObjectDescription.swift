import PeerCore
import Whiteboard

extension BoardEvent {
  /// The description of an object in events (BRD-19).
  package struct ObjectDescription: Sendable, Equatable {
    package var id: String
    /// `text`, `drawing`, `photo` or `game`; `group` in an answer about a group.
    package var type: String
    /// The center, in board units.
    package var centerPosition: [Double]
    /// The width and height before scaling, in board units.
    package var size: [Double]
    /// The scale factor; 1 for the original size.
    package var scale: Double
    package var angle: Double
    package var selectedBy: String?
    /// The position in the stack, in hexadecimal; a higher value is in front.
    package var zIndex: String
    /// The time of the last change, in RFC 3339 format.
    package var updatedAt: String
    /// The color, `#rrggbbaa`; nil if the object uses the default color.
    package var color: String?
    /// The text; some events contain only its change, see `textChange`, or leave out a text that did not change.
    package var text: UntrustedText?
    /// The change of a long text, instead of the text.
    package private(set) var textChange: TextChange?
    /// The whole text if `text` lacks it; not part of the JSON.
    private(set) var unreportedText: UntrustedText?
    /// The points of a drawing, relative to its center, before scaling and rotation.
    ///
    /// Some events contain only the points that changed; see `setPoints`.
    package private(set) var points: RelativePoints?
    /// If `points` contains only the points that changed, the index of the first of them.
    package private(set) var firstPoint: Int?
    /// If `points` contains only the points that changed, the number of all points.
    package private(set) var pointCount: Int?
    /// If `points` contains only the points that changed, the distance by which the other points moved relative to the
    /// center of all points.
    package private(set) var shift: [Double]?
    /// The line width of a drawing, in board units.
    package var lineWidth: Double?
    /// The form of a drawing, such as `rectangle`; nil for ink.
    package var form: String?
    /// The color inside a form or behind a text, `#rrggbbaa`; like all keys of the style, nil if it is the default.
    package var fill: String?
    package var lineStyle: String?
    package var opacity: Double?
    package var lineStart: String?
    package var lineEnd: String?
    package var startBinding: BindingDescription?
    package var endBinding: BindingDescription?
    package var isCurved: Bool?
    package var textSize: Double?
    package var typeface: String?
    package var alignment: String?
    package var isBold: Bool?
    package var isItalic: Bool?
    package var textColor: String?
    package var isAutoWidth: Bool?
    /// The frame to which the object belongs.
    package var frame: String?
    package var link: UntrustedText?
    package var votes: [VotesDescription]?
    /// The part of a photo that is shown: left, top, right and bottom, in parts of its width and height.
    package var crop: [Double]?
    package var isFlippedHorizontally: Bool?
    package var isFlippedVertically: Bool?
    package var isFinished: Bool?
    /// The SHA-256 of the photo's bytes.
    package var sha256: String?
    package var format: String?
    /// The size of the photo, in bytes.
    package var byteCount: Int?
    /// The photo's width and height in pixels.
    package var pixelSize: [Int]?
    /// Whether the photo's bytes are available locally.
    package var isAssetAvailable: Bool?
    /// The path of the photo's file; nil if there is no file.
    package var path: String?
    /// The erased ranges of a drawing; some events contain only the ranges that changed, see `setErased`.
    package var erased: ErasedRanges?
    /// If `erased` contains only new ranges, the number of all ranges.
    package private(set) var erasedCount: Int?
    /// If `erased` contains only new ranges, the earlier ranges that no longer exist.
    package private(set) var formerErased: ErasedRanges?
    /// The groups that contain the object, innermost first.
    package var groups: [String]?
    /// True if the object is locked against changes; nil otherwise.
    package var isLocked: Bool?
    /// The game as the local member sees it.
    package var game: GameDescription?
    package var members: [String]?

    /// The whole text, even if the event contains only its change.
    package var wholeText: UntrustedText? { text ?? unreportedText }
  }
}

/// The members that gave an object a reaction (BRD-56).
package struct VotesDescription: Sendable, Equatable {
  package let reaction: UntrustedText
  /// The ids of the members.
  package let members: [String]

  fileprivate init(_ votes: Votes) {
    reaction = UntrustedText(votes.reaction)
    members = votes.members.map(\.description)
  }
}

/// What an end of a line or arrow is bound to (BRD-52).
package struct BindingDescription: Sendable, Equatable {
  /// The object at which the end lies.
  package let id: String
  /// The place in the object, in parts of its width and height from its center.
  package let anchor: [Double]
  /// True if the end lies exactly at the anchor; nil otherwise.
  package let isExact: Bool?

  fileprivate init(_ binding: Binding) {
    id = binding.target.description
    anchor = [binding.anchor.x, binding.anchor.y]
    isExact = binding.isExact ? true : nil
  }
}

/// The points of a drawing, relative to the center of all its points; computed only when they are encoded.
///
/// They are all points, or only those that differ from earlier points that readers know.
package struct RelativePoints: Sendable, Equatable {
  private let ink: [InkPoint]
  private let known: [InkPoint]?
  private let range: Range<Int>
  /// The points of a line or arrow, which are always included; nil for ink.
  private let line: [Point]?

  init(_ ink: [InkPoint], since known: [InkPoint]? = nil) {
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

  /// The position of the included points among all points; nil if all are included.
  fileprivate var part: (first: Int, total: Int, shift: [Double])? {
    guard let known else { return nil }
    let (old, new) = (InkBounds(known)?.center, InkBounds(ink)?.center)
    guard let old, let new else { return (range.lowerBound, ink.count, [0, 0]) }
    return (range.lowerBound, ink.count, [old.x - new.x, old.y - new.y])
  }

  /// Returns the points that differ from those that readers knew before an earlier event.
  fileprivate func joined(after earlier: RelativePoints?) -> RelativePoints {
    guard known != nil, let earlier else { return self }
    return RelativePoints(ink, since: earlier.known)
  }

  fileprivate func since(_ known: [InkPoint]) -> RelativePoints {
    line == nil ? RelativePoints(ink, since: known) : self
  }

  package func forEach(_ body: (Point) throws -> Void) rethrows {
    if let line { return try line.forEach(body) }
    guard let center = InkBounds(ink)?.center else { return }
    for point in ink[range] { try body(Point(x: point.point.x - center.x, y: point.point.y - center.y)) }
  }
}

/// Erased ranges of a drawing, in sixteenths of the distance between two points; converted only when they are encoded.
///
/// They are all ranges, or only those that are not among earlier ranges that readers know.
package struct ErasedRanges: Sendable, Equatable {
  private let all: [ClosedRange<Int>]
  private let known: [ClosedRange<Int>]?
  package let ranges: [ClosedRange<Int>]

  package init(_ all: [ClosedRange<Int>]) { self.init(all, since: nil) }

  private init(_ all: [ClosedRange<Int>], since known: [ClosedRange<Int>]?) {
    self.all = all
    self.known = known
    ranges = known.map { Self.difference(all, $0) } ?? all
  }

  package var count: Int { ranges.count }

  /// The number of all ranges, and the known ranges that no longer exist; nil if all ranges are included.
  fileprivate var part: (total: Int, former: ErasedRanges)? {
    known.map { (all.count, ErasedRanges(Self.difference($0, all))) }
  }

  /// Returns the ranges that readers did not know before an earlier event.
  fileprivate func joined(after earlier: ErasedRanges?) -> ErasedRanges {
    guard known != nil, let earlier else { return self }
    return ErasedRanges(all, since: earlier.known)
  }

  fileprivate func since(_ known: [ClosedRange<Int>]) -> ErasedRanges { ErasedRanges(all, since: known) }

  /// Returns the ranges of a sorted list that another sorted list lacks.
  ///
  /// - Complexity: O(n) in the length of both lists.
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
  /// The number of characters (Unicode scalars) before the change.
  package let at: Int
  /// The number of characters that were removed.
  package let replacing: Int
  /// The characters that were inserted.
  package let text: UntrustedText
  /// The text before the change.
  fileprivate let known: UntrustedText

  /// Creates a description of a change; returns nil if the whole text should be reported, because it is short or most
  /// of it is new.
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
    self.known = known
  }

  /// Whether events about an existing object do not repeat its text.
  fileprivate static func isLong(_ text: UntrustedText) -> Bool {
    text.byteCount > 2000 && text.raw.unicodeScalars.count > 2000
  }
}

extension BoardEvent.ObjectDescription {
  init(_ snapshot: ObjectSnapshot, game: GameDescription? = nil, path: String? = nil) {
    let hasWords = snapshot.form == nil || snapshot.text?.isEmpty == false
    self.init(
      id: snapshot.id.description,
      type: snapshot.kind.name,
      centerPosition: [snapshot.centerPosition.x, snapshot.centerPosition.y],
      size: [snapshot.size.width, snapshot.size.height],
      scale: snapshot.scale,
      angle: snapshot.angle,
      selectedBy: snapshot.selectedBy?.description,
      zIndex: Hexadecimal.encode(snapshot.zIndex),
      updatedAt: Timestamp.text(milliseconds: snapshot.updatedAt),
      color: snapshot.color.map(ColorText.text),
      text: hasWords ? snapshot.text.map { UntrustedText($0) } : nil,
      points: snapshot.ink.map { RelativePoints($0) },
      lineWidth: snapshot.lineWidth,
      isFinished: snapshot.isFinished,
      sha256: snapshot.asset?.id.description,
      format: snapshot.asset?.format.name,
      byteCount: snapshot.asset?.byteCount,
      pixelSize: snapshot.asset.map { [$0.width, $0.height] },
      isAssetAvailable: snapshot.isAssetAvailable,
      path: path,
      erased: snapshot.erasedSpans.flatMap { spans in
        // Omit an empty list, because it contains no information.
        spans.isEmpty ? nil : ErasedRanges(spans)
      },
      groups: snapshot.groups.isEmpty ? nil : snapshot.groups.map(\.description),
      isLocked: snapshot.isLocked ? true : nil,
      game: game
    )
    describeForm(snapshot)
  }

  /// Adds the form, and what differs from the default style of the object.
  private mutating func describeForm(_ snapshot: ObjectSnapshot) {
    let (style, usual) = (snapshot.style, ObjectStyle(form: snapshot.form))
    form = snapshot.form?.name
    if snapshot.form?.hasPoints == true { points = snapshot.points.map { RelativePoints(line: $0) } }
    fill = style.fill.map(ColorText.text)
    if style.lineStyle != usual.lineStyle { lineStyle = style.lineStyle.name }
    if style.opacity != usual.opacity { opacity = style.opacity }
    if style.start != usual.start { lineStart = style.start.name }
    if style.end != usual.end { lineEnd = style.end.name }
    startBinding = snapshot.start.map { BindingDescription($0) }
    endBinding = snapshot.end.map { BindingDescription($0) }
    if style.isCurved { isCurved = true }
    if style.textSize != usual.textSize { textSize = style.textSize }
    if style.typeface != usual.typeface { typeface = style.typeface.name }
    if style.alignment != usual.alignment { alignment = style.alignment.name }
    if style.isBold { isBold = true }
    if style.isItalic { isItalic = true }
    textColor = style.textColor.map(ColorText.text)
    if style.isAutoWidth { isAutoWidth = true }
    frame = snapshot.frame?.description
    link = snapshot.link.map { UntrustedText($0) }
    if !snapshot.votes.isEmpty { votes = snapshot.votes.map { VotesDescription($0) } }
    crop = snapshot.crop.map { [$0.least.x, $0.least.y, $0.greatest.x, $0.greatest.y] }
    if snapshot.isFlippedHorizontally { isFlippedHorizontally = true }
    if snapshot.isFlippedVertically { isFlippedVertically = true }
  }

  /// The center and size are those of the bounding box of its members.
  init(group id: ObjectID, of members: [ObjectSnapshot], within groups: [ObjectID], _ bounds: Rectangle) {
    self.init(
      id: id.description,
      type: "group",
      centerPosition: [bounds.center.x, bounds.center.y],
      size: [bounds.greatest.x - bounds.least.x, bounds.greatest.y - bounds.least.y],
      scale: 1,
      angle: 0,
      zIndex: Hexadecimal.encode(members.last?.zIndex ?? []),
      updatedAt: Timestamp.text(milliseconds: members.map(\.updatedAt).max() ?? 0),
      groups: groups.isEmpty ? nil : groups.map(\.description),
      isLocked: !members.isEmpty && members.allSatisfy(\.isLocked) ? true : nil,
      members: members.map(\.id.description)
    )
  }

  /// The number of points of a drawing, and of its erased ranges, up to which each event contains all of them.
  private static let repeatedCount = BoardLimits.pointsPerChunk

  /// Sets the points of a drawing, and the keys that tell which points they are.
  private mutating func setPoints(_ new: RelativePoints?) {
    points = new
    (firstPoint, pointCount, shift) = (new?.part?.first, new?.part?.total, new?.part?.shift)
  }

  /// Sets the erased ranges of a drawing, and the keys that tell which ranges they are.
  private mutating func setErased(_ new: ErasedRanges?) {
    erased = new
    (erasedCount, formerErased) = (new?.part?.total, new?.part?.former)
  }

  /// Leaves out what readers know from earlier events, so that many events about a large object do not repeat it.
  ///
  /// The event that reports the end of a drawing contains all points and erased ranges.
  mutating func leaveOutKnown(from old: ObjectSnapshot, changed keys: [String]) {
    if let whole = text, let known = old.text, TextChange.isLong(whole) {
      if keys.contains("text") {
        report(whole, since: UntrustedText(known))
      } else {
        (text, unreportedText) = (nil, whole)
      }
    }
    guard !keys.contains("isFinished") else { return }
    if let all = erased, all.count > Self.repeatedCount, let known = old.erasedSpans, !known.isEmpty {
      setErased(keys.contains("erased") ? all.since(known) : nil)
    }
    guard let all = points, all.count > Self.repeatedCount else { return }
    setPoints(keys.contains("points") ? all.since(old.ink ?? []) : nil)
  }

  /// Reports a text by its change if the change is small.
  private mutating func report(_ whole: UntrustedText, since known: UntrustedText) {
    textChange = TextChange(whole, since: known)
    (text, unreportedText) = textChange == nil ? (whole, nil) : (nil, whole)
  }

  mutating func join(_ earlier: BoardEvent.ObjectDescription, changed keys: [String]) {
    if let whole = unreportedText {
      if earlier.text != nil {
        (text, unreportedText, textChange) = (whole, nil, nil)
      } else if let known = earlier.textChange?.known {
        report(whole, since: known)
      }
    }
    guard !keys.contains("isFinished") else { return }
    setErased(keys.contains("erased") ? erased?.joined(after: earlier.erased) : earlier.erased)
    setPoints(keys.contains("points") ? points?.joined(after: earlier.points) : earlier.points)
  }

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

  /// Returns the keys of the form and the style whose values differ.
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
  /// The JSON with the keys of GAM-8.
  package var view: JSONTree
  package var lines: [UntrustedText]

  package init(view: JSONTree, lines: [UntrustedText]) {
    self.view = view
    self.lines = lines
  }

  /// Creates the description of a game's view; returns nil if the view is not valid JSON.
  ///
  /// `name` returns the display names of members.
  init?(_ view: GameView, naming name: (MemberID) -> String) {
    guard let json = JSONTree(view.json) else { return nil }
    self.init(view: json, lines: view.text(naming: name).map { UntrustedText($0) })
  }
}

/// The state of an object at one moment, as a value that can leave the board's isolation.
///
/// Its strings are unchecked text from peers. Escape them before printing them to a terminal.
public struct ObjectSnapshot: Hashable, Sendable {
  /// The id of the object.
  public let id: ObjectID
  /// The kind of object.
  public let kind: ObjectKind
  /// The center of the object, in board units.
  public let centerPosition: Point
  /// The size of the object before scaling, in board units.
  public let size: Size
  /// The scale factor.
  ///
  /// A factor of 1 shows the object at its `size`.
  public let scale: Double
  /// The rotation in radians, clockwise, from 0 up to a full turn.
  public let angle: Double
  /// The member that has the object selected, if that member is online.
  public package(set) var selectedBy: MemberID?
  /// The z index.
  ///
  /// Objects with a greater z index, compared byte by byte, are in front.
  public let zIndex: [UInt8]
  /// The time of the latest write to a property other than the selection, in milliseconds since 1970.
  public let updatedAt: UInt64
  /// The color, `0xRRGGBBAA`; nil if the object has no color of its own.
  public let color: UInt32?
  /// The text of a text object, or the label of a form.
  public let text: String?
  /// The form of a drawing; nil for ink and for objects of other kinds.
  public let form: DrawingForm?
  /// How the object is drawn, apart from its color and line width.
  public let style: ObjectStyle
  /// The size at which the object is shown, before scaling. A text has the size of its letters, and a form is made
  /// higher if its label would not fit (BRD-53).
  public let shownSize: Size
  /// The shown outline of a form, in the form's own board units relative to its center; nil for other objects.
  public let outline: Outline?
  /// The binding of the first point of a line or arrow; nil if the point is free.
  public let start: Binding?
  /// The binding of the last point of a line or arrow; nil if the point is free.
  public let end: Binding?
  /// The committed points of ink, at the positions where they were drawn; nil for forms and other objects.
  ///
  /// `shown(_:)` returns the position at which a point is shown now.
  public let ink: [InkPoint]?
  /// The line width of a drawing, in board units.
  public let lineWidth: Double?
  /// Whether a drawing's author has finished it.
  public let isFinished: Bool?
  package let erased: StrokeSpans?
  /// The groups that contain the object, innermost first.
  public let groups: [ObjectID]
  /// Whether the object is locked.
  public let isLocked: Bool
  /// The frame to which the object belongs.
  public let frame: ObjectID?
  /// The link of the object: an address that begins with `https://`, or `#` and the id of an object of the board.
  public let link: String?
  /// The votes for the object, in ascending order of reaction.
  public let votes: [Votes]
  /// The part of a photo that is shown, as fractions of its width and height; nil for the whole photo.
  public let crop: Rectangle?
  /// Whether a photo is mirrored, so that left becomes right.
  public let isFlippedHorizontally: Bool
  /// Whether a photo is mirrored, so that top becomes bottom.
  public let isFlippedVertically: Bool
  /// The name of a game: unchecked text from a peer.
  public let game: String?
  /// The reference to a photo's bytes.
  public let asset: AssetReference?
  /// Whether a photo's bytes are stored locally.
  public let isAssetAvailable: Bool?

  /// The points of ink, or of a line or arrow, relative to its center, neither scaled nor rotated, in board units.
  public var points: [Point]? {
    if form?.hasPoints == true { return outline.map { [$0.start] + $0.pieces.map { $0.end } } ?? [] }
    guard let ink else { return nil }
    guard let center = InkBounds(ink)?.center else { return [] }
    return ink.map { Point(x: $0.point.x - center.x, y: $0.point.y - center.y) }
  }

  /// The erased parts of a drawing, in units of 1/16 of the distance between consecutive points: point *i* is at 16
  /// *i*.
  public var erasedSpans: [ClosedRange<Int>]? { erased?.ranges }

  /// The visible parts of a drawing, in the same unit as `erasedSpans`.
  ///
  /// If the drawing has a single point, the only part is `0...0`.
  public var visibleSpans: [ClosedRange<Int>]? {
    guard let ink else { return nil }
    return (erased ?? StrokeSpans()).rest(ofPoints: ink.count)
  }

  /// The marks at the ends of a line or arrow, in the same coordinates as `outline`; a closed mark is filled.
  public var endMarks: [Outline] {
    guard form?.hasPoints == true, let outline else { return [] }
    return outline.marks(style, lineWidth: lineWidth ?? ObjectDefaults.lineWidth)
  }

  /// The visible lines of ink, in the same coordinates as `points`.
  ///
  /// A line of one point is a dot.
  public var visibleLines: [[Point]]? {
    guard ink != nil, let points else { return nil }
    return (erased ?? StrokeSpans()).rest(of: points)
  }

  /// Returns the position on the board at which a point of the object is shown.
  /// - Parameters:
  ///   - offset: The point relative to the center, neither scaled nor rotated.
  ///   - sine: The sine of `angle`.
  ///   - cosine: The cosine of `angle`.
  /// - Returns: The position on the board.
  public func shown(_ offset: Point, sine: Double, cosine: Double) -> Point {
    Point(
      x: centerPosition.x + scale * (offset.x * cosine - offset.y * sine),
      y: centerPosition.y + scale * (offset.x * sine + offset.y * cosine)
    )
  }
}

extension ObjectSnapshot {
  init?(
    _ id: ObjectID,
    on state: BoardState,
    selectedBy holder: MemberID?,
    assets: Set<AssetID>,
    authors: [Incarnation: MemberID]
  ) {
    guard state.isShown(id), let record = state.shown(id), let kind = record.kind else { return nil }
    let (ink, form) = (record.ink, record.form)
    let frame = record.frame(points: ink)
    let shownSize = record.shownSize(of: frame.size)
    let asset = kind == .photo ? record.asset : nil
    self.init(
      id: id,
      kind: kind,
      centerPosition: frame.center,
      size: frame.size,
      scale: record.scale,
      angle: record.angle,
      selectedBy: holder,
      zIndex: record.zIndex,
      updatedAt: record.updatedAt,
      color: record.color,
      text: kind == .text || form != nil ? record.text : nil,
      form: form,
      style: record.style,
      shownSize: shownSize,
      outline: record.outline(shownSize),
      start: record.binding(.start),
      end: record.binding(.end),
      ink: ink,
      lineWidth: kind == .drawing ? record.lineWidth : nil,
      isFinished: kind == .drawing ? record.isFinished : nil,
      erased: ink == nil ? nil : record.erased,
      groups: state.groups(of: id),
      isLocked: record.isLocked,
      frame: state.frame(of: id),
      link: record.link,
      votes: record.votes(authors),
      crop: record.crop,
      isFlippedHorizontally: record.isFlippedHorizontally,
      isFlippedVertically: record.isFlippedVertically,
      game: kind == .game ? record.gameName : nil,
      asset: asset,
      isAssetAvailable: asset.map { assets.contains($0.id) }
    )
  }
}

extension ObjectSnapshot {
  package init(group id: ObjectID, of members: [ObjectSnapshot], within groups: [ObjectID], bounds: Rectangle) {
    let size = Size(width: bounds.greatest.x - bounds.least.x, height: bounds.greatest.y - bounds.least.y)
    self.init(
      id: id,
      kind: .group,
      centerPosition: bounds.center,
      size: size,
      scale: 1,
      angle: 0,
      selectedBy: nil,
      zIndex: members.last?.zIndex ?? [],
      updatedAt: members.map { $0.updatedAt }.max() ?? 0,
      color: nil,
      text: nil,
      form: nil,
      style: ObjectStyle(),
      shownSize: size,
      outline: nil,
      start: nil,
      end: nil,
      ink: nil,
      lineWidth: nil,
      isFinished: nil,
      erased: nil,
      groups: groups,
      isLocked: !members.isEmpty && members.allSatisfy { $0.isLocked },
      frame: nil,
      link: nil,
      votes: [],
      crop: nil,
      isFlippedHorizontally: false,
      isFlippedVertically: false,
      game: nil,
      asset: nil,
      isAssetAvailable: nil
    )
  }
}

/// One line of the chat.
public struct ChatLine: Hashable, Sendable {
  /// The id of the line's object.
  public let id: ObjectID
  /// The author that the line names.
  public let author: MemberID
  /// The author's display name when the line was written: unchecked text from a peer.
  public let name: String?
  /// The author's icon when the line was written: usually one emoji, but a peer can send any text.
  public let icon: String?
  /// The line's text, possibly from a peer.
  public let text: String
  /// The time of sending by the author's wall clock, in milliseconds since 1970.
  public let sentAt: UInt64
  /// The object that the line is about; nil for a line about nothing in particular.
  public let about: ObjectID?
  /// Whether a chat line about an object is marked as resolved.
  public let isResolved: Bool
  /// The hybrid time of the line.
  ///
  /// Lines are sorted by this time, then by id.
  public let time: HybridTime
}

extension ChatLine {
  /// Creates the chat line that an object holds; nil if the object is not a complete chat line. If the author field of
  /// a line names a member other than its signer, the line is ignored.
  init?(_ id: ObjectID, on state: BoardState, authors: [Incarnation: MemberID]) {
    guard state.isVisible(id), let record = state.record(id), record.kind == .chat, let line = record.chatLine,
      let time = record[.kind]?.time,
      // A signature proves the incarnation's member; the author field is only a claim (AUT-3).
      authors[id.dot.incarnation].map({ $0 == line.author }) ?? true
    else { return nil }
    let about = record[.about].flatMap { if case .dot(let dot) = $0.value { ObjectID(dot) } else { nil } }
    self.init(
      id: id,
      author: line.author,
      name: line.name,
      icon: line.icon,
      text: line.text,
      sentAt: line.time,
      about: about,
      isResolved: about != nil && record[.resolved]?.value.isTrue ?? false,
      time: time
    )
  }
}

extension ObjectSnapshot {
  package var rotation: Rotation { Rotation(steps: (try? FixedPoint.angleSteps(angle)) ?? 0) }

  package var bounds: Rectangle { placement.bounds }

  /// Returns whether the object is at most `tolerance` away from a point, as in `BoardReplica.objects(at:tolerance:)`.
  package func isNear(_ place: Point, within tolerance: Double) -> Bool {
    let placement = placement
    let own = placement.offset(of: place)
    if form?.hasLabelOutside == true, let label = TextLayout(self), label.box.distance(to: own) <= tolerance / scale {
      return true
    }
    let margin = form?.hasPoints == false ? (lineWidth ?? 0) / 2 * scale : 0
    guard placement.distance(to: place) <= tolerance + margin else { return false }
    if let outline {
      return outline.covers(
        own,
        lineWidth: lineWidth ?? 0,
        tolerance: tolerance / scale,
        isSolid: style.fill != nil || text?.isEmpty == false && form != .frame
      )
    }
    guard let visibleLines else { return true }
    let reach = tolerance / scale + (lineWidth ?? 0) / 2
    return visibleLines.contains { line in
      // A line of one point is drawn as a dot.
      zip(line, line.dropFirst() + line.suffix(line.count == 1 ? 1 : 0)).contains {
        Segment(from: $0, to: $1).distance(to: own) <= reach
      }
    }
  }

  private var placement: Placement {
    Placement(center: centerPosition, size: shownSize, scale: scale, rotation: rotation)
  }
}

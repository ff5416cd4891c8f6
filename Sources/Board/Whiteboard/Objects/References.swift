import PeerCore

/// The properties of an object that do not concern its style: its frame, link and votes, and the shown part of a photo.
extension ObjectRecord {
  /// The link of the object; nil if it has no link, or a link that must not be opened (BRD-55).
  package var link: String? {
    guard case .text(let link)? = self[.link]?.value, ObjectLink.isValid(link) else { return nil }
    return link
  }

  /// The part of a photo that is shown, as fractions of its width and height; nil for the whole photo (BRD-57).
  package var crop: Rectangle? {
    guard kind == .photo, case .bytes(let bytes)? = self[.crop]?.value, bytes.count == 8 else { return nil }
    let parts = stride(from: 0, to: 8, by: 2).map { (index: Int) -> Double in
      let step = UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
      return Double(step) / 65_535
    }
    guard parts[0] < parts[2], parts[1] < parts[3] else { return nil }
    return Rectangle(Point(x: parts[0], y: parts[1]), Point(x: parts[2], y: parts[3]))
  }

  static func value(ofCrop part: Rectangle) -> Value {
    let sides = [part.least.x, part.least.y, part.greatest.x, part.greatest.y]
    return .bytes(
      sides.flatMap { side -> [UInt8] in
        let step = UInt16((side * 65_535).rounded())
        return [UInt8(step >> 8), UInt8(truncatingIfNeeded: step)]
      }
    )
  }

  /// Whether a photo is mirrored horizontally (bit 0) or vertically (bit 1).
  fileprivate var mirrored: UInt64 {
    guard kind == .photo, case .unsigned(let bits)? = self[.flip]?.value else { return 0 }
    return bits & 3
  }

  package var isFlippedHorizontally: Bool { mirrored & 1 != 0 }

  package var isFlippedVertically: Bool { mirrored & 2 != 0 }
}

/// The link of an object: an address, or another object of the board.
public enum ObjectLink {
  /// Returns whether a text is a link that may be opened: an address that begins with `https://`, or `#` and the id of
  /// an object of the board (BRD-55).
  public static func isValid(_ text: String) -> Bool { problem(in: text) == nil }

  /// The reason why a text is not a link.
  package enum Problem: Hashable, Sendable {
    case tooLong
    case notAnObject
    /// The text does not begin with `https://`.
    case otherScheme
    case noHost
    /// A name before an `@` could hide where the link leads.
    case hasUser
    case hostNotASCII
    case notASCII
    /// A space, a control character, `"` or `\`, which could hide where the link leads.
    case forbiddenCharacter
  }

  /// Returns the reason why a text is not a link; nil if the text is a link.
  package static func problem(in text: String) -> Problem? {
    let scheme = "https://".utf8
    guard text.utf8.count <= BoardLimits.linkBytes else { return .tooLong }
    if text.utf8.first == UInt8(ascii: "#") { return target(of: text) == nil ? .notAnObject : nil }
    guard text.utf8.starts(with: scheme) else { return .otherScheme }
    let rest = text.utf8.dropFirst(scheme.count)
    let ends = [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")]
    let host = rest.prefix { !ends.contains($0) }
    guard !host.isEmpty else { return .noHost }
    guard !host.contains(UInt8(ascii: "@")) else { return .hasUser }
    guard host.allSatisfy({ $0 < 0x80 }) else { return .hostNotASCII }
    guard rest.allSatisfy({ $0 < 0x80 }) else { return .notASCII }
    let forbidden = [UInt8(ascii: "\""), UInt8(ascii: "\\")]
    return rest.allSatisfy { $0 > 0x20 && $0 < 0x7F && !forbidden.contains($0) } ? nil : .forbiddenCharacter
  }

  /// Returns the object to which a link leads; nil for an address.
  public static func target(of link: String) -> ObjectID? {
    link.utf8.first == UInt8(ascii: "#") ? ObjectID(link.dropFirst()) : nil
  }
}

/// The members that gave an object the same reaction.
public struct Votes: Hashable, Sendable {
  /// The reaction, usually one emoji: unchecked text from a peer.
  public let reaction: String
  /// The members, each once, in ascending order.
  public let members: [MemberID]
}

extension ObjectRecord {
  /// Returns the votes for the object, in ascending order of reaction (BRD-56).
  package func votes(_ authors: [Incarnation: MemberID]) -> [Votes] {
    let votes = latestVotes(authors).map { reaction, cells in
      Votes(
        reaction: String(decoding: reaction, as: UTF8.self),
        members: cells.filter { $0.value.isVote }.map { $0.key }.sorted()
      )
    }
    return votes.filter { !$0.members.isEmpty }
      .sorted { $0.reaction.utf8.lexicographicallyPrecedes($1.reaction.utf8) }
  }

  /// Returns the latest vote of each member for each reaction. The keys are UTF-8 bytes, because the replica for
  /// browsers cannot compare strings by canonical equivalence.
  fileprivate func latestVotes(_ authors: [Incarnation: MemberID]) -> [[UInt8]: [MemberID: Cell]] {
    var latest: [[UInt8]: [MemberID: Cell]] = [:]
    for entry in entries(of: Property.voteNumber, upTo: BoardLimits.votes) {
      guard let dot = entry.property.dot, let member = authors[dot.incarnation],
        case .bytes(let bytes) = entry.cell.value, let first = bytes.first, first <= 1,
        let reaction = String(validating: bytes.dropFirst(), as: UTF8.self), Self.isReaction(reaction)
      else { continue }
      let key = Array(reaction.utf8)
      if let known = latest[key]?[member], !entry.cell.beats(known) { continue }
      latest[key, default: [:]][member] = entry.cell
    }
    return latest
  }

  fileprivate static func isReaction(_ text: String) -> Bool { (1...BoardLimits.iconBytes).contains(text.utf8.count) }
}

extension Cell {
  /// Whether the cell casts a vote; false if it withdraws a vote.
  fileprivate var isVote: Bool { if case .bytes(let bytes) = value { bytes.first == 1 } else { false } }
}

extension BoardState {
  /// Returns the frame to which an object belongs; nil if there is none (BRD-54).
  package func frame(of id: ObjectID) -> ObjectID? {
    guard let record = record(id), record.form != .frame, case .dot(let dot)? = record[.frame]?.value else {
      return nil
    }
    let frame = ObjectID(dot)
    return isShown(frame) && self.record(frame)?.form == .frame ? frame : nil
  }

  /// Returns the shown objects that belong to a frame, in ascending order of id.
  package func objects(inFrame frame: ObjectID) -> [ObjectID] {
    objects.frames.members(of: frame).filter { isShown($0) && self.frame(of: $0) == frame }
  }

  /// Returns `ids`, followed by the other objects that belong to frames among `ids`; each object occurs once.
  package func withContents(of ids: [ObjectID]) -> [ObjectID] {
    guard !objects.frames.isEmpty else { return ids }
    var known = Set(ids)
    let framed = ids.filter { record($0)?.form == .frame }.flatMap { objects(inFrame: $0) }
    return ids + framed.filter { known.insert($0).inserted }
  }

  /// The frames of the board, in their order (BRD-54).
  package var frames: [ObjectID] {
    stacked(objects.frames.members(of: ObjectStore.everyFrame).filter { isShown($0) && record($0)?.form == .frame })
  }
}

extension BoardReplica {
  /// The frames of the board, in the order in which they are presented.
  public var frames: [ObjectID] { state.frames }

  /// Returns the objects that belong to a frame, in ascending order of id.
  public func objects(inFrame frame: ObjectID) -> [ObjectID] { state.objects(inFrame: frame) }
}

extension Board {
  // MARK: - Frames

  /// Returns the objects to move, followed by the objects in the frames among them. Objects in these frames are left
  /// out if they cannot be moved themselves.
  func withFramed(_ ids: [ObjectID]) -> [ObjectID] {
    ids + state.withContents(of: ids).dropFirst(ids.count).filter { (try? requireTransformable($0)) != nil }
  }

  /// Assigns objects to the frontmost frame in which their centers lie, after they were created or moved. An object
  /// that was moved together with its frame stays in the frame.
  func settle(_ ids: [ObjectID]) throws(BoardError) {
    guard !state.objects.frames.isEmpty else { return }
    let frames = state.frames.reversed().compactMap { id in
      state.record(id).map { (id: id, placement: $0.placement(points: nil)) }
    }
    let moved = Set(ids)
    for id in ids {
      guard state.isShown(id), let record = state.shown(id), record.form != .frame else { continue }
      let present = state.frame(of: id)
      if let present, moved.contains(present) { continue }
      let center = record.center
      let frame = frames.first { $0.placement.distance(to: center) == 0 }?.id
      guard frame != present else { continue }
      try write(id, .frame, frame.map { .dot($0.dot) } ?? .none)
    }
  }

  /// Assigns the objects inside a new or resized frame to that frame, unless they belong to another frame. Objects of
  /// the frame that are outside leave the frame.
  func adopt(_ frame: ObjectID) throws(BoardError) {
    guard let placement = state.record(frame)?.placement(points: nil) else { return }
    for id in state.objects(inFrame: frame) {
      guard let center = state.shown(id)?.center, placement.distance(to: center) > 0 else { continue }
      guard (try? requireTransformable(id)) != nil else { continue }
      try write(id, .frame, .none)
    }
    let box = placement.bounds
    for id in state.storedIDs.sorted() where state.isShown(id) && state.frame(of: id) == nil {
      guard let record = state.shown(id), record.form != .frame, box.contains(record.bounds) else { continue }
      guard (try? requireTransformable(id)) != nil else { continue }
      try write(id, .frame, .dot(frame.dot))
    }
  }

  // MARK: - Links and votes

  /// Sets the link of objects; nil to remove it.
  /// - Throws: `unknownObject`, `held`, `locked`; `outOfRange` if `ObjectLink.isValid(_:)` returns false.
  public func setLink(_ link: String?, of ids: [ObjectID]) throws(BoardError) {
    if let link, !ObjectLink.isValid(link) { throw .outOfRange("link") }
    try gesture { () throws(BoardError) in
      for id in try state.targets(ids) {
        try requireWritable(id)
        if link == nil, state.record(id)?[.link] == nil { continue }
        try write(id, .link, link.map { .text($0) } ?? .none)
      }
    }
  }

  /// Gives an object the local member's vote with a reaction, or withdraws it.
  ///
  /// Each member has at most one vote for each object and reaction. Votes can be given to locked objects.
  /// - Parameters:
  ///   - reaction: One emoji or another text, 1 to 16 UTF-8 bytes.
  ///   - id: The object.
  ///   - isGiven: Whether the member votes.
  /// - Throws: `unknownObject`, `outOfRange` for another reaction, `boardFull`.
  public func vote(_ reaction: String, for id: ObjectID, _ isGiven: Bool) throws(BoardError) {
    let reaction = PlainText.line(reaction)
    guard ObjectRecord.isReaction(reaction) else { throw .outOfRange("reaction") }
    try gesture { () throws(BoardError) in
      guard state.isShown(id), let record = state.record(id) else { throw .unknownObject(id) }
      let reaction = Array(reaction.utf8)
      let latest = record.latestVotes(authors)[reaction]?[member]
      guard latest?.isVote ?? false != isGiven else { return }
      try stage(id, .vote(nextDot()), .bytes([isGiven ? 1 : 0] + reaction), after: latest?.time)
    }
  }

  // MARK: - Pictures

  /// Shows a part of a photo, as fractions of its width and height; nil to show the whole photo.
  ///
  /// The scale of the picture does not change. Therefore the object gets the size of the part.
  /// - Throws: `unknownObject`, `held`, `locked`, `wrongKind` for other objects; `outOfRange`.
  public func crop(_ id: ObjectID, to part: Rectangle?) throws(BoardError) {
    try gesture { () throws(BoardError) in
      try requireTransformable(id)
      guard let record = state.record(id), record.kind == .photo else { throw .wrongKind(id) }
      let whole = Rectangle(Point(x: 0, y: 0), Point(x: 1, y: 1))
      let (old, new) = (record.crop ?? whole, part ?? whole)
      guard whole.contains(new), new.least.x < new.greatest.x, new.least.y < new.greatest.y else {
        throw .outOfRange("crop")
      }
      let (center, size) = record.frame(points: nil)
      // The size of the whole picture, and the position of the middle of the part in the picture.
      let (width, height) = (size.width / (old.greatest.x - old.least.x), size.height / (old.greatest.y - old.least.y))
      var (x, y) = ((new.center.x - old.center.x) * width, (new.center.y - old.center.y) * height)
      if record.isFlippedHorizontally { x = -x }
      if record.isFlippedVertically { y = -y }
      let moved = Rotation(steps: record.angleSteps).turned(Point(x: x, y: y)) * record.scale
      try write(id, .crop, new == whole ? .none : ObjectRecord.value(ofCrop: new))
      let shown = Size(width: width * (new.greatest.x - new.least.x), height: height * (new.greatest.y - new.least.y))
      try write(id, .size, try FixedPoint.size(shown))
      try write(id, .position, try FixedPoint.position(center + moved))
    }
  }

  /// Mirrors objects and their positions about the middle of the box around them.
  ///
  /// Photos, forms, lines and arrows are mirrored; texts, strokes and games only change their position and angle.
  /// - Throws: `unknownObject`, `held`, `locked`, `unfinished`, `outOfRange`.
  public func flip(_ ids: [ObjectID], _ axis: BoardAxis) throws(BoardError) {
    try gesture { () throws(BoardError) in
      let targets = withFramed(try state.targets(ids))
      for id in targets { try requireTransformable(id) }
      let boxes = targets.compactMap { state.shown($0)?.bounds }
      guard let first = boxes.first else { return }
      let pivot = boxes.dropFirst().reduce(first) { $0.union($1) }.center
      let flipped = Set(targets)
      let isHorizontal = axis == .horizontally
      func mirrored(_ point: Point) -> Point {
        isHorizontal ? Point(x: -point.x, y: point.y) : Point(x: point.x, y: -point.y)
      }
      // Read the positions of bound ends before their targets change.
      for (id, record) in targets.compactMap({ id in state.shown(id).map { (id, $0) } }) {
        let center = pivot + mirrored(record.center - pivot)
        try write(id, .angle, .unsigned((4096 - record.angleSteps) % 4096))
        if record.kind == .photo { try write(id, .flip, .unsigned(record.mirrored ^ (isHorizontal ? 1 : 2))) }
        if record.form?.hasPoints == true {
          try writePoints(try record.linePoints.map(mirrored).values(), of: id)
          for side in [LineSide.start, .end] {
            guard let binding = record.binding(side), flipped.contains(binding.target) else { continue }
            let anchor = mirrored(binding.anchor)
            try write(id, side.property, Binding(to: binding.target, at: anchor, isExact: binding.isExact).value)
          }
          try write(id, .position, try FixedPoint.position(pivot + mirrored(record.origin - pivot)))
          continue
        }
        guard let turned = state.record(id) else { continue }
        try write(id, .position, try FixedPoint.position(turned.origin + (center - turned.center)))
      }
    }
  }

  // MARK: - Comments

  /// Marks a chat line about an object as resolved or open.
  /// - Throws: `unknownObject` if the object is not a chat line about an object.
  public func resolve(_ line: ObjectID, _ isResolved: Bool) throws(BoardError) {
    try gesture { () throws(BoardError) in
      guard chatLine(line)?.about != nil else { throw .unknownObject(line) }
      try write(line, .resolved, .unsigned(isResolved ? 1 : 0))
    }
  }
}

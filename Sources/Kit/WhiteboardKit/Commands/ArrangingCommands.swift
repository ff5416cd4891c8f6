import Whiteboard

enum ArrangingCommands {
  private static let selecting = CommandRules(requires: .board, .changesOtherData)

  static let select = CommandSpec(.select, rules: selecting, "select exactly these objects", .objects) {
    (editor, objects) throws(CommandError) in
    try editor.select(objects, taking: false)
  }

  static let take = CommandSpec(
    .take,
    rules: selecting,
    "select exactly these objects, even if others have selected them",
    notes: [
      "A member who selects an object holds it: others cannot change it. The hold ends at the latest 60 seconds after",
      "the member selected or last changed the object. `take` ends the hold at once, and the member cannot hold the",
      "object again for 4 minutes.",
    ],
    .objects
  ) { (editor, objects) throws(CommandError) in
    try editor.select(objects, taking: true)
  }

  static let deselect = CommandSpec(.deselect, rules: selecting, "clear the selection") {
    (editor) throws(CommandError) in
    .done(try editor.edit { (board) throws(BoardError) in try board.deselectAll() })
  }

  static let move = CommandSpec(
    .move,
    "move an object, or several objects by their common center, to a point or by a distance",
    .objects,
    .movement
  ) { (editor, objects, movement) throws(CommandError) in
    switch movement {
    case .by(let distance):
      try editor.editAll(objects) { (board, ids) throws(BoardError) in try board.move(ids, by: Point(distance)) }
    case .to(let point):
      try editor.transform(objects) { (object) throws(BoardError) in
        try object.move(to: Point(point))
      } all: { (board, ids, center) throws(BoardError) in
        try board.move(ids, by: Point(point) - center)
      }
    }
  }

  static let scale = CommandSpec(
    .scale,
    "set the scale of an object (1 is its original size), or scale several objects about their center",
    notes: [
      "about= is the fixed point of the scaling (default: the center).",
      "With line=keep, the width of lines does not change.",
    ],
    .objects,
    .factor,
    .pointOption("about"),
    .keepsLineWidth
  ) { (editor, objects, factor, about, keepsLineWidth) throws(CommandError) in
    let pivot = about.map { Point($0) }
    return try editor.transform(objects) { (object) throws(BoardError) in
      guard pivot != nil || keepsLineWidth else { return try object.scale(to: factor) }
      try object.board.scale(
        [object.id],
        by: factor / object.scale,
        about: pivot ?? object.centerPosition,
        keepingLineWidth: keepsLineWidth
      )
    } all: { (board, ids, center) throws(BoardError) in
      try board.scale(ids, by: factor, about: pivot ?? center, keepingLineWidth: keepsLineWidth)
    }
  }

  static let rotate = CommandSpec(
    .rotate,
    "set the angle of an object, clockwise (0 is upright), or rotate several objects about their center",
    .objects,
    .degrees
  ) { (editor, objects, degrees) throws(CommandError) in
    let angle = Angle.degrees(degrees.truncatingRemainder(dividingBy: 360))
    return try editor.transform(objects) { (object) throws(BoardError) in
      try object.rotate(to: angle)
    } all: { (board, ids, center) throws(BoardError) in
      try board.rotate(ids, by: angle, about: center)
    }
  }

  static let color = CommandSpec(.color, "set the color of texts and lines", .objects, .color) {
    (editor, objects, color) throws(CommandError) in
    try editor.editEach(objects) { (board, id) throws(BoardError) in try board.setColor(color, of: id) }
  }

  static let width = CommandSpec(.width, "set the width of lines", .objects, .lineWidth) {
    (editor, objects, width) throws(CommandError) in
    try editor.editEach(objects) { (board, id) throws(BoardError) in try board.setLineWidth(width, of: id) }
  }

  static let order = CommandSpec(
    .order,
    "move objects to the front or back, by one step, or next to another object",
    notes: ["Above or below a group means above or below all its objects."],
    .objects,
    .place
  ) { (editor, objects, place) throws(CommandError) in
    let move: StackMove =
      switch place {
      case .front: .front
      case .back: .back
      case .forward: .forward
      case .backward: .backward
      case .above(let reference): .above(try editor.resolve(reference))
      case .below(let reference): .below(try editor.resolve(reference))
      }
    return try editor.editAll(objects) { (board, ids) throws(BoardError) in try board.reorder(ids, move) }
  }

  static let align = CommandSpec(
    .align,
    "move objects so that their edges or centers are on one line",
    notes: [
      "A group whose objects are all named moves as one object. Without objects, the selected objects are aligned."
    ],
    .choice("edge", AlignmentEdge.allCases),
    .objectsOrSelection
  ) { (editor, edge, objects) throws(CommandError) in
    try editor.editAll(objects) { (board, ids) throws(BoardError) in try board.align(ids, edge) }
  }

  static let distribute = CommandSpec(
    .distribute,
    "move objects so that the distances between neighbors are equal",
    notes: ["The outer objects stay. Without objects, the selected objects are distributed."],
    .choice("axis", BoardAxis.allCases),
    .objectsOrSelection
  ) { (editor, axis, objects) throws(CommandError) in
    try editor.editAll(objects) { (board, ids) throws(BoardError) in try board.distribute(ids, axis) }
  }

  static let flip = CommandSpec(
    .flip,
    "mirror objects and their positions",
    notes: ["Texts, strokes and games keep their looks. Without objects, the selected objects are mirrored."],
    .choice("axis", BoardAxis.allCases),
    .objectsOrSelection
  ) { (editor, axis, objects) throws(CommandError) in
    try editor.editAll(objects) { (board, ids) throws(BoardError) in try board.flip(ids, axis) }
  }

  static let group = CommandSpec(.group, "group objects", .objects, .alias) {
    (editor, objects, alias) throws(CommandError) in
    let ids = try editor.resolve(objects)
    return try editor.make(alias) { (board) throws(BoardError) in try board.group(ids) }
  }

  static let ungroup = CommandSpec(.ungroup, "ungroup the objects of a group", .object) {
    (editor, group) throws(CommandError) in
    let id = try editor.resolve(group)
    guard editor.isGroup(id) else { throw CommandError(.wrongKind, "\(id) is not a group") }
    try editor.edit { (board) throws(BoardError) in try board.ungroup(id) }
    return CommandOutcome(id: id)
  }

  static let lock = CommandSpec(.lock, "lock objects, so that they cannot be changed", .objects) {
    (editor, objects) throws(CommandError) in
    try editor.editEach(objects) { (board, id) throws(BoardError) in try board.setLocked(id, true) }
  }

  static let unlock = CommandSpec(.unlock, "unlock objects", .objects) { (editor, objects) throws(CommandError) in
    try editor.editEach(objects) { (board, id) throws(BoardError) in try board.setLocked(id, false) }
  }
}

extension Command {
  /// Selects the given objects, and deselects all others.
  public static func select(_ objects: [ObjectReference]) -> Command { ArrangingCommands.select(objects) }

  /// Selects the given objects, even if other members have selected them, and deselects all other objects.
  public static func take(_ objects: [ObjectReference]) -> Command { ArrangingCommands.take(objects) }

  /// Clears the selection.
  public static let deselect = ArrangingCommands.deselect()

  /// Moves the center of one object, or the common center of several objects.
  public static func move(_ objects: [ObjectReference], _ movement: Movement) -> Command {
    ArrangingCommands.move(objects, movement)
  }

  /// Sets the scale of one object, or scales several objects together.
  ///
  /// `about` is the point that does not move; nil means the center.
  public static func scale(
    _ objects: [ObjectReference],
    factor: Double,
    about point: BoardPoint? = nil,
    keepsLineWidth: Bool = false
  ) -> Command { ArrangingCommands.scale(objects, factor, point, keepsLineWidth) }

  /// Sets the angle of one object, or rotates several objects about their common center, in degrees clockwise.
  public static func rotate(_ objects: [ObjectReference], degrees: Double) -> Command {
    ArrangingCommands.rotate(objects, degrees)
  }

  /// Sets the color of objects, `0xRRGGBBAA`; nil for their default color.
  public static func color(_ objects: [ObjectReference], _ color: UInt32?) -> Command {
    ArrangingCommands.color(objects, color)
  }

  /// Sets the width of lines, in board units.
  public static func width(_ objects: [ObjectReference], _ width: Double) -> Command {
    ArrangingCommands.width(objects, width)
  }

  /// Moves objects in the stack.
  public static func order(_ objects: [ObjectReference], _ place: StackPlace) -> Command {
    ArrangingCommands.order(objects, place)
  }

  /// Moves objects so that their edges or middle lines are on one line.
  public static func align(_ objects: [ObjectReference], _ edge: AlignmentEdge) -> Command {
    ArrangingCommands.align(edge, objects)
  }

  /// Moves objects so that the distances between neighbors are equal.
  public static func distribute(_ objects: [ObjectReference], _ axis: BoardAxis) -> Command {
    ArrangingCommands.distribute(axis, objects)
  }

  /// Mirrors objects and their positions.
  public static func flip(_ objects: [ObjectReference], _ axis: BoardAxis) -> Command {
    ArrangingCommands.flip(axis, objects)
  }

  /// Groups objects.
  public static func group(_ objects: [ObjectReference], alias: ObjectAlias?) -> Command {
    ArrangingCommands.group(objects, alias)
  }

  /// Ungroups the objects of a group.
  public static func ungroup(_ group: ObjectReference) -> Command { ArrangingCommands.ungroup(group) }

  /// Locks objects against changes.
  public static func lock(_ objects: [ObjectReference]) -> Command { ArrangingCommands.lock(objects) }

  /// Unlocks objects.
  public static func unlock(_ objects: [ObjectReference]) -> Command { ArrangingCommands.unlock(objects) }
}

extension BoardEditor {
  /// Selects objects. If `isTaking` is true, objects that other members have selected are selected too.
  fileprivate func select(_ references: [ObjectReference], taking isTaking: Bool) throws(CommandError) -> CommandOutcome
  {
    try editAll(references) { (board, ids) throws(BoardError) in
      let chosen = Set(ids.flatMap { isGroup($0) ? board.members(ofGroup: $0) : [$0] })
      let held = Set(board.selectedIDs)
      try board.deselect(held.subtracting(chosen).sorted())
      try board.select(chosen.subtracting(held).sorted(), taking: isTaking)
    }
  }

  fileprivate func isGroup(_ id: ObjectID) -> Bool { board.state.isGroup(id) }

  fileprivate func editEach(_ references: [ObjectReference], _ body: (Board, ObjectID) throws(BoardError) -> Void)
    throws(CommandError) -> CommandOutcome
  { try editAll(references) { (board, ids) throws(BoardError) in for id in ids { try body(board, id) } } }

  /// `one` changes a single object; `all` changes the members of a group or the selected objects together.
  fileprivate func transform(
    _ references: [ObjectReference],
    one: (WhiteboardObject) throws(BoardError) -> Void,
    all: (Board, [ObjectID], _ center: Point) throws(BoardError) -> Void
  ) throws(CommandError) -> CommandOutcome {
    try editAll(references) { (board, ids) throws(BoardError) in
      if isOne(references), !isGroup(ids[0]) {
        guard let object = board.object(ids[0]) else { throw .unknownObject(ids[0]) }
        try one(object)
      } else {
        guard let center = board.bounds(of: ids)?.center else { throw .unknownObject(ids[0]) }
        try all(board, ids, center)
      }
    }
  }
}

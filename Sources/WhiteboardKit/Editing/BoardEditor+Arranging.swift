import Whiteboard

extension BoardEditor {
  /// Selects exactly these objects; throws `no-such-object`, or `held` if another member has selected one of them.
  func select(_ references: [ObjectReference], isTaking: Bool = false) throws(CommandError) -> CommandOutcome {
    try editAll(references) { (board, ids) throws(BoardError) in
      let chosen = Set(objects(in: ids))
      let held = Set(board.selectedIDs)
      try board.deselect(held.subtracting(chosen).sorted())
      try board.select(chosen.subtracting(held).sorted(), taking: isTaking)
    }
  }

  func deselectAll() throws(CommandError) -> CommandOutcome {
    try edit { (board) throws(BoardError) in try board.deselectAll() }
    return CommandOutcome()
  }

  func moveObjects(_ references: [ObjectReference], _ movement: Movement) throws(CommandError) -> CommandOutcome {
    switch movement {
    case .by(let distance):
      try editAll(references) { (board, ids) throws(BoardError) in try board.move(ids, by: Point(distance)) }
    case .to(let point):
      try transform(references) { (object) throws(BoardError) in
        try object.move(to: Point(point))
      } all: { (board, ids, center) throws(BoardError) in
        try board.move(ids, by: Point(x: point.x - center.x, y: point.y - center.y))
      }
    }
  }

  /// `pivot` stays in place; if it is nil, the common center of the objects stays in place.
  func scaleObjects(_ references: [ObjectReference], factor: Double, about pivot: Point?, keepsLineWidth: Bool)
    throws(CommandError) -> CommandOutcome
  {
    try transform(references) { (object) throws(BoardError) in
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

  /// Sets the angle of one object, or rotates several objects about their common center.
  func rotateObjects(_ references: [ObjectReference], degrees: Double) throws(CommandError) -> CommandOutcome {
    let angle = Angle.degrees(degrees.truncatingRemainder(dividingBy: 360))
    return try transform(references) { (object) throws(BoardError) in
      try object.rotate(to: angle)
    } all: { (board, ids, center) throws(BoardError) in
      try board.rotate(ids, by: angle, about: center)
    }
  }

  func setColor(_ color: UInt32?, of references: [ObjectReference]) throws(CommandError) -> CommandOutcome {
    try editAll(references) { (board, ids) throws(BoardError) in for id in ids { try board.setColor(color, of: id) } }
  }

  func setLineWidth(_ width: Double, of references: [ObjectReference]) throws(CommandError) -> CommandOutcome {
    try editAll(references) { (board, ids) throws(BoardError) in for id in ids { try board.setLineWidth(width, of: id) }
    }
  }

  func setLocked(_ isLocked: Bool, _ references: [ObjectReference]) throws(CommandError) -> CommandOutcome {
    try editAll(references) { (board, ids) throws(BoardError) in for id in ids { try board.setLocked(id, isLocked) } }
  }

  func reorder(_ references: [ObjectReference], _ place: StackPlace) throws(CommandError) -> CommandOutcome {
    let move: StackMove =
      switch place {
      case .front: .front
      case .back: .back
      case .forward: .forward
      case .backward: .backward
      case .above(let reference): .above(try resolve(reference))
      case .below(let reference): .below(try resolve(reference))
      }
    return try editAll(references) { (board, ids) throws(BoardError) in try board.reorder(ids, move) }
  }

  func duplicate(_ references: [ObjectReference], by distance: Point, _ alias: ObjectAlias?) throws(CommandError)
    -> CommandOutcome
  {
    try check(alias)
    let ids = try resolve(references)
    guard alias == nil || ids.count == 1 else {
      throw CommandError(.badArgument, "as= can name only one copy, but this command makes \(ids.count)")
    }
    let made = try edit { (board) throws(BoardError) in try board.duplicate(ids, by: distance) }
    let copies = ids.compactMap { made[$0] }
    if let last = copies.last { name(last, alias) }
    return .about(copies, asOne: isOne(references))
  }

  // MARK: - Groups

  func group(_ references: [ObjectReference], _ alias: ObjectAlias?) throws(CommandError) -> CommandOutcome {
    let ids = try resolve(references)
    return try make(alias) { (board) throws(BoardError) in try board.group(ids) }
  }

  func ungroup(_ reference: ObjectReference) throws(CommandError) -> CommandOutcome {
    let id = try resolve(reference)
    guard isGroup(id) else { throw CommandError(.wrongKind, "\(id) is not a group") }
    try edit { (board) throws(BoardError) in try board.ungroup(id) }
    return CommandOutcome(id: id)
  }

  private func isGroup(_ id: ObjectID) -> Bool { board.state.isGroup(id) }

  /// Returns the objects with the given ids; the id of a group stands for all objects in it.
  private func objects(in ids: [ObjectID]) -> [ObjectID] {
    ids.flatMap { isGroup($0) ? board.members(ofGroup: $0) : [$0] }
  }

  // MARK: - Deleting

  func delete(_ references: [ObjectReference]) throws(CommandError) -> CommandOutcome {
    try editAll(references) { (board, ids) throws(BoardError) in try board.delete(ids) }
  }

  func undelete(_ reference: ObjectReference) throws(CommandError) -> CommandOutcome {
    let id = try resolve(reference, among: .deleted)
    try edit { (board) throws(BoardError) in try board.undelete(id) }
    return CommandOutcome(id: id)
  }

  func purge(_ reference: ObjectReference) throws(CommandError) -> CommandOutcome {
    let id = try resolve(reference, among: .deleted)
    try edit { (board) throws(BoardError) in try board.purge(id) }
    return CommandOutcome(id: id)
  }

  // MARK: - Several objects

  /// Whether the references name one object and no group, so that the answer has a single id.
  private func isOne(_ references: [ObjectReference]) -> Bool { references.count == 1 && references != [.selected] }

  private func editAll(_ references: [ObjectReference], _ body: (Board, [ObjectID]) throws(BoardError) -> Void)
    throws(CommandError) -> CommandOutcome
  {
    let ids = try resolve(references)
    try edit { (board) throws(BoardError) in try body(board, ids) }
    return .about(ids, asOne: isOne(references))
  }

  /// Changes a single object, or several objects together: the members of a group, or the selected objects.
  private func transform(
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

import Whiteboard

/// The verbs that take objects in hand and change what they look like and where they are.
extension Node {
  /// Carries out a verb about one or several objects; what it does is one gesture.
  func arrange(_ verb: Command) throws(CommandError) -> CommandOutcome {
    switch verb {
    case .select(let references):
      return try about(references) { (board, ids) throws(BoardError) in
        let chosen = Set(self.members(of: ids))
        let held = Set(board.selectedIDs)
        // Exactly these: the others are let go.
        try board.deselect(held.subtracting(chosen).sorted())
        try board.select(chosen.subtracting(held).sorted())
      }
    case .deselect:
      try onBoard { (board) throws(BoardError) in try board.deselectAll() }
      return CommandOutcome()
    case .move(let references, let movement):
      return try move(references, movement)
    case .scale(let references, let factor, let about, let keepsLineWidth):
      let pivot = about.map { Point($0) }
      return try transform(references) { (object) throws(BoardError) in
        guard pivot != nil || keepsLineWidth else { return try object.changeScale(to: factor) }
        try object.board.scale(
          [object.id],
          by: factor / object.scale,
          about: pivot ?? object.centerPosition,
          keepingLineWidth: keepsLineWidth
        )
      } all: { (board, ids, center) throws(BoardError) in
        try board.scale(
          ids,
          by: factor,
          about: pivot ?? center,
          keepingLineWidth: keepsLineWidth
        )
      }
    case .rotate(let references, let degrees):
      let radians = degrees.truncatingRemainder(dividingBy: 360) * .pi / 180
      return try transform(references) { (object) throws(BoardError) in
        try object.changeAngle(to: radians)
      } all: { (board, ids, center) throws(BoardError) in
        try board.rotate(ids, by: radians, about: center)
      }
    case .color(let references, let color):
      return try about(references) { (board, ids) throws(BoardError) in
        for id in ids { try board.setColor(color, of: id) }
      }
    case .width(let references, let width):
      return try about(references) { (board, ids) throws(BoardError) in
        for id in ids { try board.setLineWidth(width, of: id) }
      }
    case .lock(let references):
      return try about(references) { (board, ids) throws(BoardError) in
        for id in ids { try board.setLocked(id, true) }
      }
    case .unlock(let references):
      return try about(references) { (board, ids) throws(BoardError) in
        for id in ids { try board.setLocked(id, false) }
      }
    case .order(let references, let place):
      let move = try stackMove(place)
      return try about(references) { (board, ids) throws(BoardError) in
        try board.reorder(ids, move)
      }
    case .delete(let references):
      return try about(references) { (board, ids) throws(BoardError) in try board.delete(ids) }
    case .duplicate(let references, let distance, let alias):
      return try duplicate(references, by: Point(distance), alias)
    case .group(let references, let alias):
      let ids = try resolve(references)
      return try make(alias) { (board) throws(BoardError) in try board.group(ids) }
    case .ungroup(let reference):
      let id = try resolve(reference)
      guard isGroup(id) else { throw CommandError(.wrongKind, "\(id) is no group") }
      try onBoard { (board) throws(BoardError) in try board.ungroup(id) }
      return CommandOutcome(id: id)
    case .undelete(let reference):
      let id = try resolve(reference, among: .deleted)
      try onBoard { (board) throws(BoardError) in try board.undelete(id) }
      return CommandOutcome(id: id)
    case .purge(let reference):
      let id = try resolve(reference, among: .deleted)
      try onBoard { (board) throws(BoardError) in try board.purge(id) }
      return CommandOutcome(id: id)
    default:
      preconditionFailure("\(verb.name.rawValue) changes no objects")
    }
  }

  private func about(
    _ references: [ObjectReference],
    _ body: (Board, [ObjectID]) throws(BoardError) -> Void
  ) throws(CommandError) -> CommandOutcome {
    let ids = try resolve(references)
    try onBoard { (board) throws(BoardError) in try body(board, ids) }
    return .about(ids, asOne: references.count == 1 && references != [.selected])
  }

  /// Does one thing to an object that is named by itself, and another to several at once, to a group
  /// or to what is in hand.
  private func transform(
    _ references: [ObjectReference],
    one: (WhiteboardObject) throws(BoardError) -> Void,
    all: (Board, [ObjectID], _ center: Point) throws(BoardError) -> Void
  ) throws(CommandError) -> CommandOutcome {
    try about(references) { (board, ids) throws(BoardError) in
      if references.count == 1, references != [.selected], !self.isGroup(ids[0]) {
        guard let object = board.object(ids[0]) else { throw .unknownObject(ids[0]) }
        try one(object)
      } else {
        guard let center = board.bounds(of: ids)?.center else { throw .unknownObject(ids[0]) }
        try all(board, ids, center)
      }
    }
  }

  private func move(
    _ references: [ObjectReference],
    _ movement: Movement
  ) throws(CommandError) -> CommandOutcome {
    switch movement {
    case .by(let distance):
      try about(references) { (board, ids) throws(BoardError) in
        try board.move(ids, by: Point(distance))
      }
    case .to(let point):
      try transform(references) { (object) throws(BoardError) in
        try object.changePosition(to: Point(point))
      } all: { (board, ids, center) throws(BoardError) in
        try board.move(ids, by: Point(x: point.x - center.x, y: point.y - center.y))
      }
    }
  }

  private func duplicate(
    _ references: [ObjectReference],
    by distance: Point,
    _ alias: ObjectAlias?
  ) throws(CommandError) -> CommandOutcome {
    try check(alias)
    let ids = try resolve(references)
    guard alias == nil || ids.count == 1 else {
      throw CommandError(.badArgument, "as= names one copy, and there would be \(ids.count)")
    }
    let made = try onBoard { (board) throws(BoardError) in try board.duplicate(ids, by: distance) }
    let copies = ids.compactMap { made[$0] }
    if let last = copies.last { self.made(last, alias) }
    return .about(copies, asOne: references.count == 1 && references != [.selected])
  }

  private func stackMove(_ place: StackPlace) throws(CommandError) -> StackMove {
    switch place {
    case .front: .front
    case .back: .back
    case .forward: .forward
    case .backward: .backward
    case .above(let reference): .above(try resolve(reference))
    case .below(let reference): .below(try resolve(reference))
    }
  }

  /// The objects that ids mean: of a group all in it.
  private func members(of ids: [ObjectID]) -> [ObjectID] {
    ids.flatMap { isGroup($0) ? replica?.board.members(ofGroup: $0) ?? [] : [$0] }
  }

  private func isGroup(_ id: ObjectID) -> Bool {
    replica?.board.state.isGroup(id) ?? false
  }
}

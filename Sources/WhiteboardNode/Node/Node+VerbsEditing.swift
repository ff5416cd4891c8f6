import PeerSession
import Whiteboard
import WhiteboardSync

/// The verbs that change the board.
extension Node {
  /// Carries out a verb that changes the board.
  func edit(_ verb: Verb) async throws(VerbError) -> VerbOutcome {
    switch verb {
    case .text(let at, let words, let alias):
      return try make(alias) { (board) throws(BoardError) in
        try board.createText(words, at: Point(at))
      }
    case .stroke(let points, let seconds, let alias):
      try check(alias)
      return VerbOutcome(id: try await draw(points, seconds: seconds, alias))
    case .photo(let at, let file, let alias):
      try check(alias)
      let reference = try importPhoto(file)
      replica?.assetStored(reference.id, now: now)
      return try make(alias) { (board) throws(BoardError) in
        try board.createPhoto(reference, at: Point(at))
      }
    case .deselect:
      try onBoard { (board) throws(BoardError) in try board.deselectAll() }
      return VerbOutcome()
    case .select(let references), .move(let references, _), .scale(let references, _),
      .rotate(let references, _), .delete(let references):
      let ids = try resolve(references)
      try onBoard { (board) throws(BoardError) in
        try board.gesture { () throws(BoardError) in
          if case .select = verb {
            // Exactly these: the others are let go.
            for id in board.ownSelection where !ids.contains(id) {
              try board.object(id)?.deselect()
            }
          }
          for id in ids { try self.apply(verb, to: id, on: board) }
        }
      }
      return .about(ids, asOne: references.count == 1)
    case .edit(let reference, let words):
      let id = try resolve(reference)
      try onBoard { (board) throws(BoardError) in try board.replaceText(id, with: words) }
      return VerbOutcome(id: id)
    case .insert(let reference, let place, let words, let count):
      let id = try resolve(reference)
      try onBoard { (board) throws(BoardError) in
        try board.editText(id, replacing: place..<(place + count), with: words)
      }
      return VerbOutcome(id: id)
    case .purge(let reference):
      let id = try resolve(reference, among: .deleted)
      try onBoard { (board) throws(BoardError) in try board.purge(id) }
      return VerbOutcome(id: id)
    case .say(let words):
      return VerbOutcome(
        id: try onBoard { (board) throws(BoardError) in
          try board.say(words, as: self.configuration.displayName)
        }
      )
    default:
      throw VerbError(.refused, "this board does not do that yet")
    }
  }

  /// Makes edits, with what the board refuses as the answer.
  func onBoard<Result>(
    _ body: (Board) throws(BoardError) -> Result
  ) throws(VerbError) -> Result {
    do throws(BoardError) {
      guard let result = try change(body) else { throw .boardFull }
      return result
    } catch {
      throw refusal(error)
    }
  }

  /// What the board refused, in words.
  func refusal(_ error: BoardError) -> VerbError {
    VerbError(error) { member in
      PeerID(bytes: member.bytes).map { self.name(of: $0) } ?? "somebody"
    }
  }

  private func make(
    _ alias: ObjectAlias?,
    _ body: (Board) throws(BoardError) -> ObjectID
  ) throws(VerbError) -> VerbOutcome {
    try check(alias)
    let id = try onBoard(body)
    made(id, alias)
    return VerbOutcome(id: id)
  }

  private func apply(_ verb: Verb, to id: ObjectID, on board: Board) throws(BoardError) {
    guard let object = board.object(id) else { throw .unknownObject(id) }
    switch verb {
    case .select:
      if object.selectedBy != board.member {
        try object.select(by: board.member)
      }
    case .move(_, .to(let point)):
      try object.changePosition(to: Point(point))
    case .move(_, .by(let distance)):
      let center = object.centerPosition
      try object.changePosition(to: Point(x: center.x + distance.x, y: center.y + distance.y))
    case .scale(_, let factor):
      try object.changeScale(to: factor)
    case .rotate(_, let degrees):
      try object.changeAngle(to: degrees.truncatingRemainder(dividingBy: 360) * .pi / 180)
    case .delete:
      try board.delete(id)
    default:
      break
    }
  }
}

import PeerTestKit
import Whiteboard
import WhiteboardSync

extension ReplicaWorld {
  /// Performs one random edit by a member.
  package func edit(_ number: Int) {
    do {
      switch random.below(10) {
      case 0..<5: try act(nodes[number], number)
      case 5: try goBack(nodes[number], number)
      default:
        try change(number) { (board) throws(BoardError) in
          var edit = RandomEdit(board: board, random: random, mayShowPhotos: false)
          if !edit.act() { tally[.refusals] += 1 }
          random = edit.random
        }
      }
    } catch {
      // The board may refuse an edit, for example of an object that another member selected.
    }
  }

  private func change(_ number: Int, _ body: (Board) throws(BoardError) -> Void) throws(BoardError) {
    carryOut(try nodes[number].replica.change(now: now(number), body).actions, number)
  }

  private func act(_ node: Node, _ number: Int) throws(BoardError) {
    let replica = node.replica
    let now = now(number)
    let ids = replica.board.state.storedIDs.sorted()
    let id = random.element(of: ids)
    let place = Point(x: Double(random.below(9000)) / 7, y: Double(random.below(9000)) / 7 - 600)
    switch (id == nil ? random.below(3) : random.below(16), id) {
    case (0, _): try change(number) { (board) throws(BoardError) in _ = try board.createText("text", at: place) }
    case (1, _):
      let asset = Self.asset(UInt8(random.below(200)))
      node.stored.insert(asset.id)
      carryOut(replica.assetStored(asset.id, now: now), number)
      try change(number) { (board) throws(BoardError) in _ = try board.createPhoto(asset, at: place) }
    case (2, _):
      let (id, actions) = try replica.beginStroke(now: now)
      node.strokes.append(id)
      carryOut(actions, number)
    case (3, _), (4, _), (5, _):
      guard let stroke = node.strokes.last else { return }
      if random.chance(80) {
        let points = [place, Point(x: place.x + 1, y: place.y)]
        carryOut(try replica.extendStroke(stroke, with: points, now: now), number)
      } else {
        carryOut(try replica.endStroke(stroke, now: now), number)
        node.strokes.removeLast()
      }
    case (6, _):
      let line = "line \(random.below(1000))"
      try change(number) { (board) throws(BoardError) in _ = try board.say(line, as: "Anna") }
    case (7, let id?): try change(number) { (board) throws(BoardError) in try board.delete(id) }
    case (8, let id?): try change(number) { (board) throws(BoardError) in try board.purge(id) }
    case (9, let id?), (10, let id?):
      try change(number) { (board) throws(BoardError) in try board.object(id)?.select() }
    case (11, _): try change(number) { (board) throws(BoardError) in try board.deselectAll() }
    case (12, let id?):
      let word = ["one", "two two", "texts"][random.below(3)]
      try change(number) { (board) throws(BoardError) in try board.text(id).update(text: word) }
    case (13, _):
      try change(number) { (board) throws(BoardError) in
        for id in ids.prefix(20) { try board.object(id)?.move(to: place) }
      }
    case (14, let id?): try change(number) { (board) throws(BoardError) in try board.undelete(id) }
    case (_, let id?):
      try change(number) { (board) throws(BoardError) in try board.object(id)?.rotate(to: .radians(place.x)) }
    case (_, nil): break
    }
  }

  /// Returns an asset; the same number gives the same asset.
  package static func asset(_ number: UInt8) -> AssetReference {
    guard let id = AssetID(Array(repeating: number, count: 32)),
      let header = try? PhotoHeader(format: .png, width: 30, height: 20),
      let asset = try? AssetReference(id: id, byteCount: 1000, header: header)
    else { preconditionFailure("a legal asset") }
    return asset
  }

  /// Undoes or redoes a step.
  private func goBack(_ node: Node, _ number: Int) throws(BoardError) {
    let isRedo = random.chance(40)
    let (result, actions) = node.replica.step(now: now(number)) { (board) throws(BoardError) in
      if isRedo { try board.redo() } else { try board.undo() }
    }
    carryOut(actions, number)
    _ = try result.get()
    tally[.undos] += 1
  }
}

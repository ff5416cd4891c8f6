import PeerCore
import Whiteboard
import WhiteboardSync

/// Makes an edit; the input is an ``EditCommand``.
///
/// The first action of the output is the result or the error.
@_expose(wasm, "edit") @_cdecl("edit") public func edit(_ count: Int32, _ wall: Double, _ uptime: Double) {
  let page = current
  let before = page.lastSequence
  guard let command = EditCommand(Buffers.takeInput(count)) else {
    return page.output(.failure(.outOfRange("edit")), [], since: before)
  }
  let now = moment(wall, uptime)
  do throws(BoardError) {
    let special: (ids: [ObjectID], actions: [ReplicaAction])
    if let known = try page.editStroke(command, now) {
      special = known
    } else if let known = try page.share(command, now) {
      special = known
    } else {
      let (result, actions) = page.replica.step(now: now) { (board) throws(BoardError) in try page.edit(board, command)
      }
      return page.output(result, actions, since: before)
    }
    page.output(.success((special.ids, [])), special.actions, since: before)
  } catch { page.output(.failure(error), [], since: before) }
}

extension PageReplica {
  /// Makes an edit that concerns neither a stroke in progress nor members.
  fileprivate func edit(_ board: Board, _ command: EditCommand) throws(BoardError) -> EditResult {
    switch command.name {
    case "undo": return ([], try board.undo().skipped)
    case "redo": return ([], try board.redo().skipped)
    case "setText": try update(board[try command.id()], try command.text("text"), try command.text("base"))
    case "beginStep":
      board.beginStep(try command.text("text"))
      openSteps += 1
    case "endStep":
      guard openSteps > 0 else { break }
      openSteps -= 1
      board.endStep()
    default: return (try board.gesture { () throws(BoardError) in try change(board, command) }, [])
    }
    return ([], [])
  }

  /// Makes an edit that is one gesture. Returns the objects that it creates or changes.
  private func change(_ board: Board, _ command: EditCommand) throws(BoardError) -> [ObjectID] {
    switch command.name {
    case "createText":
      // `from` is the upper left corner of a text with an automatic width, `at` the center of any other text.
      let isAutoWidth = command.has("from")
      let id = try board.createText(
        try command.text("text"),
        at: try command.point(isAutoWidth ? "from" : "at"),
        color: try command.color(),
        isAutoWidth: isAutoWidth
      )
      try restyle(board, [id], try command.style())
      return [id]
    case "createDrawing":
      return [
        try board.createDrawing(
          try command.ink(),
          lineWidth: try command.number("lineWidth"),
          color: try command.color()
        )
      ]
    case "createForm": return [try createForm(board, command)]
    case "resize":
      let center = command.has("at") ? try command.point("at") : nil
      try board.resize(try command.id(), to: try command.size("size"), center: center)
    case "setPoints": try board.setPoints(try command.points("points"), of: try command.id())
    case "connect": try board.connect([command.flag("isEnd") ? .end : .start], of: try command.id())
    case "bind": try bind(board, command)
    case "createGame": return [try createGame(board, command)]
    case "play": try board.game(try command.id()).play(try command.text("text"))
    case "chat":
      let (text, name) = (try command.text("text"), try command.text("name"))
      let object = command.has("about") ? try command.id("about") : nil
      guard let icon = ProfileIcon(rawValue: try command.text("icon")) else {
        return [try board.say(text, as: name, about: object)]
      }
      return [try board.say(text, as: Profile(name: name, icon: icon), about: object)]
    case "resolve": try board.resolve(try command.id(), command.flag("isResolved"))
    case "vote": try board.vote(try command.text("text"), for: try command.id(), command.flag("isGiven"))
    case "crop": try board.crop(try command.id(), to: try command.rectangle("box"))
    case "erase": return try board.erase(along: try command.points("points"), radius: try command.number("radius"))
    case "deselectAll": try board.deselectAll()
    default: return try arrange(board, command, try command.ids())
    }
    return []
  }

  private func arrange(_ board: Board, _ command: EditCommand, _ ids: [ObjectID]) throws(BoardError) -> [ObjectID] {
    switch command.name {
    case "select": return try board.select(ids, taking: command.flag("isTaking"))
    case "deselect": try board.deselect(ids)
    case "move": try board.move(ids, by: try command.point("by"))
    case "scale":
      try board.scale(
        ids,
        by: try command.number("factor"),
        about: try pivot(command, ids),
        keepingLineWidth: command.flag("keepsLineWidth")
      )
    case "rotate":
      let angle = Angle.radians(try command.number("angle"))
      try board.rotate(ids, by: angle, about: try pivot(command, ids))
    case "restyle": try restyle(board, ids, try command.style())
    case "lock": for id in ids { try board.setLocked(id, command.flag("isLocked")) }
    case "group": return [try board.group(ids)]
    case "ungroup": for id in ids { try board.ungroup(id) }
    case "align":
      guard let edge = AlignmentEdge(rawValue: try command.text("to")) else { throw .outOfRange("to") }
      try board.align(ids, edge)
    case "distribute": try board.distribute(ids, try axis(command))
    case "flip": try board.flip(ids, try axis(command))
    case "link": try board.setLink(command.has("text") ? try command.text("text") : nil, of: ids)
    case "remove": try board.delete(ids)
    case "duplicate":
      let copies = try board.duplicate(ids, by: try command.point("by"), isExact: command.flag("isExact"))
      return ids.compactMap { copies[$0] }
    case "reorder":
      let move: StackMove =
        switch try command.text("to") {
        case "front": .front
        case "back": .back
        case "forward": .forward
        case "backward": .backward
        default: throw .outOfRange("to")
        }
      try board.reorder(ids, move)
    default: throw .outOfRange("do")
    }
    return ids
  }

  private func axis(_ command: EditCommand) throws(BoardError) -> BoardAxis {
    guard let axis = BoardAxis(rawValue: try command.text("to")) else { throw .outOfRange("to") }
    return axis
  }

  /// Returns the point about which objects are scaled or rotated: the given point, or their common center.
  private func pivot(_ command: EditCommand, _ ids: [ObjectID]) throws(BoardError) -> Point {
    if command.has("pivot") { return try command.point("pivot") }
    return replica.board.bounds(of: ids)?.center ?? Point(x: 0, y: 0)
  }

  /// Changes the style of objects; skips objects that do not have a property.
  private func restyle(_ board: Board, _ ids: [ObjectID], _ changes: [StyleChange]) throws(BoardError) {
    for change in changes {
      do throws(BoardError) { try board.restyle(ids, [change]) } catch {
        guard case .wrongKind = error else { throw error }
      }
    }
  }

  private func createForm(_ board: Board, _ command: EditCommand) throws(BoardError) -> ObjectID {
    let id = try board.createForm(
      try command.form(),
      at: try command.point("at"),
      size: command.has("size") ? try command.size("size") : nil,
      points: command.has("points") ? try command.points("points") : [],
      label: try command.text("text"),
      lineWidth: try command.number("lineWidth"),
      color: try command.color()
    )
    try restyle(board, [id], try command.style())
    if command.flag("connects") { try board.connect([.start, .end], of: id) }
    return id
  }

  /// Changes a text or label from `base` to `words`; keeps the changes that other members have made since `base`.
  private func update(_ object: WhiteboardObject, _ words: String, _ base: String) throws(BoardError) {
    let before = Array(base.unicodeScalars)
    let edit = TextDifference(from: before, to: Array(PlainText.lines(words).unicodeScalars))
    let later = TextDifference(from: before, to: Array(object.text.unicodeScalars))
    let start = later.moved(edit.range.lowerBound)
    try object.type(replacing: start..<max(start, later.moved(edit.range.upperBound)), with: edit.words)
  }

  private func bind(_ board: Board, _ command: EditCommand) throws(BoardError) {
    var binding: Binding?
    if command.has("to") {
      binding = Binding(to: try command.id("to"), at: try command.point("at"), isExact: command.flag("isExact"))
    }
    try board.bind(command.flag("isEnd") ? .end : .start, of: try command.id(), to: binding)
  }

  private func createGame(_ board: Board, _ command: EditCommand) throws(BoardError) -> ObjectID {
    let center = try command.point("at")
    switch try command.text("game") {
    case Wordle.name:
      var random = SystemRandomNumberGenerator()
      let language = board.settings.language ?? "en"
      return try board.createWordle(at: center, language: language, using: &random)
    case ConnectFour.name:
      let opponent = command.has("member") ? try command.member() : nil
      return try board.createConnectFour(at: center, opponent: opponent)
    default: throw .gameRefused(.unknownGame)
    }
  }
}

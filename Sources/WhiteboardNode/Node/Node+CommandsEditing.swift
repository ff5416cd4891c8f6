import PeerSession
import Whiteboard
import WhiteboardSync

/// The verbs that change the board.
extension Node {
  /// Carries out a verb that changes the board.
  func edit(_ verb: Command) async throws(CommandError) -> CommandOutcome {
    // A line in hand is one step, in which nothing else belongs.
    switch verb {
    case .pen, .lift, .say: break
    default: try lift()
    }
    switch verb {
    case .text(let at, let words, let color, let alias):
      return try make(alias) { (board) throws(BoardError) in
        try board.createText(words, at: Point(at), color: color)
      }
    case .stroke(let points, let pen, let seconds, let alias):
      try check(alias)
      return CommandOutcome(id: try await draw(points, pen, seconds: seconds, alias))
    case .pen(let points, let pen, let alias):
      try check(alias)
      return CommandOutcome(id: try drawOn(points, pen, alias))
    case .lift:
      return CommandOutcome(id: try lift())
    case .photo(let at, let file, let alias):
      try check(alias)
      let (reference, size) = try await photos.importPhoto(file)
      return try make(alias) { (board) throws(BoardError) in
        try board.createPhoto(reference, at: Point(at), size: size)
      }
    case .game(let game, let at, let opponent, let alias):
      return try begin(game, at: Point(at), opponent: opponent, alias)
    case .purgeAuthor(let target):
      return try await purge(author: target)
    case .play(let reference, let move):
      let id = try resolve(reference)
      try onBoard { (board) throws(BoardError) in try board.play(id, move) }
      return CommandOutcome(id: id)
    case .edit(let reference, let words):
      let id = try resolve(reference)
      try onBoard { (board) throws(BoardError) in try board.replaceText(id, with: words) }
      return CommandOutcome(id: id)
    case .insert(let reference, let place, let words, let count, let was):
      let id = try resolve(reference)
      let range = try range(place, count, of: was, in: id)
      try onWholeBoard { (board) throws(BoardError) in
        try board.typeText(id, replacing: range, with: words)
      }
      return CommandOutcome(id: id)
    case .erase(let points, let radius):
      return CommandOutcome(
        ids: try onBoard { (board) throws(BoardError) in
          try board.erase(along: points.map { Point($0) }, radius: radius)
        }
      )
    case .undo, .redo:
      return try replay(verb)
    case .set(let setting):
      try set(setting)
      return CommandOutcome()
    case .restore(let name):
      return try await restore(name)
    case .paste(let place):
      return try await paste(at: place)
    case .import(let file, let place):
      return try await takeIn(file, at: place)
    case .say(let words):
      return CommandOutcome(id: try say(words))
    default:
      return try arrange(verb)
    }
  }

  // MARK: - One gesture

  /// Makes edits, all of them one gesture, with what the board refuses as the answer.
  func onBoard<Result>(
    _ body: (Board) throws(BoardError) -> Result
  ) throws(CommandError) -> Result {
    guard let replica else { throw CommandError(.ending, "the board is closed") }
    do throws(BoardError) {
      let result = try replica.change(now: now, body)
      performActions()
      return result
    } catch {
      throw refusal(error)
    }
  }

  /// Makes edits that are more than a gesture, with what the board refuses as the answer.
  func onWholeBoard<Result>(
    _ body: (Board) throws(BoardError) -> Result
  ) throws(CommandError) -> Result {
    guard let replica else { throw CommandError(.ending, "the board is closed") }
    defer { performActions() }
    do throws(BoardError) {
      return try replica.step(now: now, body)
    } catch {
      throw refusal(error)
    }
  }

  /// What the board refused, in words.
  func refusal(_ error: BoardError) -> CommandError {
    if case .unknownObject(let id) = error { return absence(of: id, as: .present) }
    return CommandError(error) { member in
      PeerID(bytes: member.bytes).map { self.members.label(of: $0) } ?? "somebody"
    }
  }

  /// Makes one object that may have an alias.
  func make(
    _ alias: ObjectAlias?,
    _ body: (Board) throws(BoardError) -> ObjectID
  ) throws(CommandError) -> CommandOutcome {
    try check(alias)
    let id = try onBoard(body)
    made(id, alias)
    return CommandOutcome(id: id)
  }

  // MARK: - The verbs

  private func begin(
    _ game: GameName,
    at center: Point,
    opponent: String?,
    _ alias: ObjectAlias?
  ) throws(CommandError) -> CommandOutcome {
    switch game {
    case .wordle:
      guard opponent == nil else {
        throw CommandError(.badArgument, "a wordle is for everybody; opponent= is for connect-four")
      }
      return try make(alias) { (board) throws(BoardError) in
        var random = SystemRandomNumberGenerator()
        return try board.createWordle(
          at: center,
          language: board.language ?? "en",
          using: &random
        )
      }
    case .connectFour:
      let other = try opponent.map { (word) throws(CommandError) in try peer(word) }
      return try make(alias) { (board) throws(BoardError) in
        try board.createConnectFour(at: center, opponent: other.flatMap { MemberID($0.bytes) })
      }
    }
  }

  /// The characters of a text that are meant by places in what it is, or in what it was.
  private func range(
    _ place: Int,
    _ count: Int,
    of was: String?,
    in id: ObjectID
  ) throws(CommandError) -> Range<Int> {
    // What is no text is refused by the board.
    guard let text = replica?.board.object(id) as? TextObject else { return place..<place + count }
    let scalars = Array(text.text.unicodeScalars)
    let before = was.map { Array($0.unicodeScalars) } ?? scalars
    guard place + count <= before.count else {
      throw CommandError(.badArgument, "the text has \(before.count) characters")
    }
    let since = TextDifference(from: before, to: scalars)
    let start = since.moved(place)
    return start..<max(start, since.moved(place + count))
  }

  private func replay(_ verb: Command) throws(CommandError) -> CommandOutcome {
    let outcome = try onWholeBoard { (board) throws(BoardError) in
      if case .redo = verb { try board.redo() } else { try board.undo() }
    }
    let left = [
      "overwritten": outcome.overwritten, "purged": outcome.purged,
      "unwritable": outcome.unwritable, "played": outcome.played,
    ].filter { $0.value > 0 }
    return CommandOutcome(
      step: outcome.label,
      skipped: left.values.reduce(0, +),
      left: left.isEmpty ? nil : left,
      skippedSteps: outcome.skipped.isEmpty ? nil : outcome.skipped
    )
  }

  private func set(_ setting: Setting) throws(CommandError) {
    try onBoard { (board) throws(BoardError) in
      switch setting {
      case .title(let title): try board.setTitle(title.isEmpty ? nil : title)
      // What nothing can be seen of shows whatever lies behind a board.
      case .background(let color): try board.setBackground(color ?? 0)
      case .grid(let spacing): try board.setGrid(spacing == 0 ? nil : spacing)
      case .language(let tag): try board.setLanguage(tag)
      }
    }
  }

  private func say(_ words: String) throws(CommandError) -> ObjectID {
    try onBoard { (board) throws(BoardError) in
      if let icon = self.members.ownIcon {
        try board.say(words, as: Profile(name: self.members.ownName, icon: icon))
      } else {
        try board.say(words, as: self.members.ownName)
      }
    }
  }
}

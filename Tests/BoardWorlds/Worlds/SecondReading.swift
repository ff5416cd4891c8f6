import Whiteboard

/// An independent second reading of a board: groups, stack, settings and guessed words.
struct SecondReading {
  private let board: Board
  private let state: BoardState

  init(_ board: Board) {
    self.board = board
    state = board.state
  }

  /// Describes a difference between the board's values and its cells, or nil.
  var contradiction: String? {
    for id in board.objectIDs {
      let groups = groups(of: id)
      guard board.groups(of: id) == groups else {
        return "\(id) is in the groups \(board.groups(of: id)), and not in \(groups)"
      }
    }
    return disorder ?? settings ?? games
  }

  // MARK: - Groups

  private func edge(_ id: ObjectID) -> (group: ObjectID, cell: Cell)? {
    guard let cell = state.record(id)?[.group], case .dot(let dot) = cell.value,
      let record = state.record(ObjectID(dot)), record.kind == .group, !record.isDeleted
    else { return nil }
    return (ObjectID(dot), cell)
  }

  /// Returns whether a group is in a ring of groups, and its edge has the greatest cell in the ring. A ring is cut at
  /// that edge.
  private func isCut(_ id: ObjectID) -> Bool {
    var greatest: (id: ObjectID, cell: Cell)?
    var at = id
    var steps = 0
    while let next = edge(at), steps <= state.objectCount {
      if greatest.map({ next.cell.beats($0.cell) }) ?? true { greatest = (at, next.cell) }
      at = next.group
      steps += 1
      if at == id { return greatest?.id == id }
    }
    return false
  }

  private func groups(of id: ObjectID) -> [ObjectID] {
    var path: [ObjectID] = []
    var at = id
    while path.count < BoardLimits.groupDepth, !isCut(at), let next = edge(at) {
      path.append(next.group)
      at = next.group
    }
    return path
  }

  // MARK: - The stack

  private var disorder: String? {
    let keys = board.objectIDs.map { id -> (place: [UInt8], id: ObjectID) in
      guard case .bytes(let place)? = state.record(id)?[.zIndex]?.value else { return ([], id) }
      return (place, id)
    }
    for (back, front) in zip(keys, keys.dropFirst()) {
      let isInOrder = back.place == front.place ? back.id < front.id : back.place.lexicographicallyPrecedes(front.place)
      guard isInOrder else { return "\(back.id) shows behind \(front.id)" }
    }
    return nil
  }

  // MARK: - Settings

  private var settings: String? {
    let cells = state.storedIDs.compactMap { id -> Cell? in
      guard let record = state.record(id), record.kind == .settings, !record.isDeleted, let cell = record[.title],
        case .text = cell.value
      else { return nil }
      return cell
    }
    let latest = cells.max { ($0.time, $0.dot) < ($1.time, $1.dot) }
    var title: String?
    if case .text(let text)? = latest?.value, !text.isEmpty { title = text }
    return board.settings.title == title ? nil : "the title is \(board.settings.title ?? "") and not \(title ?? "")"
  }

  // MARK: - Games

  private var games: String? {
    for id in board.objectIDs {
      guard case .wordle(let view)? = board.gameView(id, for: board.member, isRevealing: true)?.detail,
        let answer = view.answer
      else { continue }
      for player in view.players {
        for row in player.rows {
          guard let word = row.word, !isRight(row.marks, of: word, for: answer) else { continue }
          return "\(word) for \(answer) is marked \(row.marks)"
        }
      }
    }
    return nil
  }

  /// Returns whether the marks find each letter as often as both words contain it, and mark exactly the right positions
  /// as correct.
  private func isRight(_ marks: [WordleMark], of word: String, for answer: String) -> Bool {
    let (guess, answer) = (Array(word), Array(answer))
    for (index, letter) in guess.enumerated() {
      guard (marks[index] == .correct) == (letter == answer[index]) else { return false }
      let found = guess.indices.count { guess[$0] == letter && marks[$0] != .absent }
      let has = { (letters: [Character]) in letters.count { $0 == letter } }
      guard found == min(has(guess), has(answer)) else { return false }
    }
    return true
  }
}

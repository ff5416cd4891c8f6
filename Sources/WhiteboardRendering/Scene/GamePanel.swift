import Whiteboard

/// The panel that shows a game on the board, in terminal cells or on a page.
package enum GamePanel {
  package static func label(_ view: GameView, isASCII: Bool, naming name: (MemberID) -> String) -> Label {
    switch view.detail {
    case .wordle(let wordle): self.wordle(wordle, view, naming: name)
    case .connectFour(let game): connectFour(game, isASCII: isASCII, naming: name)
    case .notJudged:
      Label(lines: [[.init("game: ", strong), .init(view.name, strong)], [.init("not judged here", quiet)]])
    }
  }

  private static let strong = CellStyle(.terminal, on: .terminal, .bold)
  private static let quiet = CellStyle(.terminal, on: .terminal, .dim)
  private static let black = CellColor(rgb: 0)
  private static let white = CellColor(rgb: 0xFFFFFF)

  private static func wordle(_ wordle: WordleView, _ view: GameView, naming name: (MemberID) -> String) -> Label {
    var label = Label()
    label.lines.append([.init("WORDLE  \(wordle.rows.count)/\(Wordle.tries)", strong)])
    for row in wordle.rows {
      let letters = Array(row.word?.uppercased() ?? "?????")
      label.lines.append(zip(letters, row.marks).map { letter, mark in .init(tile(letter, mark), style(mark)) })
    }
    for _ in wordle.rows.count..<max(Wordle.tries, wordle.rows.count) {
      label.lines.append([.init(" _  _  _  _  _ ", quiet)])
    }
    for player in wordle.players where player.member != wordle.member {
      let how =
        player.hasWon
        ? "\(player.rows.count)/\(Wordle.tries)" : player.isDone ? "X/\(Wordle.tries)" : "\(player.rows.count)…"
      label.lines.append([.init("\(TextLines.cut(name(player.member), columns: 12)) \(how)", quiet)])
    }
    for (place, winner) in view.winners.prefix(3).enumerated() {
      let who = TextLines.cut(name(winner.member), columns: 12)
      label.lines.append([.init("\(place + 1). \(who)")])
    }
    if let answer = wordle.answer { label.lines.append([.init("it is \(answer)", quiet)]) }
    return label
  }

  /// The brackets show whether the letter is correct, even without colors.
  private static func tile(_ letter: Character, _ mark: WordleMark) -> String {
    switch mark {
    case .correct: "[\(letter)]"
    case .misplaced: "(\(letter))"
    case .absent: " \(letter) "
    }
  }

  private static func style(_ mark: WordleMark) -> CellStyle {
    switch mark {
    case .correct: CellStyle(black, on: CellColor(rgb: 0x6AAA64), .bold)
    case .misplaced: CellStyle(black, on: CellColor(rgb: 0xC9B458), .bold)
    case .absent: CellStyle(white, on: CellColor(rgb: 0x555555))
    }
  }

  private static func connectFour(_ game: ConnectFourView, isASCII: Bool, naming name: (MemberID) -> String) -> Label {
    var label = Label()
    let signs: [Character: (text: String, style: CellStyle)] = [
      "R": (isASCII ? " R" : " ●", CellStyle(CellColor(rgb: 0xE5484D), on: .terminal, .bold)),
      "Y": (isASCII ? " Y" : " ○", CellStyle(CellColor(rgb: 0xFFC53D), on: .terminal, .bold)),
    ]
    for row in game.grid {
      label.lines.append(
        row.map { sign in
          let known = signs[sign]
          return .init(known?.text ?? " .", known?.style ?? quiet)
        }
      )
    }
    label.lines.append([.init((1...ConnectFour.columns).map { " \($0)" }.joined(), quiet)])
    let status: String =
      switch game.outcome {
      case .playing: game.turn.map { turn(of: $0, game, naming: name) } ?? "a seat is free"
      case .won(let member): "\(TextLines.cut(name(member), columns: 12)) won"
      case .drawn: "a draw"
      case .resigned(let member): "\(TextLines.cut(name(member), columns: 12)) gave up"
      }
    label.lines.append([.init(status, strong)])
    return label
  }

  /// Returns whose turn it is.
  ///
  /// It is `Your turn` only if `name` returns `you` for the local member, as on the member's own screen.
  private static func turn(of member: MemberID, _ game: ConnectFourView, naming name: (MemberID) -> String) -> String {
    let player = name(member)
    if member == game.member, player == "you" { return "Your turn" }
    return "\(TextLines.cut(player, columns: 12))'s turn"
  }
}

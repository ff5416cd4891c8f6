import PeerCore
import Whiteboard
import WhiteboardKit
import WhiteboardRendering

extension BoardClient {
  // MARK: - Keys

  mutating func perform(_ command: KeyMap.Command) -> [Action] {
    if command.isLocal { messages.actionSucceeded(workspace.requests.nextID) }
    switch command {
    case .tool(let tool): return apply(workspace.choose(tool))
    case .color(let index): return apply(workspace.chooseColor(index))
    case .thinner: return apply(workspace.changeWidth(by: -1))
    case .broader: return apply(workspace.changeWidth(by: 1))
    case .arrow(let dx, let dy, let isWide): return apply(workspace.move(dx, dy, isWide: isWide))
    case .zoomIn: return apply(workspace.zoom(by: 1.25))
    case .zoomOut: return apply(workspace.zoom(by: 0.8))
    case .actualSize: return apply(workspace.zoom(by: 1 / workspace.scene.viewport.zoom))
    case .fit: return apply(workspace.showEverything())
    case .undo: return send(.undo)
    case .redo: return send(.redo)
    case .object(.copy) where workspace.scene.selection.isEmpty: return copyLink()
    case .object(let command): return apply(command.run(&workspace))
    case .turn(let degrees): return apply(workspace.rotate(by: degrees))
    case .scale(let percent): return apply(workspace.scale(byPercent: percent))
    case .next: return apply(workspace.goToNeighbor(1))
    case .previous: return apply(workspace.goToNeighbor(-1))
    case .selectAll: return apply(workspace.select(workspace.scene.objectsInView))
    case .selectNone: return apply(workspace.deselect())
    case .edit: return apply(workspace.editSelection())
    case .keyboardPen: return apply(workspace.toggleKeyboardPen())
    case .snap: return apply(workspace.toggleSnapping())
    case .game: return apply(workspace.play(.wordle))
    case .connectFour: return apply(workspace.play(.connectFour))
    case .saved: return showSaved()
    case .interrupt: return interrupt()
    case .quit: return leave()
    case .redraw: return [.redraw]
    case .suspend: return [.suspend]
    case .follow: followNext()
    case .find: prompt.open(.find)
    case .present: return present()
    case .openLink: return apply(workspace.openLink())
    case .clearBoard: askToClear()
    case .chat: prompt.open(.chat)
    case .command: prompt.open(.command)
    case .photo: prompt.open(.photo(at: workspace.scene.freePlace(for: BoardScene.photoSize, near: workspace.target)))
    case .export: prompt.open(.export)
    case .menu: return apply([.openMenu(at: nil)])
    case .help: open(Panel("Keys", .keys))
    case .readChat: openChat()
    case .invite: overlay = .invitation(nil)
    case .panel:
      layout.arePanelsWanted.toggle()
      fitBoard()
    }
    return []
  }

  /// The last row shows the number of the frame, unless there is a message to show.
  private mutating func present() -> [Action] {
    messages.notice = nil
    return apply(workspace.present())
  }

  package mutating func linkCopied(_ link: String, isWanted: Bool) -> [Action] {
    say(isWanted ? "copied: \(link)" : "no browser can be opened here; the link was copied, to paste it in one")
    return [.clipboard(link)]
  }

  private mutating func copyLink() -> [Action] {
    let link = session.board.link
    say("copied: whiteboard-peer join '\(link)'")
    return [.clipboard(link)]
  }

  private mutating func showSaved() -> [Action] {
    guard let message = saveStatus.message else { return send(.save) }
    say(message)
    return []
  }

  // MARK: - Prompt

  package mutating func complete(files: [String], for beginning: String) {
    if case .completions(let names) = prompt.complete(files: files, for: beginning) { say(names) }
  }

  mutating func perform(_ outcome: Prompt.Outcome) -> [Action] {
    switch outcome {
    case .none: return []
    case .find(let words, let step): return find(words, step: step)
    case .findFiles(let beginning): return [.findFiles(beginning)]
    case .completions(let names): say(names)
    case .command(let command): return perform(command)
    case .failure(.terminal(let message)): showFailure(message)
    case .failure(.parser(let error)): showFailure(error.message)
    }
    return []
  }

  private mutating func askToClear() {
    let count = workspace.scene.canvas.count
    if count == 0 { say("the board is empty") } else { overlay = .clearQuestion(count) }
  }

  /// Goes to the next or previous object that contains the words, and reports the other matches.
  private mutating func find(_ words: String, step: Int) -> [Action] {
    guard let search = TextSearch(words) else { return [] }
    let ids = search.objects(in: workspace.scene.canvas.itemsInOrder.map(\.snapshot)).map(\.id)
    let lines = session.chat.lines.count { $0.author != nil && search.matches($0.text.raw) }
    let people = session.members.all.values.count { search.matches($0.name.displayed) }
    var others: [String] = []
    if lines > 0 { others.append(EventText.count(lines, "line") + " in the chat") }
    if people > 0 { others.append(EventText.count(people, "member")) }
    let rest = others.joined(separator: " and ")
    guard !ids.isEmpty else {
      showFailure("no object contains these words" + (rest.isEmpty ? "" : "; they are in \(rest)"))
      return []
    }
    messages.actionSucceeded(workspace.requests.nextID)
    let known = workspace.found.flatMap { ids.firstIndex(of: $0) }
    let index = known.map { ($0 + step + ids.count) % ids.count } ?? (step < 0 ? ids.count - 1 : 0)
    say("\(index + 1) of \(ids.count)" + (rest.isEmpty ? "" : ", also \(rest)"))
    return apply(workspace.go(to: ids[index], isCentered: true))
  }

  private mutating func perform(_ command: PromptCommand) -> [Action] {
    if case .board(let command) = command {
      if prompt.purpose == .command { typedCommands[workspace.requests.nextID] = command }
      return send(command)
    }
    messages.actionSucceeded(workspace.requests.nextID)
    switch command {
    case .quit(let isAnyway): return isAnyway ? [.quit] : leave()
    case .suspend: return [.suspend]
    case .go(let words):
      if let id = workspace.scene.object(matching: words) { return apply(workspace.go(to: id)) }
      showFailure("no object has this id, and no text contains these words")
    case .follow(let name):
      if let member = session.members.member(named: name) {
        follow(member)
      } else {
        showFailure("no member is called \(UntrustedText(name))")
      }
    case .present: return present()
    case .fit:
      if workspace.scene.canvas.bounds == nil { say("the board is empty") }
      return apply(workspace.showEverything())
    case .clear: askToClear()
    case .zoom(let factor): return apply(workspace.moveView { $0.zoom(by: factor / $0.zoom, around: $0.center) })
    case .dotStyle(let style):
      layout.isASCII = style == .ascii
      workspace.scene.canvas.show(style)
      say("lines are drawn with \(style.rawValue)")
    case .board: break
    }
    return []
  }
}

extension KeyMap.Command {
  /// Whether the command changes only the screen or the tool, and always succeeds.
  fileprivate var isLocal: Bool {
    switch self {
    case .tool, .color, .thinner, .broader, .zoomIn, .zoomOut, .fit, .actualSize, .panel: true
    default: false
    }
  }
}

extension BoardPoint {
  /// Creates a point with coordinates rounded to hundredths of a board unit. Throws if the point is outside the board.
  init(rounding place: Point) throws(CommandError) {
    guard let point = BoardPoint(x: place.x.inHundredths, y: place.y.inHundredths) else {
      throw CommandError(.badArgument, "this place is outside the board")
    }
    self = point
  }

  static func rounding(_ places: some Sequence<Point>) throws(CommandError) -> [BoardPoint] {
    var points: [BoardPoint] = []
    for place in places { points.append(try BoardPoint(rounding: place)) }
    return points
  }
}

extension Double {
  var inHundredths: Double {
    guard isFinite else { return 0 }
    // Adding zero turns -0 into 0.
    return (Swift.min(Swift.max(self, -1e12), 1e12) * 100).rounded() / 100 + 0
  }
}

struct PendingRequests: Hashable, Sendable {
  private(set) var nextID: Int64 = 1
  private var pending: Set<Int64> = []

  /// The request is pending until the board answers it. Throws if a value of the command is outside its limits.
  mutating func request(_ command: Command) throws(CommandError) -> CommandRequest {
    let command = try command.checked()
    defer { nextID += 1 }
    pending.insert(nextID)
    return CommandRequest(command, request: .number(nextID))
  }

  mutating func finish(_ id: Int64) { pending.remove(id) }

  func isPending(_ id: Int64) -> Bool { pending.contains(id) }

  var count: Int { pending.count }
}

extension RequestMark {
  /// The id as a number; nil if the id is a word. The client's own request ids are always numbers.
  var number: Int64? { if case .number(let number) = self { number } else { nil } }
}

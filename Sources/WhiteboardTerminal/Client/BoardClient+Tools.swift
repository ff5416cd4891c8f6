import WhiteboardRendering

/// The tools and colors at the top of the screen, which a click takes.
extension BoardClient {
  /// A tool or a color in the row of tools or in the title.
  struct ToolButton: Hashable, Sendable {
    let command: KeyMap.Command
    /// What stands there; its key comes first.
    let words: String
    let x: Int
    let y: Int

    /// Its cells.
    var area: CellArea {
      CellArea(x: x, y: y, width: CharacterWidth.columns(words), height: 1)
    }
  }

  /// Whether tools and colors have a row of their own, below the title.
  var hasToolRow: Bool { rows >= 30 && columns >= 80 }

  /// The tools and colors that there is room for.
  var toolButtons: [ToolButton] {
    if hasToolRow {
      let variants = [
        buttons(from: 1, y: 1, isNamed: true, gap: 2),
        buttons(from: 1, y: 1, isNamed: true, gap: 1),
        buttons(from: 1, y: 1, isNamed: false, gap: 1),
      ]
      return variants.first { ($0.last?.area.columns.upperBound ?? 0) <= columns } ?? []
    }
    // The title also says what is not saved.
    guard rows >= 4, saveState?.problem == nil else { return [] }
    let (start, end) = (titleLeadWidth + 2, columns - CharacterWidth.columns(titleTail) - 3)
    let variants = [
      buttons(from: start, y: 0, isNamed: false, gap: 1),
      buttons(from: start, y: 0, isNamed: false, gap: 0),
      buttons(from: start, y: 0, isNamed: false, gap: nil),
    ]
    return variants.first { ($0.last?.area.columns.upperBound ?? 0) <= end } ?? []
  }

  /// The buttons from a column on, with so many blanks between two tools; without a gap only the colors.
  private func buttons(from start: Int, y: Int, isNamed: Bool, gap: Int?) -> [ToolButton] {
    var buttons: [ToolButton] = []
    var x = start
    func add(_ command: KeyMap.Command, _ words: String, gap: Int) {
      let button = ToolButton(command: command, words: words, x: x, y: y)
      buttons.append(button)
      x = button.area.columns.upperBound + gap
    }
    if let gap {
      for tool in Tool.allCases {
        let key = keys.key(for: .tool(tool)).flatMap { $0.count == 1 ? $0 : nil }
        let sign = key ?? String(tool.shortName.prefix(1))
        add(.tool(tool), isNamed ? "\(sign) \(tool.shortName)" : sign, gap: gap)
      }
      x += 1
    }
    for index in Pens.colors.indices { add(.color(index), "\(index)", gap: 0) }
    return buttons
  }

  func drawToolButtons(on screen: inout Screen) {
    if hasToolRow {
      let row = CellArea(x: 0, y: 1, width: columns, height: 1)
      screen.fill(row, with: Cell(.space, Self.bar))
    }
    for button in toolButtons {
      var style = Self.bar
      if case .color(let index) = button.command, let rgb = Pens.colors[index].rgb {
        style.foreground = CellColor(rgb: rgb)
      }
      if isChosen(button.command) { style.attributes.insert(.reversed) }
      screen.put(button.words, x: button.x, y: button.y, style, in: button.area)
      screen.put(button.words.prefix(1), x: button.x, y: button.y, style.bold, in: button.area)
    }
  }

  private func isChosen(_ command: KeyMap.Command) -> Bool {
    switch command {
    case .tool(let tool): tool == self.tool
    case .color(let index): Pens.colors[index].rgb == ink
    default: false
    }
  }

  /// A click outside the board takes the tool or the color that is there.
  mutating func pressOutside(_ button: MouseEvent.Button, _ event: MouseEvent) -> [Action] {
    guard button == .left,
      let hit = toolButtons.first(where: { $0.area.contains(x: event.x, y: event.y) })
    else { return [] }
    return endGesture() + endTyping() + carryOut(hit.command)
  }
}

extension Tool {
  /// What the row of tools calls it.
  fileprivate var shortName: String {
    switch self {
    case .rectangle: "rect"
    case .ellipse: "oval"
    case .eraser: "erase"
    case .remover: "remove"
    case .picker: "pick"
    default: rawValue
    }
  }
}

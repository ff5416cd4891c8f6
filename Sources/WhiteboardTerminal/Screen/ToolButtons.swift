import WhiteboardRendering

/// The tools and colors that the user can click, in their own row or in the title.
struct ToolButtons {
  /// A tool or a color.
  struct Button: Hashable, Sendable {
    let command: KeyMap.Command
    /// The text, which begins with the key.
    let text: String
    let x: Int
    let y: Int

    var area: CellArea { CellArea(x: x, y: y, width: CharacterWidth.columns(text), height: 1) }
  }

  let layout: ScreenLayout
  let keys: KeyMap
  let tool: Tool
  let ink: UInt32?
  /// The first column for buttons in the title, and the column after the last; nil if there is no room.
  let titleRoom: (start: Int, end: Int)?

  /// The number of columns of all buttons with the shortest texts.
  static let leastWidth = Tool.allCases.count + 1 + Pens.colors.count

  /// The buttons for which there is room.
  var buttons: [Button] {
    if layout.hasToolRow {
      let variants = [
        buttons(from: 1, y: 1, isNamed: true, gap: 2), buttons(from: 1, y: 1, isNamed: true, gap: 1),
        buttons(from: 1, y: 1, isNamed: false, gap: 1),
      ]
      return variants.first { ($0.last?.area.columns.upperBound ?? 0) <= layout.columns } ?? []
    }
    guard layout.rows >= 4, let titleRoom else { return [] }
    let variants = [
      buttons(from: titleRoom.start, y: 0, isNamed: false, gap: 1),
      buttons(from: titleRoom.start, y: 0, isNamed: false, gap: 0),
      buttons(from: titleRoom.start, y: 0, isNamed: false, gap: nil),
    ]
    return variants.first { ($0.last?.area.columns.upperBound ?? 0) <= titleRoom.end } ?? []
  }

  /// Returns the buttons from the given column on, with a gap between tools.
  ///
  /// If the gap is nil, returns only the colors.
  private func buttons(from start: Int, y: Int, isNamed: Bool, gap: Int?) -> [Button] {
    var buttons: [Button] = []
    var x = start
    func add(_ command: KeyMap.Command, _ text: String, gap: Int) {
      let button = Button(command: command, text: text, x: x, y: y)
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

  /// Returns the command of the button at a cell.
  func command(atX x: Int, y: Int) -> KeyMap.Command? { buttons.first { $0.area.contains(x: x, y: y) }?.command }

  func draw(on screen: inout Screen) {
    if layout.hasToolRow {
      screen.fill(CellArea(x: 0, y: 1, width: layout.columns, height: 1), with: Cell(.space, .bar))
    }
    for button in buttons {
      var style = CellStyle.bar
      if case .color(let index) = button.command, let rgb = Pens.colors[index].rgb {
        style.foreground = CellColor(rgb: rgb)
      }
      if isChosen(button.command) { style.attributes.insert(.reversed) }
      screen.put(button.text, x: button.x, y: button.y, style, in: button.area)
      screen.put(button.text.prefix(1), x: button.x, y: button.y, style.bold, in: button.area)
    }
  }

  private func isChosen(_ command: KeyMap.Command) -> Bool {
    switch command {
    case .tool(let tool): tool == self.tool
    case .color(let index): Pens.colors[index].rgb == ink
    default: false
    }
  }
}

extension Tool {
  /// The name in the row of tools.
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

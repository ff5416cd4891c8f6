import WhiteboardRendering

extension ManualPage {
  /// Returns the page as plain text, as `man` shows it; verbatim lines may be wider than `columns`.
  package func text(columns: Int) -> String {
    var page = PlainPage(columns: max(columns, 40))
    for element in elements { page.add(element) }
    return page.text
  }
}

/// A plain text page, built from the elements of a manual page in order.
private struct PlainPage {
  private static let indent = 7

  let columns: Int
  private var lines: [String] = []
  /// The text of the current paragraph, which has not been laid out yet.
  private var words: [String] = []

  init(columns: Int) { self.columns = columns }

  var text: String {
    var page = self
    page.endParagraph()
    return page.lines.map { $0 + "\n" }.joined()
  }

  mutating func add(_ element: ManualPage.Element) {
    if case .line(let text) = element { return words.append(text) }
    endParagraph()
    switch element {
    case .title(let name, let program):
      let name = "\(name.uppercased())(1)"
      let gap = columns - name.count - program.count
      lines.append(name + String(repeating: " ", count: max(2, gap)) + program)
    case .section(let name): lines += ["", name]
    case .part(let name): lines += ["", "   \(name)"]
    case .name(let name, let about): append("\(name) - \(about)", indent: Self.indent)
    case .synopsis(let command, let words): append("\(command) \(words)", indent: Self.indent)
    case .item(let term, let text):
      lines.append(String(repeating: " ", count: Self.indent) + term)
      append(text, indent: 2 * Self.indent)
    case .verbatim(let rows): lines += rows.map { $0.isEmpty ? "" : String(repeating: " ", count: Self.indent) + $0 }
    case .paragraph: lines.append("")
    case .line: break
    }
  }

  private mutating func endParagraph() {
    guard !words.isEmpty else { return }
    append(words.joined(separator: " "), indent: Self.indent)
    words = []
  }

  private mutating func append(_ text: String, indent: Int) {
    guard !text.isEmpty else { return }
    let rows = TextLines.wrapped(text, columns: columns - indent, limit: .max)
    lines += rows.map { String(repeating: " ", count: indent) + $0 }
  }
}

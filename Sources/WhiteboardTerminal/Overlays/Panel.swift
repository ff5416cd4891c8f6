import WhiteboardRendering

/// A box with a title and scrolled rows: the keys, the chat, or the answer to a command.
struct Panel: Hashable, Sendable {
  enum Content: Hashable, Sendable {
    /// Lines that do not change while the panel is open.
    case lines([String])
    case keys
    /// The chat, to which lines are added while the panel is open.
    case chat
  }

  struct Part: Hashable, Sendable {
    /// The column, counted from the left edge of the rows.
    var column = 0
    let text: String
    var style: CellStyle
  }

  /// One row; its parts do not overlap.
  typealias Row = [Part]

  let title: String
  let content: Content
  /// The rows for ``columns``; empty until the first layout.
  private(set) var rows: [Row] = []
  private var columns = 0
  private var version = 0
  /// The index of the first visible row.
  private(set) var first = 0
  private(set) var height = 1
  /// Whether the last row stays visible when rows are added.
  private var staysAtEnd: Bool

  init(_ title: String, _ content: Content) {
    self.title = title
    self.content = content
    staysAtEnd = content == .chat
  }

  /// Returns whether the rows are up to date for this number of columns and this version of the content.
  func isLaidOut(columns: Int, version: Int) -> Bool {
    columns == self.columns && version == self.version && !rows.isEmpty
  }

  /// Sets the rows (nil if they did not change), and shows as many of them as there is room for.
  mutating func layOut(_ rows: [Row]?, columns: Int, version: Int, height: Int) {
    if let rows { self.rows = rows }
    (self.columns, self.version) = (columns, version)
    self.height = max(height, 1)
    let last = max(0, self.rows.count - self.height)
    first = staysAtEnd ? last : min(first, last)
    staysAtEnd = content == .chat && first == last
  }

  var visible: ArraySlice<Row> { rows.dropFirst(first).prefix(height) }

  /// Returns the visible range, such as `1–20 of 57`.
  func position(isASCII: Bool) -> String {
    guard !rows.isEmpty else { return "empty" }
    let last = min(first + height, rows.count)
    return "\(first + 1)\(isASCII ? "-" : "–")\(last) of \(rows.count)"
  }

  mutating func scroll(by count: Int) {
    staysAtEnd = false
    first = min(max(0, first + count), max(0, rows.count - height))
  }

  mutating func scroll(_ key: InputEvent.Key) -> Bool {
    let page = max(height - 1, 1)
    switch key {
    case .up, .character("k"): scroll(by: -1)
    case .down, .character("j"): scroll(by: 1)
    case .pageUp, .character("b"): scroll(by: -page)
    case .pageDown, .character(" "), .tab: scroll(by: page)
    case .home, .character("g"): scroll(by: -first)
    case .end, .character("G"): scroll(by: rows.count)
    default: return false
    }
    return true
  }
}

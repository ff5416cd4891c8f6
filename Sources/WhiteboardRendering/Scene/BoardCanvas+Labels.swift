import Whiteboard

/// The labels of objects.
///
/// A terminal has letters of one size and one direction. Therefore text is wrapped to the width of its box, bold if it
/// is large, and dim if it is small. Rotated text is shown upright around its center, followed by its angle.
extension BoardCanvas {
  /// Returns the label of an object; nil if it has none.
  func label(_ item: Item) -> Label? {
    let snapshot = item.snapshot
    switch snapshot.kind {
    case .text: return textLabel(snapshot)
    case .game:
      return item.game.map { game in GamePanel.label(game, isASCII: dotStyle == .ascii) { names[$0] ?? $0.shortText } }
    case .drawing, .photo: return nil
    default: return Label(lines: [[.init("[?]")]])
    }
  }

  /// The smallest scale at which text is bold.
  ///
  /// `dimScale` is the largest scale at which text is dim.
  private static let boldScale = 1.5
  private static let dimScale = 0.67

  /// Returns the label of a text object, wrapped to the columns of its box.
  private func textLabel(_ snapshot: ObjectSnapshot) -> Label? {
    guard let text = snapshot.text, !text.isEmpty else { return nil }
    let cell = Double(DotGrid.fine.across) / viewport.scale
    let columns = Int(min(snapshot.size.width * snapshot.scale / cell, 400))
    var style = CellStyle(InkColor.shown(snapshot.color, on: surface))
    if snapshot.scale >= Self.boldScale { style.attributes.insert(.bold) }
    if snapshot.scale <= Self.dimScale { style.attributes.insert(.dim) }
    let lines = TextLines.wrapped(text, columns: max(columns, 4), limit: 200)
    // If the board is zoomed out, truncate the text, so that it does not cover everything.
    let rows = max(1, Int(400 * snapshot.scale * viewport.scale / Double(DotGrid.fine.down)))
    var label = Label(lines: lines.prefix(rows).map { [.init($0, style)] })
    if let angle = angle(snapshot), let last = label.lines.indices.last {
      label.lines[last].append(.init(angle, CellStyle(style.foreground, on: .terminal, .dim)))
    }
    return label
  }

  /// Returns a text object's angle as a string; nil if the rotation is too small to see.
  private func angle(_ snapshot: ObjectSnapshot) -> String? {
    let degrees = Int((snapshot.angle * 180 / .pi).rounded()) % 360
    guard degrees > 2, degrees < 358 else { return nil }
    return dotStyle == .ascii ? " (\(degrees))" : " ↻\(degrees)°"
  }
}

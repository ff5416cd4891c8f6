/// The form of a drawing; a drawing without a form is ink (BRD-48).
public enum DrawingForm: UInt64, CaseIterable, Hashable, Sendable {
  case line = 1
  /// A line with an arrowhead at its last point, unless its style says otherwise.
  case arrow
  case rectangle
  case roundedRectangle
  case ellipse
  case diamond
  /// A note: a filled rectangle without an outline.
  case note
  /// A named area of the board, to which objects belong.
  case frame

  /// The name of the form in JSON and in commands.
  public var name: String {
    switch self {
    case .line: "line"
    case .arrow: "arrow"
    case .rectangle: "rectangle"
    case .roundedRectangle: "rounded"
    case .ellipse: "ellipse"
    case .diamond: "diamond"
    case .note: "note"
    case .frame: "frame"
    }
  }

  /// Creates the form with the given name; nil if there is none.
  public init?(name: String) {
    guard let form = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = form
  }

  /// Whether the form is determined by points; all other forms have a width and a height.
  public var hasPoints: Bool { self == .line || self == .arrow }

  /// Whether the label can lie outside the box of the form, and therefore never makes the box higher. This is true for
  /// the label of a line and the name of a frame.
  package var hasLabelOutside: Bool { hasPoints || self == .frame }

  /// The width and height of a form whose size is not set, in board units.
  package var defaultSize: Size {
    switch self {
    case .note: Size(width: 200, height: 200)
    case .frame: Size(width: 800, height: 600)
    default: Size(width: 200, height: 100)
    }
  }
}

/// How the line of a form is drawn.
public enum LineStyle: UInt64, CaseIterable, Hashable, Sendable {
  case solid
  /// Dashes of four line widths, with gaps of three line widths.
  case dashed
  /// Dots, two line widths apart.
  case dotted

  /// The name of the style in JSON and in commands.
  public var name: String {
    switch self {
    case .solid: "solid"
    case .dashed: "dashed"
    case .dotted: "dotted"
    }
  }

  /// The lengths of the dashes and gaps of lines with round ends, in line widths; empty for a solid line.
  package var dashes: [Double] {
    switch self {
    case .solid: []
    case .dashed: [3, 4]
    case .dotted: [0, 2]
    }
  }
}

/// The mark at an end of a line or arrow.
public enum LineEnd: UInt64, CaseIterable, Hashable, Sendable {
  case none
  /// Two lines that meet at the end.
  case arrow
  /// A filled triangle.
  case triangle
  /// A line across the end.
  case bar
  /// A filled circle.
  case dot

  /// The name of the end in JSON and in commands.
  public var name: String {
    switch self {
    case .none: "none"
    case .arrow: "arrow"
    case .triangle: "triangle"
    case .bar: "bar"
    case .dot: "dot"
    }
  }
}

/// The typeface of a text or label.
public enum Typeface: UInt64, CaseIterable, Hashable, Sendable {
  case plain
  /// Letters as if written by hand.
  case hand
  /// Letters of equal width, for programs.
  case code

  /// The name of the typeface in JSON and in commands.
  public var name: String {
    switch self {
    case .plain: "plain"
    case .hand: "hand"
    case .code: "code"
    }
  }
}

/// The side to which the rows of a text or label are aligned.
public enum TextAlignment: UInt64, CaseIterable, Hashable, Sendable {
  case left
  case center
  case right

  /// The name of the alignment in JSON and in commands.
  public var name: String {
    switch self {
    case .left: "left"
    case .center: "center"
    case .right: "right"
    }
  }
}

/// How an object is drawn, apart from its color and line width (BRD-49, BRD-50).
public struct ObjectStyle: Hashable, Sendable {
  /// The color inside a form or behind a text, `0xRRGGBBAA`; nil if there is none.
  public var fill: UInt32?
  /// How the line of a form is drawn.
  public var lineStyle = LineStyle.solid
  /// The opacity of the object, from 0 (invisible) to 1.
  public var opacity = 1.0
  /// The mark at the first point of a line or arrow.
  public var start = LineEnd.none
  /// The mark at the last point of a line or arrow.
  public var end = LineEnd.none
  /// Whether a line or arrow bends smoothly at its points.
  public var isCurved = false
  /// The height of a row of text, in board units; a letter is half as wide.
  public var textSize = Self.textSize
  /// The typeface of the text or label.
  public var typeface = Typeface.plain
  /// The alignment of the text or label.
  public var alignment = TextAlignment.left
  /// Whether the text or label is bold.
  public var isBold = false
  /// Whether the text or label is italic.
  public var isItalic = false
  /// The color of a label, `0xRRGGBBAA`; nil if the label has no color of its own.
  public var textColor: UInt32?
  /// Whether a text is as wide as its longest paragraph, and is not wrapped.
  public var isAutoWidth = false

  /// The height of a row of text whose size is not set, in board units.
  public static let textSize = 16.0
  /// The color of a note whose fill is not set.
  public static let noteFill: UInt32 = 0xFFEC_99FF

  /// The style of an object without style cells.
  public init(form: DrawingForm? = nil) {
    if form == .arrow { end = .arrow }
    if form == .note { fill = Self.noteFill }
    if form != nil { alignment = .center }
  }
}

/// A change of one property of an object's style.
public enum StyleChange: Hashable, Sendable {
  /// The color, `0xRRGGBBAA`; nil for the default color.
  case color(UInt32?)
  /// The line width of a drawing, in board units.
  case lineWidth(Double)
  /// The form of a drawing that has a form; lines and arrows cannot become other forms.
  case form(DrawingForm)
  /// The color inside a form or behind a text; nil for none, or for the default color of a note.
  case fill(UInt32?)
  case lineStyle(LineStyle)
  /// The opacity, from 0 to 1.
  case opacity(Double)
  case start(LineEnd)
  case end(LineEnd)
  case isCurved(Bool)
  /// The height of a row of text, in board units.
  case textSize(Double)
  case typeface(Typeface)
  case alignment(TextAlignment)
  case isBold(Bool)
  case isItalic(Bool)
  /// The color of a form's label; nil for the default color.
  case textColor(UInt32?)
  case isAutoWidth(Bool)

  func applies(to record: ObjectRecord) -> Bool {
    let form = record.form
    return switch self {
    case .opacity: true
    case .color: record.kind != .photo
    case .lineWidth: record.kind == .drawing
    case .form(let new): form.map { $0.hasPoints == new.hasPoints } ?? false
    case .fill: form != nil || record.kind == .text
    case .lineStyle: form != nil
    case .start, .end, .isCurved: form?.hasPoints ?? false
    case .textSize, .typeface, .alignment, .isBold, .isItalic: form != nil || record.kind == .text
    case .textColor: form != nil
    case .isAutoWidth: record.kind == .text
    }
  }

  /// Whether the change moves the point from which a text with an automatic width grows.
  var movesText: Bool {
    switch self {
    case .alignment, .isAutoWidth: true
    default: false
    }
  }

  func cell(_ record: ObjectRecord) throws(BoardError) -> (property: Property, value: Value) {
    switch self {
    case .color(let color): (.color, Self.value(color))
    case .lineWidth(let width): (.lineWidth, try FixedPoint.lineWidth(width))
    case .form(let form): (.form, .unsigned(form.rawValue))
    case .fill(let color): (.fill, Self.value(color))
    case .lineStyle(let style): (.lineStyle, .unsigned(style.rawValue))
    case .opacity(let opacity): (.opacity, try FixedPoint.opacity(opacity))
    case .start(let end): (.lineStart, .unsigned(end.rawValue))
    case .end(let end): (.lineEnd, .unsigned(end.rawValue))
    case .isCurved(let isCurved): (.curve, .unsigned(isCurved ? 1 : 0))
    case .textSize(let size): (.textSize, try FixedPoint.textSize(size))
    case .typeface(let typeface): (.typeface, .unsigned(typeface.rawValue))
    case .alignment(let alignment): (.alignment, .unsigned(alignment.rawValue))
    case .isBold(let isBold): (.emphasis, .unsigned((record.emphasis & ~1) | (isBold ? 1 : 0)))
    case .isItalic(let isItalic): (.emphasis, .unsigned((record.emphasis & ~2) | (isItalic ? 2 : 0)))
    case .textColor(let color): (.textColor, Self.value(color))
    case .isAutoWidth(let isAuto): (.autoWidth, .unsigned(isAuto ? 1 : 0))
    }
  }

  private static func value(_ color: UInt32?) -> Value { color.map { .unsigned(UInt64($0)) } ?? .none }
}

extension ObjectStyle {
  /// The cells of a new object with this style, except the cells with the default value of its form.
  func cells(of form: DrawingForm?) throws(BoardError) -> [(property: Property, value: Value)] {
    let usual = ObjectStyle(form: form)
    var changes: [StyleChange] = []
    if fill != usual.fill { changes.append(.fill(fill ?? 0)) }
    if lineStyle != usual.lineStyle { changes.append(.lineStyle(lineStyle)) }
    if opacity != usual.opacity { changes.append(.opacity(opacity)) }
    if start != usual.start { changes.append(.start(start)) }
    if end != usual.end { changes.append(.end(end)) }
    if isCurved { changes.append(.isCurved(true)) }
    if textSize != usual.textSize { changes.append(.textSize(textSize)) }
    if typeface != usual.typeface { changes.append(.typeface(typeface)) }
    if alignment != usual.alignment { changes.append(.alignment(alignment)) }
    if textColor != nil { changes.append(.textColor(textColor)) }
    if isAutoWidth { changes.append(.isAutoWidth(true)) }
    var cells: [(property: Property, value: Value)] = []
    for change in changes { cells.append(try change.cell(ObjectRecord())) }
    if isBold || isItalic { cells.append((.emphasis, .unsigned((isBold ? 1 : 0) | (isItalic ? 2 : 0)))) }
    return cells
  }
}

extension ObjectRecord {
  package var hasText: Bool { kind == .text || form != nil }

  /// Whether the object has a width and a height that users can change.
  var hasSize: Bool { kind == .photo || kind == .text || form?.hasPoints == false }

  /// A form that this version does not know is shown as a rectangle.
  package var form: DrawingForm? {
    guard kind == .drawing, case .unsigned(let number)? = self[.form]?.value, number > 0 else { return nil }
    return DrawingForm(rawValue: number) ?? .rectangle
  }

  package var ink: [InkPoint]? { kind == .drawing && form == nil ? points : nil }

  /// The points of a line or arrow, relative to its position, neither scaled nor rotated.
  package var linePoints: [Point] {
    var points: [Point] = []
    for entry in entries(of: Property.pointNumber, upTo: BoardLimits.pointCells) {
      guard case .pair(let x, let y) = entry.cell.value else { continue }
      points.append(Point(x: Double(x) / FixedPoint.unit, y: Double(y) / FixedPoint.unit))
    }
    guard points.count > 1, ends.count == 2 else { return points }
    if let start = ends[0] { points[0] = start }
    if let end = ends[1] { points[points.count - 1] = end }
    return points
  }

  fileprivate var emphasis: UInt64 { number(.emphasis) ?? 0 }

  package var style: ObjectStyle {
    var style = ObjectStyle(form: form)
    if let fill = color(.fill) { style.fill = fill }
    style.lineStyle = number(.lineStyle).flatMap(LineStyle.init) ?? .solid
    if let opacity = number(.opacity) { style.opacity = Double(min(opacity, 255)) / 255 }
    if let start = number(.lineStart).flatMap(LineEnd.init) { style.start = start }
    if let end = number(.lineEnd).flatMap(LineEnd.init) { style.end = end }
    style.isCurved = self[.curve]?.value.isTrue ?? false
    if let size = number(.textSize), size > 0 {
      style.textSize = min(max(Double(size) / FixedPoint.unit, BoardLimits.leastTextSize), BoardLimits.textSize)
    }
    style.typeface = number(.typeface).flatMap(Typeface.init) ?? .plain
    if let alignment = number(.alignment).flatMap(TextAlignment.init) { style.alignment = alignment }
    style.isBold = emphasis & 1 != 0
    style.isItalic = emphasis & 2 != 0
    style.textColor = color(.textColor)
    style.isAutoWidth = self[.autoWidth]?.value.isTrue ?? false
    return style
  }

  private func number(_ property: Property) -> UInt64? {
    guard case .unsigned(let number)? = self[property]?.value else { return nil }
    return number
  }

  private func color(_ property: Property) -> UInt32? { number(property).flatMap { UInt32(exactly: $0) } }
}

import PeerCore
import Whiteboard

enum FormCommands {
  static let rect = shape(.rect, .rectangle, "add a rectangle with its center at X,Y (default size: 200,100)")
  static let ellipse = shape(.ellipse, .ellipse, "add an ellipse with its center at X,Y (default size: 200,100)")
  static let diamond = shape(.diamond, .diamond, "add a diamond with its center at X,Y (default size: 200,100)")
  static let note = shape(.note, .note, "add a note with its center at X,Y (default size: 200,200)")
  static let frame = shape(.frame, .frame, "add a frame around a part of the board; its objects move with it")

  typealias Shape = CommandSpec<BoardPoint, BoardPoint?, String, UInt32?, Pen, ObjectAlias?>

  private static func shape(_ name: CommandName, _ form: DrawingForm, _ summary: String) -> Shape {
    CommandSpec(name, summary, .point("the center, as X,Y"), .formSize, .label, .fillOption, .formPen, .alias) {
      (editor, at, size, label, fill, pen, alias) throws(CommandError) in
      var style = ObjectStyle(form: form)
      if let fill { style.fill = fill }
      return try editor.make(alias) { (board) throws(BoardError) in
        try board.createForm(
          form,
          at: Point(at),
          size: size.map { Size(width: $0.x, height: $0.y) },
          label: label,
          lineWidth: pen.width,
          color: pen.color,
          style: style
        )
      }
    }
  }

  static let line = CommandSpec(
    .line,
    "add a line through the points, in straight segments; `points` changes them",
    .points("the points of the line, as X,Y X,Y …", limit: BoardLimits.pointCells, of: "a line"),
    .label,
    .formPen,
    .alias
  ) { (editor, points, label, pen, alias) throws(CommandError) in
    try check(points, usage: "line X,Y X,Y …")
    return try editor.make(alias) { (board) throws(BoardError) in
      try board.createLine(.line, through: points.map { Point($0) }, label, pen)
    }
  }

  static let arrow = CommandSpec(
    .arrow,
    "add an arrow between two objects or points",
    notes: [
      "An end at an object stays at the object's outline when the object is moved. With `connect`, this also",
      "applies to ends at points that lie in an object other than a frame.",
    ],
    .lineEnds,
    .flag("connect"),
    .label,
    .formPen,
    .alias
  ) { (editor, ends, connects, label, pen, alias) throws(CommandError) in
    let (from, to) = (try editor.place(ends.from), try editor.place(ends.to))
    return try editor.make(alias) { (board) throws(BoardError) in
      let points = [from.point, to.point]
      let id = try board.createLine(.arrow, through: points, label, pen, from: from.binding, to: to.binding)
      if connects { try board.connect([.start, .end], of: id) }
      return id
    }
  }

  static let label = CommandSpec(
    .label,
    "replace the label of a shape, line or arrow, or the words of a text",
    .object,
    .text()
  ) { (editor, object, words) throws(CommandError) in try EditingCommands.replaceWords(editor, object, words) }

  static let style = CommandSpec(
    .style,
    "change how objects are drawn",
    notes: [
      "form: rectangle, rounded, ellipse, diamond or note; line or arrow. fill, color, text: a color, or default.",
      "line: solid, dashed or dotted. start, end: none, arrow, triangle, bar or dot. curve, bold, italic: yes or no.",
      "size: the height of a row of text, like 24. font: plain, hand or code. align: left, center or right.",
      "opacity: from 0 to 1. width: the width of the line. An object ignores properties that it does not have.",
    ],
    .objects,
    .style
  ) { (editor, objects, changes) throws(CommandError) in
    try editor.editAll(objects) { (board, ids) throws(BoardError) in try board.restyle(ids, changes) }
  }

  static let resize = CommandSpec(
    .resize,
    "set the width and height of a shape, text or photo; its line width stays",
    notes: ["at= is the new center (default: the present one)."],
    .object,
    .sizeWord,
    .pointOption("at")
  ) { (editor, object, size, center) throws(CommandError) in
    let id = try editor.resolve(object)
    try editor.edit { (board) throws(BoardError) in
      try board.resize(id, to: Size(width: size.x, height: size.y), center: center.map { Point($0) })
    }
    return CommandOutcome(id: id)
  }

  static let points = CommandSpec(
    .points,
    "replace the points of a line or arrow",
    .object,
    .points("the points of the line, as X,Y X,Y …", limit: BoardLimits.pointCells, of: "a line")
  ) { (editor, object, points) throws(CommandError) in
    try check(points, usage: "points ID X,Y X,Y …")
    let id = try editor.resolve(object)
    try editor.edit { (board) throws(BoardError) in try board.setPoints(points.map { Point($0) }, of: id) }
    return CommandOutcome(id: id)
  }

  private static func check(_ points: [BoardPoint], usage: String) throws(CommandError) {
    guard points.count < 2 else { return }
    throw CommandError(.missingArgument, "a line needs at least two points; write `\(usage)`")
  }
}

extension Board {
  fileprivate func createLine(
    _ form: DrawingForm,
    through points: [Point],
    _ label: String,
    _ pen: Pen,
    from start: Binding? = nil,
    to end: Binding? = nil
  ) throws(BoardError) -> ObjectID {
    let box = points.dropFirst().reduce(points.first.map { Rectangle($0, $0) }) { $0?.union(Rectangle($1, $1)) }
    let center = box?.center ?? Point(x: 0, y: 0)
    return try createForm(
      form,
      at: center,
      points: points.map { Point(x: $0.x - center.x, y: $0.y - center.y) },
      label: label,
      lineWidth: pen.width,
      color: pen.color,
      from: start,
      to: end
    )
  }
}

struct LineEnds: Equatable, Sendable {
  enum Place: Equatable, Sendable {
    case point(BoardPoint)
    case object(ObjectReference)
  }

  let from: Place
  let to: Place
}

extension BoardEditor {
  /// `point` is the end of the line, before the end is moved to the outline of the bound object.
  fileprivate func place(_ place: LineEnds.Place) throws(CommandError) -> (point: Point, binding: Binding?) {
    switch place {
    case .point(let point): return (Point(point), nil)
    case .object(let reference):
      let id = try resolve(reference)
      guard let snapshot = board.snapshot(id), board.binding(to: id, at: snapshot.centerPosition) != nil else {
        throw CommandError(.badArgument, "an arrow cannot end at \(id), because it is a line; give a point")
      }
      return (snapshot.centerPosition, Binding(to: id))
    }
  }
}

extension Parameter where Value == BoardPoint? {
  fileprivate static var formSize: Parameter {
    option("size", "W,H", .point, default: nil, TextCommandParser.point) { (fields) throws(CommandError) in
      try fields.pointIfAny("size")
    }
  }
}

extension Parameter where Value == BoardPoint {
  fileprivate static var sizeWord: Parameter {
    Parameter("W,H", [("size", .point)], wordCount: 1) { (arguments) throws(CommandError) in
      try arguments.point("the width and height, as W,H")
    } json: { (fields) throws(CommandError) in
      try fields.point("size")
    }
  }
}

extension Pen {
  /// The default pen for the lines of forms.
  public static let form = Pen(width: ObjectDefaults.formLineWidth)
}

extension Parameter where Value == Pen {
  fileprivate static var formPen: Parameter { pen(.form) }
}

extension Parameter where Value == UInt32? {
  fileprivate static var fillOption: Parameter { option("fill", "#RRGGBB", default: nil, CommandParser.color) }
}

extension Parameter where Value == String {
  fileprivate static var label: Parameter {
    option("label", "\"WORDS\"", default: "") { (words) throws(CommandError) in
      try CommandLimits.checkedWords(words, what: "the label")
    }
  }
}

extension Parameter where Value == LineEnds {
  fileprivate static var lineEnds: Parameter {
    Parameter(
      "X,Y|ID X,Y|ID",
      [("from", .wordOrNumber), ("start", .point), ("to", .wordOrNumber), ("end", .point)],
      wordCount: 2
    ) { (arguments) throws(CommandError) in
      let from = try place(arguments.next("where the arrow begins: a point, as X,Y, or an object").text)
      return LineEnds(from: from, to: try place(arguments.next("where the arrow ends: a point or an object").text))
    } json: { (fields) throws(CommandError) in
      LineEnds(from: try place(fields, "from", "start"), to: try place(fields, "to", "end"))
    }
  }

  private static func place(_ word: String) throws(CommandError) -> LineEnds.Place {
    word.contains(",") ? .point(try TextCommandParser.point(word)) : .object(try CommandParser.reference(word))
  }

  private static func place(_ fields: JSONFields, _ object: String, _ point: String) throws(CommandError)
    -> LineEnds.Place
  {
    switch (try fields.referenceIfAny(object), try fields.pointIfAny(point)) {
    case (let reference?, nil): return .object(reference)
    case (nil, let place?): return .point(place)
    case (nil, nil): throw CommandError(.missingArgument, "give \"\(object)\" (an object) or \"\(point)\" ([x,y])")
    case (_?, _?): throw CommandError(.badArgument, "give \"\(object)\" or \"\(point)\", not both")
    }
  }
}

extension Parameter where Value == [StyleChange] {
  /// One or more properties, written in a line as `word=value`, and in JSON with the keys of objects.
  fileprivate static var style: Parameter {
    Parameter(
      StyleField.all.map { "[\($0.word)=…]" }.joined(separator: " "),
      StyleField.all.map { ($0.key, $0.kind) },
      options: StyleField.all.map { .value($0.word) }
    ) { (arguments) throws(CommandError) in
      var changes: [StyleChange] = []
      for field in StyleField.all {
        if let value = arguments.value(field.word) { changes.append(try field.change(value)) }
      }
      return try checked(changes)
    } json: { (fields) throws(CommandError) in
      var changes: [StyleChange] = []
      for field in StyleField.all where fields.has(field.key) {
        switch field.kind {
        case .flag: changes.append(try field.change(fields.flag(field.key) ? "yes" : "no"))
        case .number: changes.append(try field.change("\(try fields.number(field.key))"))
        default: changes.append(try field.change(fields.string(field.key)))
        }
      }
      return try checked(changes)
    }
  }

  private static func checked(_ changes: [StyleChange]) throws(CommandError) -> [StyleChange] {
    guard !changes.isEmpty else {
      throw CommandError(.missingArgument, "give what to change, such as fill=#FFEC99 or line=dashed; see `help style`")
    }
    return changes
  }
}

private struct StyleField: Sendable {
  let word: String
  let key: String
  let kind: JSONKind
  let change: @Sendable (String) throws(CommandError) -> StyleChange

  static let all: [StyleField] = [
    choice("form", "form", DrawingForm.allCases, \.name) { .form($0) }, color("fill", "fill") { .fill($0) },
    color("color", "color") { .color($0) },
    number("width", "lineWidth") { (width) throws(CommandError) in
      .lineWidth(try CommandLimits.checkedWidth(width, key: "the width"))
    }, choice("line", "lineStyle", LineStyle.allCases, \.name) { .lineStyle($0) },
    choice("start", "lineStart", LineEnd.allCases, \.name) { .start($0) },
    choice("end", "lineEnd", LineEnd.allCases, \.name) { .end($0) }, flag("curve", "isCurved") { .isCurved($0) },
    number("size", "textSize") { (size) throws(CommandError) in
      guard size >= BoardLimits.leastTextSize, size <= BoardLimits.textSize else {
        throw CommandError(.badArgument, "the size of text is a number from 1 to 1024, like 24")
      }
      return .textSize(size)
    }, choice("font", "typeface", Typeface.allCases, \.name) { .typeface($0) },
    choice("align", "alignment", TextAlignment.allCases, \.name) { .alignment($0) },
    flag("bold", "isBold") { .isBold($0) }, flag("italic", "isItalic") { .isItalic($0) },
    color("text", "textColor") { .textColor($0) },
    number("opacity", "opacity") { (opacity) throws(CommandError) in
      guard opacity >= 0, opacity <= 1 else {
        throw CommandError(.badArgument, "the opacity is a number from 0 to 1, like 0.5")
      }
      return .opacity(opacity)
    },
  ]

  private static func choice<Value: Sendable>(
    _ word: String,
    _ key: String,
    _ values: [Value],
    _ name: @escaping @Sendable (Value) -> String,
    _ change: @escaping @Sendable (Value) -> StyleChange
  ) -> StyleField {
    StyleField(word: word, key: key, kind: .string) { (text) throws(CommandError) in
      guard let value = values.first(where: { name($0) == text }) else {
        let names = values.map(name).joined(separator: ", ")
        throw CommandError(
          .badArgument,
          "\(UntrustedText(text).quoted()) is not a value of \(word); give one of \(names)"
        )
      }
      return change(value)
    }
  }

  private static func color(_ word: String, _ key: String, _ change: @escaping @Sendable (UInt32?) -> StyleChange)
    -> StyleField
  {
    StyleField(word: word, key: key, kind: .string) { (text) throws(CommandError) in
      change(try CommandParser.color(text))
    }
  }

  private static func flag(_ word: String, _ key: String, _ change: @escaping @Sendable (Bool) -> StyleChange)
    -> StyleField
  {
    StyleField(word: word, key: key, kind: .flag) { (text) throws(CommandError) in
      guard ["yes", "no"].contains(text) else { throw CommandError(.badArgument, "\(word) must be yes or no") }
      return change(text == "yes")
    }
  }

  private static func number(
    _ word: String,
    _ key: String,
    _ change: @escaping @Sendable (Double) throws(CommandError) -> StyleChange
  ) -> StyleField {
    StyleField(word: word, key: key, kind: .number) { (text) throws(CommandError) in
      try change(TextCommandParser.number(text) ?? .nan)
    }
  }
}

extension Command {
  /// Adds a form other than a line or arrow, with its center at a point.
  ///
  /// An empty label means no label, and a nil size means the default size of the form.
  public static func shape(
    _ form: DrawingForm,
    at point: BoardPoint,
    size: BoardPoint? = nil,
    label: String = "",
    fill: UInt32? = nil,
    pen: Pen = .form,
    alias: ObjectAlias? = nil
  ) -> Command {
    let spec: FormCommands.Shape =
      switch form {
      case .ellipse: FormCommands.ellipse
      case .diamond: FormCommands.diamond
      case .note: FormCommands.note
      case .frame: FormCommands.frame
      default: FormCommands.rect
      }
    return spec(point, size, label, fill, pen, alias)
  }

  /// Adds a straight line through the points.
  public static func line(_ points: [BoardPoint], pen: Pen = .form, alias: ObjectAlias? = nil) -> Command {
    FormCommands.line(points, "", pen, alias)
  }

  /// Adds an arrow from one point to another. If `connects` is true, each end is bound to the object in which the end
  /// lies.
  public static func arrow(from: BoardPoint, to: BoardPoint, connects: Bool, pen: Pen = .form) -> Command {
    FormCommands.arrow(LineEnds(from: .point(from), to: .point(to)), connects, "", pen, nil)
  }

  /// Replaces the label of a shape, line or arrow, or the words of a text.
  public static func label(_ object: ObjectReference, words: String) -> Command { FormCommands.label(object, words) }

  /// Replaces the points of a line or arrow.
  public static func points(_ points: [BoardPoint], of object: ObjectReference) -> Command {
    FormCommands.points(object, points)
  }

  /// Changes how objects are drawn; an object ignores the properties that it does not have.
  public static func style(_ objects: [ObjectReference], _ changes: [StyleChange]) -> Command {
    FormCommands.style(objects, changes)
  }

  /// Gives a shape, text or photo another width and height.
  ///
  /// `center` is the new center; nil keeps the present center.
  public static func resize(_ object: ObjectReference, to size: BoardPoint, center: BoardPoint? = nil) -> Command {
    FormCommands.resize(object, size, center)
  }
}

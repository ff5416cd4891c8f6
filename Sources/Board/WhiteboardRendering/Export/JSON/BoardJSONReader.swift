import PeerCore
import Whiteboard

/// A reader of boards as JSON. Errors name the path of the value that is not valid.
struct BoardJSONReader {
  private var result = ImportedBoard()
  private var groups: [String: Int] = [:]
  /// The indexes of the imported objects, by id.
  private var indexes: [String: Int] = [:]
  /// The objects that refer to other objects, with their indexes.
  private var references: [(index: Int, fields: Fields)] = []
  private var invalidLinks = 0
  private let hash: ([UInt8]) -> AssetID?
  private let photo: ([UInt8]) -> [UInt8]?

  static func read(
    _ tree: JSONTree,
    hash: @escaping ([UInt8]) -> AssetID?,
    photo: @escaping ([UInt8]) -> [UInt8]?
  ) throws(ImportError) -> ImportedBoard {
    guard let version = tree["version"]?.number, version >= 1 else {
      throw .wrongValue("version", expected: "a number of at least 1")
    }
    guard version <= Double(BoardJSON.version) else { throw .newerVersion }
    guard let objects = tree["objects"]?.list else { throw .wrongValue("objects", expected: "a list of objects") }
    guard objects.count <= BoardLimits.objects else { throw .tooManyObjects }
    var reader = BoardJSONReader(hash: hash, photo: photo)
    reader.readSettings(tree["board"])
    reader.readPhotos(tree["assets"])
    for (index, object) in objects.enumerated() { try reader.read(Fields(object, path: "objects[\(index)]")) }
    for (index, fields) in reader.references { try reader.connect(index, fields) }
    if reader.invalidLinks > 0 {
      let links = reader.invalidLinks == 1 ? "1 link is" : "\(reader.invalidLinks) links are"
      reader.result.warnings.append("\(links) left out, because a link must begin with https:// or name an object")
    }
    return reader.result
  }

  private init(hash: @escaping ([UInt8]) -> AssetID?, photo: @escaping ([UInt8]) -> [UInt8]?) {
    self.hash = hash
    self.photo = photo
  }

  private mutating func readSettings(_ board: JSONTree?) {
    result.settings = BoardSettings(
      title: board?["title"]?.string.flatMap { $0.utf8.count <= BoardLimits.titleBytes ? $0 : nil },
      background: board?["background"]?.string.flatMap(ColorNames.color),
      grid: board?["grid"]?.number.flatMap { $0 > 0 && $0 <= BoardLimits.grid ? $0 : nil },
      language: board?["language"]?.string
    )
  }

  private mutating func readPhotos(_ assets: JSONTree?) {
    for (name, value) in (assets?.members ?? [:]).sorted(by: { $0.key < $1.key }) {
      do throws(PhotoError) {
        guard let bytes = value.string.flatMap(Base64.decode).flatMap(photo) else { throw .malformed }
        let reference = try result.keep(bytes, hash: hash)
        guard reference.id.description == name else {
          result.photos[reference.id] = nil
          throw .malformed
        }
      } catch { result.warnings.append("the photo \(UntrustedText(name).escaped(limit: 64)) is damaged in the file") }
    }
  }

  private mutating func read(_ fields: Fields) throws(ImportError) {
    let type = try fields.string("type")
    let center = try fields.point("centerPosition")
    var draft: ObjectDraft
    switch type {
    case "text":
      let text = result.fitting(try fields.string("text"))
      draft = ObjectDraft(.text(text, size: try fields.size("size")), at: center)
    case "drawing" where fields.tree["form"] != nil: draft = try form(fields, center)
    case "drawing":
      guard let drawing = try drawing(fields, center) else {
        result.warnings.append("\(fields.path) is left out: the drawing has no points")
        return
      }
      draft = drawing
    case "photo":
      draft = ObjectDraft(.photo(try asset(fields), size: try fields.size("size")), at: center)
      draft.crop = try fields.part("crop")
      draft.isFlippedHorizontally = try fields.flagIfAny("isFlippedHorizontally") ?? false
      draft.isFlippedVertically = try fields.flagIfAny("isFlippedVertically") ?? false
    case "game":
      guard let game = try game(fields, try fields.size("size")) else { return }
      draft = ObjectDraft(game, at: center)
    default:
      let shown = UntrustedText(type).quoted()
      result.warnings.append("\(fields.path) is left out: type \(shown) is not supported")
      return
    }
    draft.scale = try fields.number("scale", within: BoardLimits.leastScale...BoardLimits.greatestScale)
    draft.angle = try fields.number("angle", within: -1e6...1e6)
    draft.color = try fields.color("color")
    draft.isLocked = try fields.flagIfAny("isLocked") ?? false
    draft.group = result.group(try fields.stringsIfAny("groups") ?? [], &groups)
    draft.style = try style(fields, of: draft)
    if let id = fields.tree["id"]?.string { indexes[id] = result.objects.count }
    if ["startBinding", "endBinding", "frame", "link"].contains(where: { fields.tree[$0] != nil }) {
      references.append((result.objects.count, fields))
    }
    result.objects.append(draft)
  }

  private mutating func form(_ fields: Fields, _ center: Point) throws(ImportError) -> ObjectDraft {
    let name = try fields.string("form")
    guard let form = DrawingForm(name: name) else {
      throw fields.wrong("form", DrawingForm.allCases.map { $0.name }.joined(separator: ", "))
    }
    let width = try fields.number("lineWidth", within: 1.0 / 128...BoardLimits.lineWidth)
    let points = form.hasPoints ? try fields.points("points") : []
    guard !form.hasPoints || (1...BoardLimits.pointCells).contains(points.count) else {
      throw fields.wrong("points", "a list of 1 to \(BoardLimits.pointCells) points")
    }
    // The size of a line follows from its points, and can exceed the board's coordinates.
    let size = form.hasPoints ? Size(width: 0, height: 0) : try fields.size("size")
    let label = result.fitting(fields.tree["text"]?.string ?? "")
    return ObjectDraft(.form(form, size: size, points: points, label: label, lineWidth: width), at: center)
  }

  private func style(_ fields: Fields, of draft: ObjectDraft) throws(ImportError) -> ObjectStyle? {
    var form: DrawingForm?
    if case .form(let known, _, _, _, _) = draft.content { form = known }
    var style = ObjectStyle(form: form)
    if let fill = try fields.color("fill") { style.fill = fill }
    style.textColor = try fields.color("textColor")
    let (line, heads) = (LineStyle.allCases, LineEnd.allCases)
    if let word = try fields.word("lineStyle", of: line.map { $0.name }) { style.lineStyle = line[word] }
    if let word = try fields.word("lineStart", of: heads.map { $0.name }) { style.start = heads[word] }
    if let word = try fields.word("lineEnd", of: heads.map { $0.name }) { style.end = heads[word] }
    let (faces, sides) = (Typeface.allCases, TextAlignment.allCases)
    if let word = try fields.word("typeface", of: faces.map { $0.name }) { style.typeface = faces[word] }
    if let word = try fields.word("alignment", of: sides.map { $0.name }) { style.alignment = sides[word] }
    if fields.tree["opacity"] != nil { style.opacity = try fields.number("opacity", within: 0...1) }
    if fields.tree["textSize"] != nil {
      style.textSize = try fields.number("textSize", within: BoardLimits.leastTextSize...BoardLimits.textSize)
    }
    style.isCurved = try fields.flagIfAny("isCurved") ?? false
    style.isBold = try fields.flagIfAny("isBold") ?? false
    style.isItalic = try fields.flagIfAny("isItalic") ?? false
    style.isAutoWidth = try fields.flagIfAny("isAutoWidth") ?? false
    return style == ObjectStyle(form: form) ? nil : style
  }

  /// Connects an object to other objects; an end that was bound to an object outside the file stays where it is.
  private mutating func connect(_ index: Int, _ fields: Fields) throws(ImportError) {
    result.objects[index].start = try end("startBinding", fields)
    result.objects[index].end = try end("endBinding", fields)
    result.objects[index].frameIndex = fields.tree["frame"]?.string.flatMap { indexes[$0] }
    guard let value = fields.tree["link"] else { return }
    if let link = value.string, link.hasPrefix("#"), let object = indexes[String(link.dropFirst())] {
      result.objects[index].linkedObject = object
    } else if let link = value.string, ObjectLink.isValid(link) {
      // A link to an object outside the file can lead to an object of the board.
      result.objects[index].link = link
    } else {
      invalidLinks += 1
    }
  }

  private func end(_ key: String, _ fields: Fields) throws(ImportError) -> ObjectDraft.End? {
    guard let value = fields.tree[key] else { return nil }
    let binding = try Fields(value, path: "\(fields.path).\(key)")
    let anchor = try binding.point("anchor")
    let isExact = try binding.flagIfAny("isExact") ?? false
    return indexes[try binding.string("id")].map { ObjectDraft.End($0, at: anchor, isExact: isExact) }
  }

  private func drawing(_ fields: Fields, _ center: Point) throws(ImportError) -> ObjectDraft? {
    let points = try fields.points("points")
    guard !points.isEmpty else { return nil }
    let pressures = try fields.pressures(count: points.count)
    let width = try fields.number("lineWidth", within: 1.0 / 128...BoardLimits.lineWidth)
    guard let (ink, place) = ImportedInk.points(points, pressures: pressures, around: center) else {
      throw fields.wrong("points", "points on the board")
    }
    let erased = try fields.spans("erased", count: points.count)
    return ObjectDraft(.drawing(ink, lineWidth: width, erased: erased), at: place)
  }

  private func asset(_ fields: Fields) throws(ImportError) -> AssetReference {
    guard let id = AssetID(hex: try fields.string("sha256")) else {
      throw fields.wrong("sha256", "64 hexadecimal digits")
    }
    let format: PhotoFormat
    switch try fields.string("format") {
    case PhotoFormat.jpeg.name: format = .jpeg
    case PhotoFormat.png.name: format = .png
    default: throw fields.wrong("format", "jpeg or png")
    }
    // A side of a photo can have more pixels than a board has units, so the size in pixels is not read as a point.
    let pixels = fields.tree["pixelSize"]?.numbers ?? []
    let bytes = try fields.number("byteCount", within: 1...Double(BoardLimits.photoBytes))
    guard pixels.count == 2, let width = Int(exactly: pixels[0]), let height = Int(exactly: pixels[1]),
      let count = Int(exactly: bytes), let header = try? PhotoHeader(format: format, width: width, height: height),
      let reference = try? AssetReference(id: id, byteCount: count, header: header)
    else { throw fields.wrong("pixelSize", "the size of a photo that a board accepts") }
    return reference
  }

  private mutating func game(_ fields: Fields, _ size: Size) throws(ImportError) -> ObjectDraft.Content? {
    guard let name = fields.tree["game"]?["game"]?.string,
      let setup = fields.tree["setup"]?.string.flatMap(Base64.decode), name.utf8.count <= BoardLimits.gameNameBytes,
      setup.count <= BoardLimits.setupBytes
    else {
      result.warnings.append("\(fields.path) is left out: the setup of the game is missing or not valid")
      return nil
    }
    return .game(name, setup: setup, size: size)
  }
}

/// The members of a JSON object in a board file; each accessor checks the type and range of its value.
struct Fields {
  let tree: JSONTree
  let path: String

  init(_ tree: JSONTree, path: String) throws(ImportError) {
    guard tree.members != nil else { throw .wrongValue(path, expected: "an object") }
    self.tree = tree
    self.path = path
  }

  func wrong(_ key: String, _ expected: String) -> ImportError { .wrongValue("\(path).\(key)", expected: expected) }

  func string(_ key: String) throws(ImportError) -> String {
    guard let string = tree[key]?.string else { throw wrong(key, "a string") }
    return string
  }

  func number(_ key: String, within range: ClosedRange<Double>) throws(ImportError) -> Double {
    guard let number = tree[key]?.number, range.contains(number) else {
      throw wrong(key, "a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func flagIfAny(_ key: String) throws(ImportError) -> Bool? {
    guard let value = tree[key] else { return nil }
    guard let flag = value.flag else { throw wrong(key, "true or false") }
    return flag
  }

  func stringsIfAny(_ key: String) throws(ImportError) -> [String]? {
    guard let value = tree[key] else { return nil }
    guard let strings = value.strings else { throw wrong(key, "a list of strings") }
    return strings
  }

  func color(_ key: String) throws(ImportError) -> UInt32? {
    guard let value = tree[key] else { return nil }
    guard let color = value.string.flatMap(ColorNames.color) else { throw wrong(key, "a color like #3060c0ff") }
    return color
  }

  func word(_ key: String, of words: [String]) throws(ImportError) -> Int? {
    guard let value = tree[key] else { return nil }
    guard let index = words.firstIndex(where: { $0 == value.string }) else {
      throw wrong(key, words.joined(separator: ", "))
    }
    return index
  }

  func point(_ key: String) throws(ImportError) -> Point {
    guard let pair = tree[key]?.numbers, let point = Self.point(pair) else {
      throw wrong(key, "a point [x,y] on the board")
    }
    return point
  }

  func size(_ key: String) throws(ImportError) -> Size {
    guard let pair = tree[key]?.numbers, let point = Self.point(pair), point.x >= 0, point.y >= 0 else {
      throw wrong(key, "a size [width,height]")
    }
    return Size(width: point.x, height: point.y)
  }

  func points(_ key: String) throws(ImportError) -> [Point] {
    guard let list = tree[key]?.list, list.count <= BoardLimits.pointsPerStroke else {
      throw wrong(key, "a list of at most \(BoardLimits.pointsPerStroke) points")
    }
    // An offset in a stroke can be as large as the width of a board.
    let limit = BoardLimits.coordinate * 2
    let points = list.compactMap { offset -> Point? in
      guard let pair = offset.numbers, pair.count == 2, pair.allSatisfy({ abs($0) <= limit }) else { return nil }
      return Point(x: pair[0], y: pair[1])
    }
    guard points.count == list.count else { throw wrong(key, "a list of points [x,y]") }
    return points
  }

  func pressures(count: Int) throws(ImportError) -> [UInt8] {
    guard let value = tree["pressures"] else { return [] }
    let pressures = value.numbers?.compactMap { UInt8(exactly: $0) }
    guard let pressures, pressures.count == count else {
      throw wrong("pressures", "a whole number from 0 to 255 for each point")
    }
    return pressures
  }

  /// The value is a list of `[from,to]`, where both numbers are positions along the stroke, counted in points.
  func spans(_ key: String, count: Int) throws(ImportError) -> StrokeSpans {
    guard let value = tree[key] else { return StrokeSpans() }
    let end = Double(max(1, (count - 1) * StrokeSpans.steps))
    let spans = value.list?.compactMap { span -> ClosedRange<Int>? in
      guard let ends = span.numbers, ends.count == 2 else { return nil }
      let (from, to) = (ends[0] * Double(StrokeSpans.steps), ends[1] * Double(StrokeSpans.steps))
      guard from >= 0, from < to, to <= end else { return nil }
      return Int(from.rounded())...Int(to.rounded())
    }
    guard let spans, spans.count == value.list?.count, spans.count <= BoardLimits.erasureSpans else {
      throw wrong(key, "a list of parts [from,to] of the stroke")
    }
    return StrokeSpans(spans)
  }

  func part(_ key: String) throws(ImportError) -> Rectangle? {
    guard let value = tree[key] else { return nil }
    guard let sides = value.numbers, sides.count == 4, sides.allSatisfy((0...1).contains), sides[0] < sides[2],
      sides[1] < sides[3]
    else { throw wrong(key, "a list [left,top,right,bottom] of parts of the picture") }
    return Rectangle(Point(x: sides[0], y: sides[1]), Point(x: sides[2], y: sides[3]))
  }

  private static func point(_ pair: [Double]) -> Point? {
    let range = -BoardLimits.coordinate..<BoardLimits.coordinate
    guard pair.count == 2, pair.allSatisfy(range.contains) else { return nil }
    return Point(x: pair[0], y: pair[1])
  }
}

import PeerCore
import Whiteboard

/// A reader of drawings and libraries of Excalidraw. An element that cannot be read is left out; the other elements are
/// imported. Everything that is left out or changed is reported by kind and number.
struct ExcalidrawReader {
  /// The elements that are read together; ids are unique in them.
  private struct Scope {
    /// The texts in shapes, by the id of the shape.
    var labels: [String: ExcalidrawElement] = [:]
    /// The shapes with a text at their top or bottom, by id. Such a text becomes an object of its own.
    var titled: [String: ExcalidrawElement] = [:]
    var objects: [String: Int] = [:]
    /// The indexes of the objects that belong to frames, or link to other objects, with the ids of the frames or link
    /// targets.
    var (members, links): ([(index: Int, id: String)], [(index: Int, id: String)]) = ([], [])
    /// The lines whose ends can be bound, with the indexes of their objects.
    var lines: [(index: Int, element: ExcalidrawElement)] = []
    /// The name of the group that contains everything; nil without such a group.
    var group: String?
  }

  private var result = ImportedBoard()
  private var groups: [String: Int] = [:]
  private var reports: [String: Int] = [:]
  /// The ways in which imported elements look or behave a little differently, each with the number of elements.
  private var remarks: [String: Int] = [:]
  private var scope = Scope()
  private let files: JSONTree?
  private let hash: ([UInt8]) -> AssetID?
  private let photo: ([UInt8]) -> [UInt8]?
  private static let gap = 40.0

  static func read(
    _ tree: JSONTree,
    hash: @escaping ([UInt8]) -> AssetID?,
    photo: @escaping ([UInt8]) -> [UInt8]?
  ) throws(ImportError) -> ImportedBoard {
    var reader = ExcalidrawReader(files: tree["files"], hash: hash, photo: photo)
    if tree["type"]?.string == Excalidraw.typeOfLibraries {
      guard let items = tree["libraryItems"]?.list ?? tree["library"]?.list else {
        throw .wrongValue("libraryItems", expected: "a list of items")
      }
      try reader.read(items: items.map { $0["elements"]?.list ?? $0.list ?? [] })
    } else {
      guard let elements = tree["elements"]?.list else { throw .wrongValue("elements", expected: "a list of elements") }
      let isShort = tree["type"]?.string == Excalidraw.typeOfSkeletons
      if isShort || elements.contains(where: ExcalidrawSkeletons.isSkeleton) {
        let skeletons = ExcalidrawSkeletons(elements)
        for report in skeletons.reports { reader.report(report) }
        try reader.read(skeletons.elements)
      } else {
        try reader.read(elements)
      }
    }
    for (report, count) in reader.reports.sorted(by: { $0.key < $1.key }) {
      reader.result.warnings.append("\(report): \(count)")
    }
    reader.result.remarks = reader.remarks.sorted { $0.key < $1.key }.map { "\($0): \($1)" }
    // Boards have a white background by default.
    if let background = tree["appState"]?["viewBackgroundColor"]?.string.flatMap(ColorNames.color),
      background != 0xFFFF_FFFF, background & 0xFF != 0
    {
      reader.result.settings.background = background
    }
    if tree["appState"]?["gridModeEnabled"]?.flag == true, let grid = tree["appState"]?["gridSize"]?.number, grid > 0,
      grid <= BoardLimits.grid
    {
      reader.result.settings.grid = grid
    }
    return reader.result
  }

  private init(files: JSONTree?, hash: @escaping ([UInt8]) -> AssetID?, photo: @escaping ([UInt8]) -> [UInt8]?) {
    self.files = files
    self.hash = hash
    self.photo = photo
  }

  private mutating func report(_ what: String) { reports[what, default: 0] += 1 }

  private mutating func remark(_ what: String) { remarks[what, default: 0] += 1 }

  /// Reads the items of a library. Each item becomes a group, and the groups are placed side by side.
  private mutating func read(items: [[JSONTree]]) throws(ImportError) {
    var right: Double?
    for (number, elements) in items.enumerated() {
      scope = Scope()
      scope.group = "item \(number)"
      let (first, outer, photos) = (result.objects.count, result.groups.count, result.photos)
      try read(elements)
      let bounds = result.objects[first...].reduce(Rectangle?.none) { $0?.union($1.bounds) ?? $1.bounds }
      guard let bounds else { continue }
      // The items fit side by side in any order if none is larger than its share of the board.
      let (width, height) = (bounds.greatest.x - bounds.least.x, bounds.greatest.y - bounds.least.y)
      guard width + Self.gap < BoardLimits.coordinate / Double(items.count), height < BoardLimits.coordinate else {
        result.objects.removeSubrange(first...)
        result.groups.removeSubrange(outer...)
        result.photos = photos
        report("items that are too large, because their elements are far apart, are left out")
        continue
      }
      let offset = Point(x: (right.map { $0 + Self.gap } ?? 0) - bounds.least.x, y: -bounds.least.y)
      for index in first..<result.objects.count { result.objects[index].move(by: offset) }
      right = bounds.greatest.x + offset.x
    }
  }

  private mutating func read(_ elements: [JSONTree]) throws(ImportError) {
    guard elements.count <= BoardLimits.objects else { throw .tooManyObjects }
    let elements = elements.filter { $0["isDeleted"]?.flag != true }.map { ExcalidrawElement($0) }
    var containers: [String: ExcalidrawElement] = [:]
    for element in elements where Self.canHaveLabel(element) { element.id.map { containers[$0] = element } }
    for element in elements {
      guard element.type == "text", let id = element.tree["containerId"]?.string, let container = containers[id],
        scope.labels[id] == nil, scope.titled[id] == nil
      else { continue }
      if element.isAtSide(of: container) { scope.titled[id] = container } else { scope.labels[id] = element }
    }
    for element in elements { read(element) }
    for line in scope.lines { bind(line.index, line.element) }
    for (index, id) in scope.members { result.objects[index].frameIndex = scope.objects[id] }
    for (index, id) in scope.links {
      result.objects[index].linkedObject = scope.objects[id]
      if scope.objects[id] == nil { report("links to elements that are not in the file are left out") }
    }
    guard result.objects.count <= BoardLimits.objects else { throw .tooManyObjects }
  }

  private static func canHaveLabel(_ element: ExcalidrawElement) -> Bool {
    ["rectangle", "diamond", "ellipse", "arrow", "line"].contains(element.type) && element.box != nil
      && (element.type != "arrow" && element.type != "line" || (element.points?.count ?? 0) > 1)
  }

  private mutating func read(_ element: ExcalidrawElement) {
    guard let box = element.box else {
      report("elements of type \(element.shownType) have no position on the board and are left out")
      return
    }
    if element.hasUnknownColor { report("colors that are not known are replaced") }
    if let data = element.tree["customData"]?.members, data.contains(where: { $0.key != "whiteboard" }) {
      remark("data that other programs added to elements is left out")
    }
    switch element.type {
    case "text": read(text: element, box)
    case "image": read(image: element, box)
    case "rectangle", "diamond", "ellipse": read(shape: element, box)
    case "embeddable", "iframe":
      report("embedded pages become rectangles")
      read(shape: element, box)
    case "line", "arrow": read(line: element, box)
    case "freedraw": read(ink: element, box)
    case "frame", "magicframe": read(frame: element, box)
    default: report("elements of type \(element.shownType) are not supported and are left out")
    }
  }

  private mutating func add(_ draft: ObjectDraft, _ element: ExcalidrawElement) {
    var draft = draft
    draft.angle = element.angle
    draft.isLocked = element.tree["locked"]?.flag ?? false
    if element.opacity < 1 {
      var style = draft.style ?? ObjectStyle()
      style.opacity = element.opacity
      draft.style = style
    }
    var names = (element.tree["groupIds"]?.strings ?? []).map { "group \($0) of \(scope.group ?? "")" }
    if let frame = element.tree["frameId"]?.string { scope.members.append((result.objects.count, frame)) }
    switch element.link {
    case .object(let id): scope.links.append((result.objects.count, id))
    case .address(let address):
      draft.link = address
      if !ObjectLink.isValid(address) { report("links that do not begin with https:// are left out") }
    case nil: break
    }
    let titled = [element.id, element.tree["containerId"]?.string].compactMap { $0 }.first { scope.titled[$0] != nil }
    if let titled { names.insert("title of \(titled) of \(scope.group ?? "")", at: 0) }
    if let group = scope.group { names.append(group) }
    draft.group = result.group(names, &groups)
    if let id = element.id, scope.objects[id] == nil { scope.objects[id] = result.objects.count }
    result.objects.append(draft)
  }

  // MARK: - Shapes and lines

  /// Returns the style of a shape or line, and reports each difference from the file.
  private mutating func style(_ element: ExcalidrawElement, of form: DrawingForm) -> ObjectStyle {
    var style = ObjectStyle(form: form)
    style.fill = element.fill
    style.lineStyle = element.lineStyle
    if let fill = element.fill, let pattern = element.tree["fillStyle"]?.string, pattern != "solid" {
      // A pattern lets objects behind it show between its lines.
      let share: UInt32 = pattern == "cross-hatch" ? 3 : 2
      style.fill = fill & 0xFFFF_FF00 | max(fill & 0xFF * share / 4, 1)
      report("fills with a pattern become translucent")
    }
    if let roughness = element.tree["roughness"]?.number, roughness > 0 {
      remark("boards draw plain lines instead of sketchy ones")
    }
    return style
  }

  /// Returns whether the element can be seen, and reports an element that cannot.
  private mutating func isVisible(_ element: ExcalidrawElement, label: Bool = false, isPoint: Bool = false) -> Bool {
    let hasInk = !isPoint && (element.strokeColor & 0xFF != 0 || element.fill != nil)
    let isVisible = element.opacity > 0 && (hasInk || label)
    if !isVisible { report("invisible elements are left out") }
    return isVisible
  }

  private mutating func read(shape element: ExcalidrawElement, _ box: ExcalidrawElement.Box) {
    let isTitled = element.id.map { scope.titled[$0] != nil } ?? false
    // Excalidraw removes a shape that has neither a width nor a height.
    let isPoint = box.size.width == 0 && box.size.height == 0
    guard isVisible(element, label: isTitled || label(of: element) != nil, isPoint: isPoint) else { return }
    var form: DrawingForm =
      switch element.type {
      case "ellipse": .ellipse
      case "diamond": .diamond
      default: element.isRound ? .roundedRectangle : .rectangle
      }
    if element.type == "diamond", element.isRound { report("round corners of diamonds become sharp") }
    if element.own("form")?.string == DrawingForm.note.name { form = .note }
    var style = style(element, of: form)
    let text = addLabel(of: element, form, to: &style)
    // Excalidraw shows a shape without a width or a height as a line. On a board, the shape is as thin as possible.
    let least = 1 / FixedPoint.unit
    let size = Size(width: max(box.size.width, least), height: max(box.size.height, least))
    var draft = ObjectDraft(
      .form(form, size: size, points: [], label: text, lineWidth: element.lineWidth),
      at: box.center
    )
    draft.style = style
    draft.color = form == .note && element.strokeColor & 0xFF == 0 ? nil : element.ownColor
    add(draft, element)
  }

  private mutating func read(line element: ExcalidrawElement, _ box: ExcalidrawElement.Box) {
    guard var points = element.points, points.count > 1 else {
      report("elements of type \(element.shownType) have no valid points and are left out")
      return
    }
    guard isVisible(element, label: label(of: element) != nil) else { return }
    guard points.count <= BoardLimits.pointCells else {
      report("lines with more than \(BoardLimits.pointCells) points become freehand lines")
      return read(ink: element, box)
    }
    let form: DrawingForm = element.type == "arrow" && element.own("form")?.string != "line" ? .arrow : .line
    var style = style(element, of: form)
    style.isCurved = element.isRound || element.type == "freedraw"
    (style.start, style.end) = (.none, .none)
    if element.type == "arrow" {
      let (start, end) = (element.head("startArrowhead"), element.head("endArrowhead"))
      (style.start, style.end) = (start.end, end.end)
      for head in [start, end] where head.isChanged { report("arrowheads are replaced by similar ones") }
    }
    if element.fill != nil, let first = points.first, let last = points.last, points.count > 2,
      abs(first.x - last.x) < Self.closing, abs(first.y - last.y) < Self.closing
    {
      points[points.count - 1] = first
    }
    if element.tree["elbowed"]?.flag == true { remark("elbow arrows keep their corners when a shape moves") }
    let text = addLabel(of: element, form, to: &style)
    let outline = Outline(through: points, isCurved: style.isCurved)
    let middle = outline.flatMap { ExcalidrawElement.bounds($0.points())?.center } ?? box.center
    // Positions are multiples of 1/64, so that the points keep their distances.
    let center = Point(
      x: (middle.x * FixedPoint.unit).rounded() / FixedPoint.unit,
      y: (middle.y * FixedPoint.unit).rounded() / FixedPoint.unit
    )
    let offsets = points.map { Point(x: $0.x - center.x, y: $0.y - center.y) }
    var draft = ObjectDraft(
      .form(form, size: Size(width: 0, height: 0), points: offsets, label: text, lineWidth: element.lineWidth),
      at: center
    )
    draft.style = style
    draft.color = element.ownColor
    scope.lines.append((result.objects.count, element))
    add(draft, element)
  }

  /// Excalidraw closes a filled line whose ends are closer than this distance.
  private static let closing = 8.0

  // MARK: - Bound ends

  private mutating func bind(_ index: Int, _ element: ExcalidrawElement) {
    guard case .form(_, _, let points, _, _) = result.objects[index].content, let center = result.objects[index].center
    else { return }
    let places = points.map { element.turned(Point(x: center.x + $0.x, y: center.y + $0.y), around: center) }
    let isElbowed = element.tree["elbowed"]?.flag == true
    result.objects[index].start = end(element.tree["startBinding"], places.first, from: places[1], isElbowed)
    result.objects[index].end = end(element.tree["endBinding"], places.last, from: places[places.count - 2], isElbowed)
  }

  private mutating func end(_ binding: JSONTree?, _ place: Point?, from: Point, _ isElbowed: Bool) -> ObjectDraft.End? {
    guard let name = binding?["elementId"]?.string, let place else { return nil }
    guard let index = scope.objects[name] else {
      report("ends of lines are bound to elements that are left out")
      return nil
    }
    let target = result.objects[index]
    if case .form(let form, _, _, _, _) = target.content, form.hasPoints {
      report("ends of lines are bound to elements that are left out")
      return nil
    }
    let (center, size) = target.frame
    guard size.width > 0, size.height > 0 else { return ObjectDraft.End(index, at: Point(x: 0, y: 0), isExact: false) }
    let rotation = Rotation(steps: (try? FixedPoint.angleSteps(target.angle)) ?? 0)
    /// Returns a position in the target, relative to its center, as fractions of half its width and half its height.
    func share(_ place: Point) -> Point {
      let (x, y) = (place.x - center.x, place.y - center.y)
      return Point(
        x: (x * rotation.cosine + y * rotation.sine) / target.scale / size.width,
        y: (y * rotation.cosine - x * rotation.sine) / target.scale / size.height
      )
    }
    let exact = ObjectDraft.End(index, at: share(place), isExact: true)
    if let fixed = binding?["fixedPoint"]?.numbers, fixed.count == 2,
      fixed.allSatisfy({ $0.magnitude < BoardLimits.coordinate }), let mode = binding?["mode"]?.string
    {
      return ObjectDraft.End(index, at: Point(x: fixed[0] - 0.5, y: fixed[1] - 0.5), isExact: mode == "inside")
    }
    let (x, y) = (place.x - from.x, place.y - from.y)
    let square = x * x + y * y
    guard !isElbowed, square > 0 else { return exact }
    // The end aims at the place on the extended line that is nearest to the middle of the target.
    let ahead = ((center.x - place.x) * x + (center.y - place.y) * y) / square
    let aim = share(Point(x: place.x + ahead * x, y: place.y + ahead * y))
    guard ahead > 0, abs(aim.x) < 0.45, abs(aim.y) < 0.45 else { return exact }
    if case .form(.diamond, _, _, _, _) = target.content, abs(aim.x) + abs(aim.y) > 0.45 { return exact }
    if case .form(.ellipse, _, _, _, _) = target.content, aim.x * aim.x + aim.y * aim.y > 0.2 { return exact }
    return ObjectDraft.End(index, at: aim, isExact: false)
  }

  // MARK: - Frames

  private mutating func read(frame element: ExcalidrawElement, _ box: ExcalidrawElement.Box) {
    if element.type == "magicframe" { report("magic frames become frames") }
    let least = 1 / FixedPoint.unit
    let size = Size(width: max(box.size.width, least), height: max(box.size.height, least))
    let name = result.fitting(element.tree["name"]?.string ?? "")
    let width = ObjectDefaults.formLineWidth
    add(ObjectDraft(.form(.frame, size: size, points: [], label: name, lineWidth: width), at: box.center), element)
  }

  // MARK: - Ink

  private mutating func read(ink element: ExcalidrawElement, _ box: ExcalidrawElement.Box) {
    guard let points = element.points else {
      report("elements of type \(element.shownType) have no valid points and are left out")
      return
    }
    if element.fill != nil, points.count > 2, let first = points.first, let last = points.last,
      abs(first.x - last.x) < Self.closing, abs(first.y - last.y) < Self.closing
    {
      guard points.count > BoardLimits.pointCells else {
        report("freehand lines with a fill become curves")
        return read(line: element, box)
      }
      report("freehand lines lose their fill")
    }
    guard element.strokeColor & 0xFF != 0, element.opacity > 0 else {
      report("invisible elements are left out")
      return
    }
    let whole = ExcalidrawElement.bounds(points)?.center ?? box.center
    let pressures = element.pressures(count: points.count)
    // Split a line that is too long into several strokes.
    for start in stride(from: 0, to: points.count, by: BoardLimits.pointsPerStroke) {
      let end = min(points.count, start + BoardLimits.pointsPerStroke)
      let piece = Array(points[start..<end])
      let middle = ExcalidrawElement.bounds(piece)?.center ?? box.center
      let stroke = ImportedInk.points(
        piece.map { Point(x: $0.x - middle.x, y: $0.y - middle.y) },
        pressures: pressures.isEmpty ? [] : Array(pressures[start..<end]),
        around: middle
      )
      if let stroke {
        var draft = ObjectDraft(
          .drawing(stroke.ink, lineWidth: element.lineWidth, erased: StrokeSpans()),
          at: element.angle == 0 ? stroke.center : element.turned(middle, around: whole)
        )
        draft.color = element.ownColor
        add(draft, element)
      } else {
        report("elements of type \(element.shownType) are outside the board and are left out")
      }
    }
  }

  // MARK: - Words

  private func label(of element: ExcalidrawElement) -> (element: ExcalidrawElement, text: String)? {
    guard let label = element.id.flatMap({ scope.labels[$0] }) else { return nil }
    let (shown, original) = (label.tree["text"]?.string, label.tree["originalText"]?.string)
    // Excalidraw breaks the text on a line into rows that fit the line. Boards do not.
    let isOnLine = element.type == "line" || element.type == "arrow"
    guard let text = isOnLine ? shown ?? original : original ?? shown,
      text.contains(where: { !$0.isWhitespace })
    else { return nil }
    return (label, text)
  }

  private mutating func addLabel(of element: ExcalidrawElement, _ form: DrawingForm, to style: inout ObjectStyle)
    -> String
  {
    guard let (label, text) = label(of: element) else { return "" }
    addLetters(of: label, to: &style)
    let room = (element.box?.size.width).flatMap { TextLayout.innerWidth(of: form, width: $0) }
    if let room { fitLetters(of: label, into: room, &style) }
    style.alignment = label.alignment ?? .center
    let isDefault =
      label.strokeColor == Excalidraw.plain || label.strokeColor == Excalidraw.letters(on: element.fill)
    style.textColor = isDefault ? nil : label.strokeColor
    return result.fitting(text)
  }

  /// The smallest factor by which letters are scaled down. Letters that would need a smaller factor keep their size.
  private static let leastShare = 0.6

  /// Reduces the text size of a label if its rows would not fit. The board lays out text in columns of fixed width, and
  /// most letters in Excalidraw are narrower than a column.
  private mutating func fitLetters(of label: ExcalidrawElement, into room: Double, _ style: inout ObjectStyle) {
    guard let rows = label.tree["text"]?.string?.split(whereSeparator: { $0.isNewline }) else { return }
    let columns = Double(BoardPicture.columns(rows.map(String.init)))
    guard columns * style.textSize / 2 > room else { return }
    let size = (room * 2 / columns * 64).rounded(.down) / 64
    guard size >= style.textSize * Self.leastShare, size >= BoardLimits.leastTextSize else { return }
    style.textSize = size
    remark("letters are a little smaller, so that their rows fit")
  }

  private mutating func addLetters(of element: ExcalidrawElement, to style: inout ObjectStyle) {
    let face = element.typeface
    if face.isChanged { report("typefaces are replaced by similar ones") }
    style.typeface = face.face
    style.textSize = element.textSize
    if element.losesRowHeight { report("lines of text are closer together") }
    style.isBold = element.own("isBold")?.flag ?? false
    style.isItalic = element.own("isItalic")?.flag ?? false
  }

  private mutating func read(text element: ExcalidrawElement, _ box: ExcalidrawElement.Box) {
    let container = element.tree["containerId"]?.string
    if let container, let label = scope.labels[container], label.id == element.id {
      if label.tree != element.tree { report("elements with the same id as another element are left out") }
      if !(element.tree["text"]?.string ?? "").contains(where: { !$0.isWhitespace }) {
        report("empty texts are left out")
      }
      return
    }
    let shown = element.tree["text"]?.string ?? ""
    let shape = container.flatMap { scope.titled[$0] }
    if shape != nil { report("texts at the top or bottom of a shape become separate texts in its group") }
    // If the shape of a text is missing, keep the line breaks that fit the text into the shape.
    let original = container != nil ? nil : element.tree["originalText"]?.string
    let words = original ?? shown
    guard words.contains(where: { !$0.isWhitespace }) else {
      report("empty texts are left out")
      return
    }
    guard element.strokeColor & 0xFF != 0, element.opacity > 0 else {
      report("invisible elements are left out")
      return
    }
    let text = result.fitting(words)
    var style = ObjectStyle()
    addLetters(of: element, to: &style)
    // Excalidraw leaves a distance of 5 units between a shape and its text.
    if let width = shape?.box?.size.width { fitLetters(of: element, into: width - 10, &style) }
    style.alignment = element.alignment ?? .left
    style.isAutoWidth = container == nil && element.tree["autoResize"]?.flag != false
    style.fill = element.own("fill")?.string.flatMap(ColorNames.color)
    // Letters on a board are wider than in most fonts. Widen the box so that a single line stays one line.
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let isBroken = !style.isAutoWidth && original != nil && shown != words
    if isBroken, element.own("size") == nil { fitLetters(of: element, into: box.size.width, &style) }
    let columns = Double(isBroken ? 4 : max(1, BoardPicture.columns(lines))) * style.textSize / 2
    let width = style.isAutoWidth ? columns : max(box.size.width, columns)
    let rows = Double(lines.count) * style.textSize
    let limit = BoardLimits.coordinate / 2
    var size = Size(
      width: min((width * 64).rounded(.up) / 64, limit),
      height: min(max(style.isAutoWidth ? 0 : box.size.height, rows), limit)
    )
    let own = element.own("size")?.numbers ?? []
    let isOwn = own.count == 2 && own.allSatisfy { $0 > 0 && $0 < limit }
    if isOwn { size = Size(width: own[0], height: own[1]) }
    // The side to which the text is aligned stays where it is.
    let shift: Double =
      switch isOwn ? .center : style.alignment {
      case .left: (size.width - box.size.width) / 2
      case .center: 0
      case .right: (box.size.width - size.width) / 2
      }
    let center = Point(x: box.center.x + shift, y: box.center.y)
    var draft = ObjectDraft(.text(text, size: size), at: element.turned(center, around: box.center))
    draft.style = style
    draft.color = element.ownColor
    add(draft, element)
  }

  // MARK: - Photos

  private mutating func read(image element: ExcalidrawElement, _ box: ExcalidrawElement.Box) {
    guard let id = element.tree["fileId"]?.string, let url = files?[id]?["dataURL"]?.string,
      let comma = url.firstIndex(of: ","), url[..<comma].hasSuffix(";base64"),
      let bytes = Base64.decode(url[url.index(after: comma)...])
    else {
      report("images without their file are left out")
      return
    }
    guard element.opacity > 0 else {
      report("invisible elements are left out")
      return
    }
    guard let bytes = photo(bytes) else { return }
    do throws(PhotoError) {
      let asset = try result.keep(bytes, hash: hash)
      var draft = ObjectDraft(.photo(asset, size: box.size), at: box.center)
      draft.crop = element.crop
      let scale = element.tree["scale"]?.numbers ?? []
      draft.isFlippedHorizontally = scale.first.map { $0 < 0 } ?? false
      draft.isFlippedVertically = scale.dropFirst().first.map { $0 < 0 } ?? false
      add(draft, element)
    } catch {
      report(
        error == .unknownFormat
          ? "images of an unsupported format are left out"
          : "images that are damaged or too large are left out"
      )
    }
  }
}

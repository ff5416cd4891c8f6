import PeerCore
import Whiteboard

/// A board as an Excalidraw drawing, in version 2 of its file format. Forms are shapes, lines and arrows with bound
/// texts, strokes are freehand lines, texts are texts, and photos are images with their files. Excalidraw has no
/// erasures and no games. A partly erased stroke becomes its remaining lines, and a game becomes text. Properties that
/// only this program has, such as bold letters, are stored in `customData`, so that an import restores them.
package enum ExcalidrawFile {
  package static func text(_ export: BoardExport) -> String {
    let writer = ExcalidrawWriter(export)
    var document = JSONObject()
    document.add("type", string: "excalidraw")
    document.add("version", 2)
    document.add("source", string: "whiteboard")
    document.add("elements", json: writer.list)
    var state = JSONObject()
    state.add("viewBackgroundColor", string: XML.color(export.picture.background ?? 0xFFFFFF))
    if let grid = export.settings.grid {
      state.add("gridSize", grid)
      state.add("gridModeEnabled", true)
    }
    document.add("appState", json: state.text)
    document.add("files", json: writer.files)
    return document.text + "\n"
  }

  /// Returns the text that is copied to the clipboard, for Excalidraw and for pages of this program. If all objects are
  /// texts, the result consists of their words. Otherwise, the result is a drawing that also contains the objects as
  /// JSON.
  package static func clipboard(_ export: BoardExport) -> String {
    let snapshots = export.snapshots
    if snapshots.allSatisfy({ $0.kind == .text }) { return snapshots.compactMap(\.text).joined(separator: "\n") }
    let writer = ExcalidrawWriter(export)
    var document = JSONObject()
    document.add("type", string: "excalidraw/clipboard")
    document.add("elements", json: writer.list)
    document.add("files", json: writer.files)
    document.add("whiteboard", json: BoardJSON.objects(export))
    return document.text
  }
}

/// The parts of the Excalidraw format that import and export share.
enum Excalidraw {
  /// The color of elements without a color of their own.
  static let plain: UInt32 = 0x1E1E_1EFF
  /// The ratio between the visible width of a freehand line and its `strokeWidth`.
  static let breadth = 4.25
  /// The distance between lines, as a multiple of the font size.
  static let lineHeight = 1.25
  static func font(_ typeface: Typeface) -> Double {
    switch typeface {
    case .plain: 2
    case .hand: 5
    case .code: 3
    }
  }

  static func head(_ end: LineEnd) -> String? {
    switch end {
    case .none: nil
    case .dot: "circle"
    case .arrow, .triangle, .bar: end.name
    }
  }

  static let typeOfLibraries = "excalidrawlib"
  /// The type of a document with elements of Excalidraw's programming interface, for example from a program that
  /// generates diagrams.
  static let typeOfSkeletons = "excalidraw-api/clipboard"

  /// Returns whether a document can be imported.
  static func isDrawing(_ tree: JSONTree) -> Bool {
    ["excalidraw", "excalidraw/clipboard", typeOfSkeletons, typeOfLibraries].contains(tree["type"]?.string)
  }

  /// The color of letters without a color of their own on a fill.
  static func letters(on fill: UInt32?) -> UInt32 {
    PageInk(paper: nil).over(PageColor(fill: fill)).plain == 0 ? plain : 0xFFFF_FFFF
  }
}

private struct ExcalidrawWriter {
  private(set) var elements: [String] = []
  private let picture: BoardPicture
  private var photos: [AssetID: AssetReference] = [:]
  /// The lines that are bound to each object, in the order of the lines.
  private var lines: [ObjectID: [ObjectID]] = [:]
  private let ids: Set<ObjectID>
  private var parts = 0

  init(_ export: BoardExport) {
    picture = export.picture
    ids = Set(picture.items.map(\.snapshot.id))
    for snapshot in picture.items.map(\.snapshot) {
      for binding in [snapshot.start, snapshot.end].compactMap({ $0 }) where ids.contains(binding.target) {
        lines[binding.target, default: []].append(snapshot.id)
      }
    }
    for item in picture.items { add(item) }
  }

  var list: String { elements.isEmpty ? "[]" : "[\n" + elements.joined(separator: ",\n") + "\n]" }

  var files: String {
    var json = JSONObject()
    for (id, asset) in photos.sorted(by: { $0.key < $1.key }) {
      guard let bytes = picture.photo(id) else { continue }
      let type = "image/\(asset.format.name)"
      var file = JSONObject()
      file.add("mimeType", string: type)
      file.add("id", string: id.description)
      file.add("dataURL", string: "data:\(type);base64,\(Base64.encode(bytes))")
      file.add("created", 1)
      json.add(id.description, json: file.text)
    }
    return json.text
  }

  private mutating func add(_ item: BoardCanvas.Item) {
    let snapshot = item.snapshot
    parts = 0
    switch snapshot.kind {
    case .text: add(BoardPicture.lines(of: snapshot), snapshot, original: snapshot.text ?? "")
    case .drawing:
      if let form = snapshot.form, let outline = snapshot.outline {
        add(form, outline, snapshot)
      } else {
        add(stroke: snapshot)
      }
    case .photo:
      guard let asset = snapshot.asset else { return }
      add(photo: asset, snapshot)
    case .game:
      guard let game = item.game else { return }
      let label = GamePanel.label(game, isASCII: false, naming: picture.name)
      let lines = label.lines.map { $0.map(\.text).joined() }
      add(lines, snapshot, original: lines.joined(separator: "\n"))
    default: break
    }
  }

  /// `own` contains the properties that Excalidraw does not have. These properties are added to the element's
  /// `customData`.
  private func element(
    _ type: String,
    of snapshot: ObjectSnapshot,
    corner: Point,
    size: Size,
    isTurned: Bool = true,
    strokeWidth: Double = 1,
    color: UInt32? = nil,
    fill: UInt32? = nil,
    roundness: Double? = nil,
    label: Bool = false,
    id: String? = nil,
    own: JSONObject? = nil
  ) -> JSONObject {
    let color = color ?? snapshot.color ?? Excalidraw.plain
    let isMain = id == nil && parts == 0
    var json = JSONObject()
    json.add("id", string: id ?? (isMain ? snapshot.id.description : "\(snapshot.id)-\(elements.count)"))
    json.add("type", string: type)
    json.add("x", Self.rounded(corner.x))
    json.add("y", Self.rounded(corner.y))
    json.add("width", Self.rounded(size.width))
    json.add("height", Self.rounded(size.height))
    json.add("angle", isTurned ? snapshot.angle : 0)
    json.add("strokeColor", string: Self.color(color))
    json.add("backgroundColor", string: fill.map(Self.color) ?? "transparent")
    json.add("fillStyle", string: "solid")
    json.add("strokeWidth", strokeWidth)
    json.add("strokeStyle", string: snapshot.style.lineStyle.name)
    json.add("roughness", 0)
    json.add("opacity", Self.percent(snapshot.style.opacity))
    json.add("groupIds", strings: snapshot.groups.map(\.description))
    json.add("frameId", string: snapshot.frame.flatMap { ids.contains($0) ? $0.description : nil })
    if let roundness {
      var round = JSONObject()
      round.add("type", roundness)
      json.add("roundness", json: round.text)
    } else {
      json.add("roundness", string: nil)
    }
    json.add("seed", Double(elements.count + 1))
    json.add("version", 1)
    json.add("versionNonce", Double(elements.count + 1))
    json.add("isDeleted", false)
    add(boundTo: isMain ? snapshot.id : nil, label: label, to: &json)
    json.add("updated", Double(snapshot.updatedAt))
    json.add("link", string: isMain ? link(of: snapshot) : nil)
    json.add("locked", snapshot.isLocked)
    if let own {
      var custom = JSONObject()
      custom.add("whiteboard", json: own.text)
      json.add("customData", json: custom.text)
    }
    return json
  }

  /// Excalidraw writes a link to an element as its own web address, followed by a query.
  private func link(of snapshot: ObjectSnapshot) -> String? {
    snapshot.link.map { link in ObjectLink.target(of: link).map { "https://excalidraw.com/?element=\($0)" } ?? link }
  }

  private func add(boundTo id: ObjectID?, label: Bool, to json: inout JSONObject) {
    func bound(_ type: String, _ id: String) -> String {
      var json = JSONObject()
      json.add("type", string: type)
      json.add("id", string: id)
      return json.text
    }
    var list = label ? id.map { [bound("text", Self.labelID($0))] } ?? [] : []
    for line in id.flatMap({ lines[$0] }) ?? [] { list.append(bound("arrow", line.description)) }
    if list.isEmpty { json.add("boundElements", string: nil) } else { json.add("boundElements", list: list) }
  }

  private mutating func append(_ json: JSONObject) {
    elements.append(json.text)
    parts += 1
  }

  private static func labelID(_ id: ObjectID) -> String { "\(id)-label" }

  private static func rounded(_ value: Double) -> Double { (value * 1024).rounded() / 1024 }

  /// Returns a color as `#rrggbb`, or as `#rrggbbaa` if it is translucent.
  private static func color(_ color: UInt32) -> String {
    if color & 0xFF == 0 { return "transparent" }
    let digits = String(color, radix: 16)
    let whole = String(repeating: "0", count: 8 - digits.count) + digits
    return "#" + (color & 0xFF == 0xFF ? String(whole.dropLast(2)) : whole)
  }

  /// Returns an opacity in percent, with enough digits to read the same opacity back.
  private static func percent(_ opacity: Double) -> Double {
    let whole = (opacity * 100).rounded()
    let isExact = (whole / 100 * 255).rounded() == (opacity * 255).rounded()
    return isExact ? whole : (opacity * 10_000).rounded() / 100
  }

  // MARK: - Words

  private mutating func add(_ lines: [String], _ snapshot: ObjectSnapshot, original: String) {
    guard !lines.isEmpty else { return }
    let (scale, style) = (snapshot.scale, snapshot.style)
    let textSize = style.textSize * scale
    let width = Double(BoardPicture.columns(lines)) * textSize / 2
    let height = Double(lines.count) * textSize
    let center = snapshot.centerPosition
    var own: JSONObject?
    if snapshot.kind == .text {
      own = letters(style)
      if !style.isAutoWidth {
        own.add("size", [snapshot.size.width * scale, snapshot.size.height * scale])
      }
      if let fill = style.fill { own.add("fill", string: Self.color(fill)) }
    }
    var json = element(
      "text",
      of: snapshot,
      corner: Point(x: center.x - width / 2, y: center.y - height / 2),
      size: Size(width: width, height: height),
      own: own
    )
    addWords(lines, original, textSize, style, to: &json)
    json.add("textAlign", string: style.alignment.name)
    json.add("verticalAlign", string: "top")
    json.add("containerId", string: nil)
    json.add("autoResize", style.isAutoWidth && snapshot.kind == .text)
    append(json)
  }

  private func letters(_ style: ObjectStyle) -> JSONObject? {
    guard style.isBold || style.isItalic else { return nil }
    var own = JSONObject()
    if style.isBold { own.add("isBold", true) }
    if style.isItalic { own.add("isItalic", true) }
    return own
  }

  private func addWords(
    _ lines: [String],
    _ original: String,
    _ textSize: Double,
    _ style: ObjectStyle,
    to json: inout JSONObject
  ) {
    json.add("fontSize", textSize / Excalidraw.lineHeight)
    json.add("fontFamily", Excalidraw.font(style.typeface))
    json.add("text", string: lines.joined(separator: "\n"))
    json.add("originalText", string: original)
    json.add("lineHeight", Excalidraw.lineHeight)
  }

  // MARK: - Forms

  private mutating func add(_ form: DrawingForm, _ outline: Outline, _ snapshot: ObjectSnapshot) {
    let (scale, style, center) = (snapshot.scale, snapshot.style, snapshot.centerPosition)
    let label = snapshot.text ?? ""
    if form == .frame { return add(frame: snapshot, named: label) }
    if form.hasPoints {
      addLine(form, outline, snapshot)
    } else {
      let size = Size(width: snapshot.size.width * scale, height: snapshot.size.height * scale)
      var own: JSONObject?
      if form == .note { own.add("form", string: form.name) }
      let json = element(
        form == .ellipse ? "ellipse" : form == .diamond ? "diamond" : "rectangle",
        of: snapshot,
        corner: Point(x: center.x - size.width / 2, y: center.y - size.height / 2),
        size: size,
        strokeWidth: (snapshot.lineWidth ?? ObjectDefaults.formLineWidth) * scale,
        color: form == .note ? 0 : nil,
        fill: style.fill,
        roundness: form == .roundedRectangle ? 3 : nil,
        label: !label.isEmpty,
        own: own
      )
      append(json)
    }
    guard let layout = TextLayout(snapshot) else { return }
    let box = Size(width: layout.size.width * scale, height: layout.size.height * scale)
    let middle = shown(layout.center, snapshot)
    var json = element(
      "text",
      of: snapshot,
      corner: Point(x: middle.x - box.width / 2, y: middle.y - box.height / 2),
      size: box,
      isTurned: !form.hasPoints,
      color: style.textColor ?? Excalidraw.letters(on: style.fill),
      id: Self.labelID(snapshot.id),
      own: letters(style)
    )
    addWords(layout.lines, label, style.textSize * scale, style, to: &json)
    json.add("textAlign", string: style.alignment.name)
    json.add("verticalAlign", string: "middle")
    json.add("containerId", string: snapshot.id.description)
    json.add("autoResize", true)
    append(json)
  }

  private mutating func add(frame snapshot: ObjectSnapshot, named name: String) {
    let (center, scale) = (snapshot.centerPosition, snapshot.scale)
    let size = Size(width: snapshot.size.width * scale, height: snapshot.size.height * scale)
    var json = element(
      "frame",
      of: snapshot,
      corner: Point(x: center.x - size.width / 2, y: center.y - size.height / 2),
      size: size,
      strokeWidth: 2
    )
    json.add("name", string: name.isEmpty ? nil : name)
    append(json)
  }

  private func shown(_ offset: Point, _ snapshot: ObjectSnapshot) -> Point {
    let rotation = snapshot.rotation
    return snapshot.shown(offset, sine: rotation.sine, cosine: rotation.cosine)
  }

  private mutating func addLine(_ form: DrawingForm, _ outline: Outline, _ snapshot: ObjectSnapshot) {
    let (scale, style) = (snapshot.scale, snapshot.style)
    let corners = snapshot.points ?? []
    guard let first = corners.first, let bounds = ExcalidrawElement.bounds(outline.points()) else { return }
    // Excalidraw rotates a line around the center of its box.
    let pivot = shown(bounds.center, snapshot)
    func place(_ point: Point) -> Point {
      Point(x: pivot.x + (point.x - bounds.center.x) * scale, y: pivot.y + (point.y - bounds.center.y) * scale)
    }
    let start = place(first)
    // Only arrows can have heads, a text or bound ends.
    let isPlain =
      form == .line && style.start == .none && style.end == .none && snapshot.text?.isEmpty != false
      && snapshot.start == nil && snapshot.end == nil
    var own: JSONObject?
    if form == .line, !isPlain { own.add("form", string: form.name) }
    var json = element(
      isPlain ? "line" : "arrow",
      of: snapshot,
      corner: start,
      size: Size(
        width: (bounds.greatest.x - bounds.least.x) * scale,
        height: (bounds.greatest.y - bounds.least.y) * scale
      ),
      strokeWidth: (snapshot.lineWidth ?? ObjectDefaults.formLineWidth) * scale,
      fill: style.fill,
      roundness: style.isCurved ? 2 : nil,
      label: snapshot.text?.isEmpty == false,
      own: own
    )
    json.add(
      "points",
      points: corners.map(place).map { Point(x: Self.rounded($0.x - start.x), y: Self.rounded($0.y - start.y)) }
    )
    json.add("lastCommittedPoint", string: nil)
    json.add("startBinding", json: binding(snapshot.start))
    json.add("endBinding", json: binding(snapshot.end))
    json.add("startArrowhead", string: Excalidraw.head(style.start))
    json.add("endArrowhead", string: Excalidraw.head(style.end))
    if !isPlain { json.add("elbowed", false) }
    append(json)
  }

  private func binding(_ binding: Binding?) -> String {
    guard let binding, ids.contains(binding.target) else { return "null" }
    var json = JSONObject()
    json.add("elementId", string: binding.target.description)
    json.add("focus", 0)
    json.add("gap", binding.isExact ? 1 : 4)
    json.add("fixedPoint", [binding.anchor.x + 0.5, binding.anchor.y + 0.5])
    json.add("mode", string: binding.isExact ? "inside" : "orbit")
    return json.text
  }

  // MARK: - Ink

  private mutating func add(stroke snapshot: ObjectSnapshot) {
    let lines = snapshot.inkLines
    // The parts of an erased stroke are rotated around the center of the whole stroke, not their own.
    let isWhole = lines.count == 1 && snapshot.erased?.ranges.isEmpty ?? true
    let rotation = snapshot.rotation
    for line in lines {
      let places = line.points.map { offset in
        isWhole
          ? snapshot.shown(offset, sine: 0, cosine: 1)
          : snapshot.shown(offset, sine: rotation.sine, cosine: rotation.cosine)
      }
      add(line, places, snapshot, isTurned: isWhole)
    }
  }

  private mutating func add(
    _ line: ObjectSnapshot.InkLine,
    _ places: [Point],
    _ snapshot: ObjectSnapshot,
    isTurned: Bool
  ) {
    guard let first = places.first else { return }
    let bounds = places.reduce(Rectangle(first, first)) { $0.union(Rectangle($1, $1)) }
    let width = (snapshot.lineWidth ?? ObjectDefaults.lineWidth) * snapshot.scale
    var json = element(
      "freedraw",
      of: snapshot,
      corner: first,
      size: Size(width: bounds.greatest.x - bounds.least.x, height: bounds.greatest.y - bounds.least.y),
      isTurned: isTurned,
      strokeWidth: width / Excalidraw.breadth
    )
    json.add("points", points: places.map { Point(x: Self.rounded($0.x - first.x), y: Self.rounded($0.y - first.y)) })
    let hasPressure = line.pressures.contains { $0 != 0 }
    json.add("pressures", hasPressure ? line.pressures.map { (Double($0) / 255 * 1000).rounded() / 1000 } : [])
    json.add("simulatePressure", false)
    json.add("lastCommittedPoint", string: nil)
    append(json)
  }

  private mutating func add(photo asset: AssetReference, _ snapshot: ObjectSnapshot) {
    photos[asset.id] = asset
    let size = Size(width: snapshot.size.width * snapshot.scale, height: snapshot.size.height * snapshot.scale)
    let center = snapshot.centerPosition
    var json = element(
      "image",
      of: snapshot,
      corner: Point(x: center.x - size.width / 2, y: center.y - size.height / 2),
      size: size
    )
    json.add("status", string: "saved")
    json.add("fileId", string: asset.id.description)
    json.add("scale", [snapshot.isFlippedHorizontally ? -1 : 1, snapshot.isFlippedVertically ? -1 : 1])
    json.add("crop", json: snapshot.crop.map { crop($0, of: asset) } ?? "null")
    append(json)
  }

  /// Returns a part of a photo, in pixels of the upright picture.
  private func crop(_ part: Rectangle, of asset: AssetReference) -> String {
    let isSideways = picture.photo(asset.id).map { PhotoHeader.orientation(of: $0).isSideways } ?? false
    let (width, height) = isSideways ? (asset.height, asset.width) : (asset.width, asset.height)
    let (across, down) = (Double(width), Double(height))
    var json = JSONObject()
    json.add("x", part.least.x * across)
    json.add("y", part.least.y * down)
    json.add("width", (part.greatest.x - part.least.x) * across)
    json.add("height", (part.greatest.y - part.least.y) * down)
    json.add("naturalWidth", across)
    json.add("naturalHeight", down)
    return json.text
  }
}

extension JSONObject? {
  fileprivate mutating func add(_ key: String, string: String) {
    self = self ?? JSONObject()
    self?.add(key, string: string)
  }

  fileprivate mutating func add(_ key: String, _ numbers: [Double]) {
    self = self ?? JSONObject()
    self?.add(key, numbers)
  }
}

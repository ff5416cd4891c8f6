import PeerCore
import Whiteboard

/// A board as an Excalidraw drawing, in version 2 of its file format.
///
/// Strokes are freehand lines, words are text, and photos are images with their files. Excalidraw has no erasures and
/// no games. A partly erased stroke becomes its remaining lines, and a game becomes text.
package enum ExcalidrawFile {
  package static func text(_ export: BoardExport) -> String {
    var writer = ExcalidrawWriter(export)
    for item in export.picture.items { writer.add(item) }
    var document = JSONObject()
    document.add("type", string: "excalidraw")
    document.add("version", 2)
    document.add("source", string: "whiteboard")
    let elements = writer.elements
    document.add("elements", json: elements.isEmpty ? "[]" : "[\n" + elements.joined(separator: ",\n") + "\n]")
    var state = JSONObject()
    state.add("viewBackgroundColor", string: XML.color(export.picture.background ?? 0xFFFFFF))
    if let grid = export.settings.grid { state.add("gridSize", grid) }
    document.add("appState", json: state.text)
    document.add("files", json: writer.files)
    return document.text + "\n"
  }
}

/// The parts of the Excalidraw format that import and export share.
enum Excalidraw {
  /// The color of elements without a color of their own.
  static let plain: UInt32 = 0x1E1E_1EFF
  /// The ratio between the visible width of a freehand line and its `strokeWidth`.
  static let breadth = 4.25
  static let font = 3.0
  /// The distance between lines, as a multiple of the font size.
  static let lineHeight = 1.2
}

private struct ExcalidrawWriter {
  private(set) var elements: [String] = []
  private let picture: BoardPicture
  private var photos: [AssetID: AssetReference] = [:]

  init(_ export: BoardExport) { picture = export.picture }

  /// The photo files of the images, as a JSON object.
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

  mutating func add(_ item: BoardCanvas.Item) {
    let snapshot = item.snapshot
    switch snapshot.kind {
    case .text: add(BoardPicture.lines(of: snapshot), snapshot, original: snapshot.text ?? "")
    case .drawing: add(stroke: snapshot)
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

  private mutating func element(
    _ type: String,
    of snapshot: ObjectSnapshot,
    corner: Point,
    size: Size,
    isTurned: Bool = true,
    strokeWidth: Double = 1
  ) -> JSONObject {
    let color = snapshot.color ?? Excalidraw.plain
    var json = JSONObject()
    json.add("id", string: "w\(elements.count)-\(snapshot.id)")
    json.add("type", string: type)
    json.add("x", Self.rounded(corner.x))
    json.add("y", Self.rounded(corner.y))
    json.add("width", Self.rounded(size.width))
    json.add("height", Self.rounded(size.height))
    json.add("angle", isTurned ? snapshot.angle : 0)
    json.add("strokeColor", string: XML.color(color >> 8))
    json.add("backgroundColor", string: "transparent")
    json.add("fillStyle", string: "solid")
    json.add("strokeWidth", strokeWidth)
    json.add("strokeStyle", string: "solid")
    json.add("roughness", 0)
    json.add("opacity", (Double(color & 0xFF) / 2.55).rounded())
    json.add("groupIds", strings: snapshot.groups.map(\.description))
    json.add("frameId", string: nil)
    json.add("roundness", string: nil)
    json.add("seed", Double(elements.count + 1))
    json.add("version", 1)
    json.add("versionNonce", Double(elements.count + 1))
    json.add("isDeleted", false)
    json.add("boundElements", string: nil)
    json.add("updated", Double(snapshot.updatedAt))
    json.add("link", string: nil)
    json.add("locked", snapshot.isLocked)
    return json
  }

  private static func rounded(_ value: Double) -> Double { (value * 1024).rounded() / 1024 }

  private mutating func add(_ lines: [String], _ snapshot: ObjectSnapshot, original: String) {
    guard !lines.isEmpty else { return }
    let scale = snapshot.scale
    let columns = Double(BoardPicture.columns(lines)) * BoardPicture.letter.width
    // Several lines are aligned with the left edge of the longest one; a single line is centered in its box.
    let isSingle = lines.count == 1
    let width = (isSingle ? max(snapshot.size.width, columns) : columns) * scale
    let fontSize = BoardPicture.fontSize * scale
    let height = Double(lines.count) * fontSize * Excalidraw.lineHeight
    let center = snapshot.centerPosition
    var json = element(
      "text",
      of: snapshot,
      corner: Point(x: center.x - width / 2, y: center.y - height / 2),
      size: Size(width: width, height: height)
    )
    json.add("fontSize", fontSize)
    json.add("fontFamily", Excalidraw.font)
    json.add("text", string: lines.joined(separator: "\n"))
    json.add("textAlign", string: isSingle ? "center" : "left")
    json.add("verticalAlign", string: "top")
    json.add("containerId", string: nil)
    json.add("originalText", string: original)
    json.add("autoResize", false)
    json.add("lineHeight", Excalidraw.lineHeight)
    elements.append(json.text)
  }

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
    elements.append(json.text)
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
    json.add("scale", [1, 1])
    elements.append(json.text)
  }
}

import PeerCore
import Whiteboard

/// A board as one JSON document, for programs and for `import`; `JSONLines` documents the objects.
package enum BoardJSON {
  package static let format = "whiteboard-board"
  /// The value of the key `version`; the value changes if older programs can no longer read the format.
  package static let version = 1

  /// Returns the JSON document, with one object on each line and a line feed at the end.
  package static func text(_ export: BoardExport) -> String {
    var document = JSONObject()
    document.add("format", string: format)
    document.add("version", Double(version))
    document.add("board", json: board(export))
    document.add("objects", json: objects(export))
    document.add("chat", json: lines(export.chat.map(\.json)))
    var assets = JSONObject()
    for asset in Set(export.snapshots.compactMap { $0.asset?.id }).sorted() {
      if let bytes = export.picture.photo(asset) { assets.add(asset.description, string: Base64.encode(bytes)) }
    }
    document.add("assets", json: assets.text)
    return document.text + "\n"
  }

  static func objects(_ export: BoardExport) -> String { lines(export.picture.items.map { object($0, of: export) }) }

  private static func lines(_ list: [String]) -> String {
    list.isEmpty ? "[]" : "[\n" + list.joined(separator: ",\n") + "\n]"
  }

  private static func board(_ export: BoardExport) -> String {
    var json = JSONObject()
    if !export.board.isEmpty { json.add("id", string: export.board) }
    json.add("name", string: export.name)
    let settings = export.settings
    if let title = settings.title { json.add("title", string: title) }
    if let background = settings.background, background & 0xFF != 0 {
      json.add("background", string: color(background))
    }
    if let grid = settings.grid { json.add("grid", grid) }
    if let language = settings.language { json.add("language", string: language) }
    return json.text
  }

  private static func object(_ item: BoardCanvas.Item, of export: BoardExport) -> String {
    let snapshot = item.snapshot
    var json = JSONObject()
    json.add("id", string: snapshot.id.description)
    json.add("type", string: snapshot.kind.name)
    json.add("centerPosition", [snapshot.centerPosition.x, snapshot.centerPosition.y])
    json.add("size", [snapshot.size.width, snapshot.size.height])
    json.add("scale", snapshot.scale)
    json.add("angle", snapshot.angle)
    json.add("zIndex", string: Hexadecimal.encode(snapshot.zIndex))
    json.add("updatedAt", string: Timestamp.text(milliseconds: snapshot.updatedAt))
    if let color = snapshot.color { json.add("color", string: self.color(color)) }
    if let text = snapshot.text, snapshot.form == nil || !text.isEmpty { json.add("text", string: text) }
    if let points = snapshot.points { json.add("points", points: points) }
    if let ink = snapshot.ink, ink.contains(where: { $0.pressure != 0 }) {
      json.add("pressures", ink.map { Double($0.pressure) })
    }
    if let lineWidth = snapshot.lineWidth { json.add("lineWidth", lineWidth) }
    snapshot.addStyle(to: &json)
    if let isFinished = snapshot.isFinished { json.add("isFinished", isFinished) }
    if let erased = snapshot.erased, !erased.ranges.isEmpty { json.add("erased", spans: erased.ranges) }
    if !snapshot.groups.isEmpty { json.add("groups", strings: snapshot.groups.map(\.description)) }
    if snapshot.isLocked { json.add("isLocked", true) }
    snapshot.addReferences(to: &json)
    if let game = item.game { json.add("game", json: game.json) }
    if let setup = export.setups[snapshot.id] { json.add("setup", string: Base64.encode(setup)) }
    if let asset = snapshot.asset {
      json.add("sha256", string: asset.id.description)
      json.add("format", string: asset.format.name)
      json.add("byteCount", Double(asset.byteCount))
      json.add("pixelSize", [Double(asset.width), Double(asset.height)])
    }
    return json.text
  }

  private static func color(_ rgba: UInt32) -> String {
    let digits = String(rgba, radix: 16)
    return "#" + String(repeating: "0", count: 8 - digits.count) + digits
  }
}

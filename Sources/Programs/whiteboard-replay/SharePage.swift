import CBrotli
import CWebPage
import CZlib
import PeerCore
import SessionReplay
import Whiteboard
import WhiteboardDocument
import WhiteboardKit
import WhiteboardRendering
import WhiteboardSync

/// A web page that plays a recording. It is one file that works without a network. It contains the recording, the
/// replica in WebAssembly, and the JavaScript modules of whiteboard-peer that draw a board.
enum SharePage {
  /// The maximum size of the replica, in bytes.
  private static let replicaLimit = 16 << 20

  static func html(_ recording: Recording, photos: [AssetID: [UInt8]], _ overview: BoardFilm.Overview)
    throws(WhiteboardError) -> [UInt8]
  {
    let files = files()
    guard let replica = files["whiteboard.wasm"].flatMap(decompressed) else {
      throw WhiteboardError(.internal, "the program does not contain the replica for browsers")
    }
    let player = String(decoding: PackageResources.player_mjs, as: UTF8.self)
    let parts = [
      "TITLE": XML.escaped(recording.history.name), "MODULES": modules(of: player, files),
      "REPLICA": try packed(replica),
      "RECORDING": try packed(Array(json(recording, photos, overview).utf8)), "PLAYER": player,
    ]
    // Parts are inserted in one pass, so that placeholders inside a part are not replaced.
    let template = String(decoding: PackageResources.page_html, as: UTF8.self)
    var page = ""
    for piece in template.split(separator: "$", omittingEmptySubsequences: false).enumerated() {
      let name = piece.element.prefix { $0.isUppercase }
      guard piece.offset > 0, let part = parts[String(name)] else {
        page += piece.element
        continue
      }
      page += part
      page += piece.element.dropFirst(name.count)
    }
    return Array(page.utf8)
  }

  private static func files() -> [String: [UInt8]] {
    var count = 0
    let files = UnsafeBufferPointer(start: whiteboard_page_files(&count), count: count)
    var found: [String: [UInt8]] = [:]
    for file in files {
      let name = String(String(cString: file.path).drop { $0 == "/" })
      found[name] = Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }
    return found
  }

  private static func decompressed(_ bytes: [UInt8]) -> [UInt8]? {
    var count = replicaLimit
    let all = [UInt8](unsafeUninitializedCapacity: replicaLimit) { buffer, used in
      let result = BrotliDecoderDecompress(bytes.count, bytes, &count, buffer.baseAddress)
      used = result == BROTLI_DECODER_RESULT_SUCCESS ? count : 0
    }
    return all.isEmpty ? nil : all
  }

  /// Returns the bytes, compressed by zlib, in base64.
  private static func packed(_ bytes: [UInt8]) throws(WhiteboardError) -> String {
    var count = compressBound(uLong(bytes.count))
    var result = Z_OK
    let packed = [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, used in
      result = compress2(buffer.baseAddress, &count, bytes, uLong(bytes.count), 9)
      used = result == Z_OK ? Int(count) : 0
    }
    guard result == Z_OK else { throw WhiteboardError(.system, "there is not enough memory for this recording") }
    return Base64.encode(packed)
  }

  /// Returns an import map with the modules that the player needs. Modules in data URLs cannot import each other by
  /// relative paths, so they import each other by name.
  private static func modules(of player: String, _ files: [String: [UInt8]]) -> String {
    var sources: [String: String] = [:]
    var needed = imported(by: player)
    while let name = needed.popLast() {
      guard sources[name] == nil, let file = files[name] else { continue }
      let source = String(decoding: file, as: UTF8.self).replacing("from \"./", with: "from \"")
      sources[name] = source
      needed += imported(by: source)
    }
    var map = JSONObject()
    for name in sources.keys.sorted() {
      map.add(name, string: "data:text/javascript;base64," + Base64.encode(Array((sources[name] ?? "").utf8)))
    }
    var json = JSONObject()
    json.add("imports", json: map.text)
    return json.text
  }

  /// Returns the names in the clauses `from "NAME.mjs"` of a module.
  private static func imported(by source: String) -> [String] {
    source.split(separator: "from \"").dropFirst().map { String($0.prefix { $0 != "\"" }) }.filter {
      $0.hasSuffix(".mjs")
    }
  }

  private static func json(_ recording: Recording, _ photos: [AssetID: [UInt8]], _ overview: BoardFilm.Overview)
    -> String
  {
    let records = recording.history.authors.compactMap { author in
      author.record.isEmpty ? nil : JSONObject.quoted(change(0, author.incarnation, author.record))
    }
    let (region, visible) = (overview.region, Set(overview.changes))
    let steps = zip(recording.history.steps, recording.times).enumerated().map { index, step in
      let (step, time) = step
      let text =
        switch step.content {
        case .batch(let bytes): change(1, 0, bytes)
        case .answer(let bytes): change(2, 0, bytes)
        case .keyframe(let bytes): change(4, 0, bytes)
        }
      return "[\(time),\(JSONObject.quoted(text))\(visible.contains(index + 1) ? ",1" : "")]"
    }
    var names = JSONObject()
    for member in Set(recording.members.values).sorted() {
      names.add(Hexadecimal.encode(member.bytes), string: recording.name(of: member))
    }
    var pictures = JSONObject()
    for (id, bytes) in photos.sorted(by: { $0.key.description < $1.key.description }) {
      pictures.add(Hexadecimal.encode(id.bytes), string: Base64.encode(bytes))
    }
    var json = JSONObject()
    json.add("board", string: Hexadecimal.encode(recording.board.bytes))
    json.add("duration", whole: recording.duration)
    json.add("region", [region.least.x, region.least.y, region.greatest.x, region.greatest.y])
    json.add("names", json: names.text)
    json.add("records", list: records)
    json.add("steps", list: steps)
    json.add("photos", json: pictures.text)
    return json.text
  }

  /// Returns a change in the format of the replica's action `record` (`ActionWriter.swift`), in base64.
  private static func change(_ kind: UInt8, _ incarnation: UInt64, _ bytes: [UInt8]) -> String {
    let number = (0..<8).map { UInt8(truncatingIfNeeded: incarnation >> UInt64(56 - 8 * $0)) }
    return Base64.encode([kind] + number + [UInt8](repeating: 0, count: 8) + bytes)
  }
}

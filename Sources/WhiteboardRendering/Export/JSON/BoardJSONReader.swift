import PeerCore
import Whiteboard

/// Errors name the path of the value that is not valid.
struct BoardJSONReader {
  private var result = ImportedBoard()
  private var groups: [String: Int] = [:]
  private let hash: ([UInt8]) -> AssetID?

  static func read(_ tree: JSONTree, hash: @escaping ([UInt8]) -> AssetID?) throws(ImportError) -> ImportedBoard {
    guard let version = tree["version"]?.number, version >= 1 else {
      throw .wrongValue("version", expected: "a number of at least 1")
    }
    guard version <= Double(BoardJSON.version) else { throw .newerVersion }
    guard let objects = tree["objects"]?.list else { throw .wrongValue("objects", expected: "a list of objects") }
    guard objects.count <= BoardLimits.objects else { throw .tooManyObjects }
    var reader = BoardJSONReader(hash: hash)
    reader.readSettings(tree["board"])
    reader.readPhotos(tree["assets"])
    for (index, object) in objects.enumerated() { try reader.read(Fields(object, path: "objects[\(index)]")) }
    return reader.result
  }

  private init(hash: @escaping ([UInt8]) -> AssetID?) { self.hash = hash }

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
        guard let bytes = value.string.flatMap(Base64.decode) else { throw .malformed }
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
    case "drawing":
      guard let drawing = try drawing(fields, center) else {
        result.warnings.append("\(fields.path) is left out: the drawing has no points")
        return
      }
      draft = drawing
    case "photo": draft = ObjectDraft(.photo(try asset(fields), size: try fields.size("size")), at: center)
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
    draft.color = try fields.color()
    draft.isLocked = try fields.flagIfAny("isLocked") ?? false
    draft.group = result.group(try fields.stringsIfAny("groups") ?? [], &groups)
    result.objects.append(draft)
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

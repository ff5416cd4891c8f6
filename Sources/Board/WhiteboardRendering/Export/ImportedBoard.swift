import PeerCore
import Whiteboard

package struct ImportedBoard: Sendable {
  /// The maximum size of a file that is read, in bytes.
  package static let byteLimit = 100_000_000

  package var objects: [ObjectDraft] = []
  /// For each group, the index of its enclosing group; nil if there is none. An enclosing group comes before its inner
  /// groups.
  package var groups: [Int?] = []
  package var photos: [AssetID: [UInt8]] = [:]
  package var settings = BoardSettings()
  /// Messages about content that was left out, one line each, ready to be shown.
  package var warnings: [String] = []
  /// Messages about content that looks a little different, one line each, ready to be shown.
  package var remarks: [String] = []

  package init() {}

  /// Reads a board in this program's JSON format, an Excalidraw drawing or library, or a Mermaid flowchart. Throws
  /// ``ImportError`` with the reason. `photo` returns a picture in a format that boards accept, or nil if the picture
  /// is damaged. `photo` reports problems itself.
  package init(
    reading bytes: [UInt8],
    photo: @escaping ([UInt8]) -> [UInt8]? = { $0 },
    hash: @escaping ([UInt8]) -> AssetID?
  ) throws(ImportError) {
    guard bytes.count <= Self.byteLimit else { throw .tooLong(limit: Self.byteLimit) }
    var bytes = bytes
    if bytes.first(where: { $0 > 0x20 && $0 < 0x80 }) != UInt8(ascii: "{") {
      guard let document = ExcalidrawSource.document(in: bytes) else {
        self = try ImportedBoard(flowchart: String(decoding: bytes, as: UTF8.self))
        return
      }
      bytes = document
    }
    let tree: JSONTree
    do throws(JSONError) { tree = try JSONReader.read(bytes) } catch {
      // In a drawing of Excalidraw, only the elements with numbers out of range are left out.
      guard case .malformed = error, let lenient = try? JSONReader.read(bytes, allowsInfinity: true),
        Excalidraw.isDrawing(lenient)
      else { throw ImportError(error, length: bytes.count) }
      tree = lenient
    }
    if tree["format"]?.string == BoardJSON.format {
      self = try BoardJSONReader.read(tree, hash: hash, photo: photo)
    } else if Excalidraw.isDrawing(tree) {
      self = try ExcalidrawReader.read(tree, hash: hash, photo: photo)
    } else {
      throw .unknownFormat
    }
  }

  package var bounds: Rectangle? {
    objects.reduce(nil) { whole, object in whole?.union(object.bounds) ?? object.bounds }
  }

  package mutating func center(at place: Point) {
    guard let middle = bounds?.center else { return }
    let offset = Point(x: place.x - middle.x, y: place.y - middle.y)
    for index in objects.indices { objects[index].move(by: offset) }
  }

  /// Adds a photo from the imported file to ``photos``, and returns a reference to it; throws if a board does not
  /// accept the bytes as a photo.
  package mutating func keep(_ bytes: [UInt8], hash: ([UInt8]) -> AssetID?) throws(PhotoError) -> AssetReference {
    guard bytes.count <= BoardLimits.photoBytes else { throw .tooManyBytes }
    let header = try PhotoHeader(ofWhole: bytes)
    guard let id = hash(bytes) else { throw .malformed }
    let reference = try AssetReference(id: id, byteCount: bytes.count, header: header)
    photos[id] = bytes
    return reference
  }

  /// Returns the index in ``groups`` of the innermost group of an object. Adds groups that are missing. `names` begins
  /// with the innermost group.
  mutating func group(_ names: [String], _ known: inout [String: Int]) -> Int? {
    var around: Int?
    for name in names.prefix(BoardLimits.groupDepth).reversed() {
      if let place = known[name] {
        around = place
      } else {
        groups.append(around)
        around = groups.count - 1
        known[name] = around
      }
    }
    return around
  }

  /// Returns the part of a string that fits into one text object, and adds a warning if the string is cut.
  mutating func fitting(_ text: String) -> String {
    let text = PlainText.lines(text)
    guard text.utf8.count > BoardLimits.textBytes else { return text }
    var result = String.UnicodeScalarView()
    var length = 0
    for scalar in text.unicodeScalars {
      length += UTF8.width(scalar)
      guard length <= BoardLimits.textBytes else { break }
      result.append(scalar)
    }
    warnings.append("the text \(UntrustedText(text).quoted()) is cut to its first \(BoardLimits.textBytes) bytes")
    return String(result)
  }
}

enum ImportedInk {
  /// Returns the ink points of a stroke around `center`, without changing the distances between them; nil if a point is
  /// outside the board. Ink points are multiples of 1/16 board unit, so their center can differ from `center`. In that
  /// case, the result also contains the center to store.
  static func points(_ offsets: [Point], pressures: [UInt8], around center: Point) -> (ink: [InkPoint], center: Point?)?
  {
    guard let first = offsets.first else { return nil }
    let least = offsets.reduce(first) { Point(x: min($0.x, $1.x), y: min($0.y, $1.y)) }
    let steps = FixedPoint.ink
    let base = Point(
      x: ((center.x + least.x) * steps).rounded() / steps,
      y: ((center.y + least.y) * steps).rounded() / steps
    )
    var ink: [InkPoint] = []
    ink.reserveCapacity(offsets.count)
    for (index, offset) in offsets.enumerated() {
      let place = Point(x: base.x + offset.x - least.x, y: base.y + offset.y - least.y)
      let pressure = index < pressures.count ? pressures[index] : 0
      guard let point = try? InkPoint(place, pressure: pressure) else { return nil }
      ink.append(point)
    }
    let isThere = InkBounds(ink)?.center == center
    return (ink, isThere ? nil : center)
  }
}

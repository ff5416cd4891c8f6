import Whiteboard
import WhiteboardRendering

/// What a file holds that can be put on a board.
package struct ImportedBoard: Sendable {
  /// The most bytes of a file that is read.
  package static let byteLimit = 100_000_000

  /// The objects from back to front.
  package var objects: [ObjectDraft] = []
  /// For each group the one around it, which stands before it.
  package var groups: [Int?] = []
  /// The photos whose bytes were in the file.
  package var photos: [AssetID: [UInt8]] = [:]
  /// What belongs to the board that the file was made from.
  package var settings = BoardSettings()
  /// What was left out, in words, each a line that may be shown as it is.
  package var warnings: [String] = []

  /// Nothing.
  package init() {}

  /// Reads a board of ours as JSON, or a drawing of Excalidraw.
  ///
  /// - Parameters:
  ///   - bytes: The file.
  ///   - hash: The SHA-256 of some bytes, by which photos are known.
  /// - Throws: ``ImportError``, which says what is wrong.
  package init(
    reading bytes: [UInt8],
    hash: @escaping ([UInt8]) -> AssetID?
  ) throws(ImportError) {
    guard bytes.count <= Self.byteLimit else { throw .tooLong(limit: Self.byteLimit) }
    guard let first = bytes.first(where: { $0 > 0x20 && $0 < 0x80 }), first == UInt8(ascii: "{")
    else { throw .unknownFormat }
    let tree = try JSONReader.read(bytes)
    if tree["format"]?.string == BoardJSON.format {
      self = try BoardJSONReader.read(tree, hash: hash)
    } else if tree["type"]?.string == "excalidraw" {
      self = try ExcalidrawReader.read(tree, hash: hash)
    } else {
      throw .unknownFormat
    }
  }

  /// The rectangle around all objects; nil where there are none.
  package var bounds: Rectangle? {
    objects.reduce(nil) { whole, object in whole?.union(object.bounds) ?? object.bounds }
  }

  /// Moves everything so that its middle is at a place.
  package mutating func center(at place: Point) {
    guard let middle = bounds?.center else { return }
    let offset = Point(x: place.x - middle.x, y: place.y - middle.y)
    for index in objects.indices { objects[index].move(by: offset) }
  }

  /// Keeps a photo that the file holds.
  /// - Throws: `PhotoError` where the bytes are none that a board takes.
  mutating func keep(
    _ bytes: [UInt8],
    hash: ([UInt8]) -> AssetID?
  ) throws(PhotoError) -> AssetReference {
    guard bytes.count <= BoardLimits.photoBytes else { throw .tooManyBytes }
    let header = try PhotoHeader(ofWhole: bytes)
    guard let id = hash(bytes) else { throw .malformed }
    let reference = try AssetReference(id: id, byteCount: bytes.count, header: header)
    photos[id] = bytes
    return reference
  }

  /// The place in `groups` of the innermost of some groups, which come from the innermost one on.
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

  /// As much of a text as one object holds.
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
    warnings.append(
      "the text \(TerminalText.quoted(text)) is cut to its first \(BoardLimits.textBytes) bytes"
    )
    return String(result)
  }
}

/// Where strokes of a file lie.
enum ImportedInk {
  /// Points in 1/16 of a unit whose distances are kept exactly, about the place where they belong; the
  /// centre is to be written where it is not that of the points.
  /// - Returns: nil where a point is beyond the board.
  static func points(
    _ offsets: [Point],
    pressures: [UInt8],
    around center: Point
  ) -> (ink: [InkPoint], center: Point?)? {
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

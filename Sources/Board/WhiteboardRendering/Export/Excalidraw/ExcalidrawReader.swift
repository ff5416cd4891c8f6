import PeerCore
import Whiteboard

/// An element that cannot be read is left out with a warning; the other elements are imported.
struct ExcalidrawReader {
  private var result = ImportedBoard()
  private var groups: [String: Int] = [:]
  private var leftOut: [String: Int] = [:]
  private let files: JSONTree?
  private let hash: ([UInt8]) -> AssetID?

  static func read(_ tree: JSONTree, hash: @escaping ([UInt8]) -> AssetID?) throws(ImportError) -> ImportedBoard {
    guard let elements = tree["elements"]?.list else { throw .wrongValue("elements", expected: "a list of elements") }
    guard elements.count <= BoardLimits.objects else { throw .tooManyObjects }
    var reader = ExcalidrawReader(files: tree["files"], hash: hash)
    for element in elements where element["isDeleted"]?.flag != true { reader.read(ExcalidrawElement(element)) }
    guard reader.result.objects.count <= BoardLimits.objects else { throw .tooManyObjects }
    for (reason, count) in reader.leftOut.sorted(by: { $0.key < $1.key }) {
      reader.result.warnings.append(count == 1 ? reason : "\(reason) (\(count) times)")
    }
    // Boards have a white background by default.
    if let background = tree["appState"]?["viewBackgroundColor"]?.string.flatMap(ColorNames.color),
      background != 0xFFFF_FFFF, background & 0xFF != 0
    {
      reader.result.settings.background = background
    }
    return reader.result
  }

  private init(files: JSONTree?, hash: @escaping ([UInt8]) -> AssetID?) {
    self.files = files
    self.hash = hash
  }

  private mutating func leaveOut(_ what: String) { leftOut[what, default: 0] += 1 }

  private mutating func read(_ element: ExcalidrawElement) {
    guard let box = element.box else {
      leaveOut("an element of type \(element.shownType) has no position on the board")
      return
    }
    switch element.type {
    case "text": read(text: element, box)
    case "image": read(image: element, box)
    case "freedraw", "line", "arrow", "rectangle", "diamond", "ellipse": read(lines: element, box)
    default: leaveOut("elements of type \(element.shownType) are not supported")
    }
  }

  private mutating func add(_ draft: ObjectDraft, _ element: ExcalidrawElement) {
    var draft = draft
    draft.angle = element.angle
    draft.isLocked = element.tree["locked"]?.flag ?? false
    draft.group = result.group(element.tree["groupIds"]?.strings ?? [], &groups)
    result.objects.append(draft)
  }

  // MARK: - Strokes

  private mutating func read(lines element: ExcalidrawElement, _ box: ExcalidrawElement.Box) {
    guard let points = element.outline(box) else {
      leaveOut("an element of type \(element.shownType) has no valid points")
      return
    }
    guard let color = element.color else {
      leaveOut("invisible elements are left out")
      return
    }
    if element.isFilled { leaveOut("shapes are imported without their fill") }
    let width = element.lineWidth
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
          .drawing(stroke.ink, lineWidth: width, erased: StrokeSpans()),
          at: element.angle == 0 ? stroke.center : element.turned(middle, box)
        )
        draft.color = color.own
        add(draft, element)
      } else {
        leaveOut("an element of type \(element.shownType) is outside the board")
      }
    }
  }

  // MARK: - Words

  private mutating func read(text element: ExcalidrawElement, _ box: ExcalidrawElement.Box) {
    let shown = element.tree["text"]?.string ?? ""
    // Text that belongs to a shape has line breaks that fit it into the shape. Other text is wrapped to its own box.
    let isBound = element.tree["containerId"]?.string != nil
    let original = isBound ? nil : element.tree["originalText"]?.string
    let words = original ?? shown
    guard words.contains(where: { !$0.isWhitespace }) else {
      leaveOut("empty texts are left out")
      return
    }
    guard let color = element.color else {
      leaveOut("invisible elements are left out")
      return
    }
    let fontSize = element.tree["fontSize"]?.number ?? 20
    let scale = min(max(fontSize / BoardPicture.fontSize, BoardLimits.leastScale), BoardLimits.greatestScale)
    let text = result.fitting(words)
    let plain = ObjectDefaults.size(of: .text)
    // Letters on a board are wider than in most fonts. Widen the box so that a single line stays one line.
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let isBroken = original != nil && shown != words
    let columns = Double(isBroken ? 0 : BoardPicture.columns(lines)) * BoardPicture.letter.width
    let width = max(box.size.width / scale, columns, BoardPicture.letter.width * 4)
    let size = Size(
      width: min((width * 64).rounded(.up) / 64, BoardLimits.coordinate / 2),
      height: max(plain.height, min(box.size.height / scale, BoardLimits.coordinate / 2))
    )
    var draft = ObjectDraft(.text(text, size: size), at: box.center)
    draft.scale = scale
    draft.color = color.own
    add(draft, element)
  }

  // MARK: - Photos

  private mutating func read(image element: ExcalidrawElement, _ box: ExcalidrawElement.Box) {
    guard let id = element.tree["fileId"]?.string, let url = files?[id]?["dataURL"]?.string,
      let comma = url.firstIndex(of: ","), url[..<comma].hasSuffix(";base64"),
      let bytes = Base64.decode(url[url.index(after: comma)...])
    else {
      leaveOut("an image without its file is left out")
      return
    }
    do throws(PhotoError) {
      let asset = try result.keep(bytes, hash: hash)
      add(ObjectDraft(.photo(asset, size: box.size), at: box.center), element)
    } catch {
      leaveOut(
        error == .unknownFormat
          ? "images that are neither JPEG nor PNG are left out" : "an image that is damaged or too large is left out"
      )
    }
  }
}

import PeerCore
import Whiteboard

/// The elements of Excalidraw's programming interface as complete elements. There, elements may have no size. Texts in
/// shapes, the objects at the ends of arrows, and the contents of frames have short forms.
struct ExcalidrawSkeletons {
  private(set) var elements: [JSONTree] = []
  /// Messages about short forms that are left out, one for each.
  private(set) var reports: [String] = []
  /// The ids to which an end of an arrow can refer.
  private var ids: Set<String>
  private static let padding = 10.0

  /// Returns whether an element has a short form, which Excalidraw does not write to files.
  static func isSkeleton(_ element: JSONTree) -> Bool {
    ["start", "end", "label"].contains { element[$0]?.members != nil } || children(of: element) != nil
  }

  private static func children(of element: JSONTree) -> [JSONTree]? {
    ["frame", "magicframe"].contains(element["type"]?.string) ? element["children"]?.list : nil
  }

  init(_ skeletons: [JSONTree]) {
    ids = Set(skeletons.compactMap { $0["id"]?.string })
    for skeleton in skeletons { add(skeleton) }
    fillFrames()
  }

  private mutating func add(_ skeleton: JSONTree, named name: String? = nil) {
    guard var members = skeleton.members else { return elements.append(skeleton) }
    let id = skeleton["id"]?.string ?? name ?? "element \(elements.count)"
    members["id"] = .string(id)
    if let size = Self.size(of: skeleton) {
      members["width"] = skeleton["width"] ?? .number(size.width)
      members["height"] = skeleton["height"] ?? .number(size.height)
    }
    let line = ExcalidrawElement(.object(members))
    var created: [JSONTree] = []
    for (end, binding) in [("start", "startBinding"), ("end", "endBinding")] where Self.isLine(skeleton) {
      guard let target = skeleton[end] else { continue }
      var known = target["id"]?.string
      if known.map({ !ids.contains($0) }) ?? true, target["type"] != nil {
        guard let object = Self.object(target, at: line, isStart: end == "start", named: known ?? "\(id) \(end)") else {
          reports.append("objects at the ends of lines that are not shapes or texts are left out")
          continue
        }
        known = object["id"]?.string
        known.map { _ = ids.insert($0) }
        created.append(object)
      }
      if let known { members[binding] = .object(["elementId": .string(known)]) }
    }
    elements.append(.object(members))
    if var label = skeleton["label"]?.members, label["text"]?.string != nil {
      for key in ["x", "y", "width", "height"] { label[key] = members[key] }
      label["type"] = .string("text")
      label["containerId"] = .string(id)
      elements.append(.object(label))
    }
    for object in created { add(object) }
  }

  private static func isLine(_ element: JSONTree) -> Bool { ["line", "arrow"].contains(element["type"]?.string) }

  /// Returns the default size of an element; nil if elements of its type have none.
  private static func size(of element: JSONTree) -> Size? {
    switch element["type"]?.string {
    case "rectangle", "diamond", "ellipse": return Size(width: 100, height: 100)
    case "line", "arrow": return Size(width: 100, height: 0)
    case "text":
      guard let text = element["text"]?.string else { return nil }
      let rows = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      let height = ExcalidrawElement(element).textSize
      return Size(width: Double(BoardPicture.columns(rows)) * height / 2, height: Double(rows.count) * height)
    default: return nil
    }
  }

  /// Completes an object that an arrow has at one of its ends. An object without a position is placed so that the arrow
  /// ends at the middle of one of its sides. Returns nil if the object cannot be created.
  private static func object(_ target: JSONTree, at line: ExcalidrawElement, isStart: Bool, named name: String)
    -> JSONTree?
  {
    guard var members = target.members, !isLine(target), let size = size(of: target), let points = line.points,
      points.count > 1
    else { return nil }
    let place = isStart ? points[0] : points[points.count - 1]
    let before = isStart ? points[1] : points[points.count - 2]
    let (x, y) = (place.x - before.x, place.y - before.y)
    let (width, height) = (target["width"]?.number ?? size.width, target["height"]?.number ?? size.height)
    let isLevel = abs(x) >= abs(y)
    let left = place.x - (isLevel ? (x < 0 ? width : 0) : width / 2)
    let top = place.y - (isLevel ? height / 2 : (y < 0 ? height : 0))
    members["id"] = .string(name)
    members["x"] = target["x"] ?? .number(left)
    members["y"] = target["y"] ?? .number(top)
    return .object(members)
  }

  /// Puts the children of frames, and the lines that are bound only to them, into their frames. A frame without a
  /// position or size surrounds its elements.
  private mutating func fillFrames() {
    var frames: [String: String] = [:]
    for frame in elements {
      guard let children = Self.children(of: frame), let id = frame["id"]?.string else { continue }
      for child in children {
        if let child = child.string, ids.contains(child) {
          frames[child] = id
        } else {
          reports.append("children of frames that are not in the file are left out")
        }
      }
    }
    guard !frames.isEmpty else { return }
    var bounds: [String: Rectangle] = [:]
    for (index, element) in elements.enumerated() {
      let ends = ["startBinding", "endBinding"].compactMap { element[$0]?["elementId"]?.string.map { frames[$0] } }
      let own = ["id", "containerId"].compactMap { element[$0]?.string.flatMap { frames[$0] } }.first
      guard var members = element.members, let frame = own ?? (Set(ends).count == 1 ? ends[0] : nil) else { continue }
      members["frameId"] = .string(frame)
      elements[index] = .object(members)
      guard element["containerId"] == nil, let box = Self.bounds(ExcalidrawElement(element)) else { continue }
      bounds[frame] = bounds[frame]?.union(box) ?? box
    }
    for (index, element) in elements.enumerated() where Self.children(of: element) != nil {
      guard var members = element.members, let box = element["id"]?.string.flatMap({ bounds[$0] }) else { continue }
      // In Excalidraw, 0 means that the frame is placed automatically.
      func complete(_ key: String, _ value: Double) {
        if (element[key]?.number ?? 0) == 0 { members[key] = .number(value) }
      }
      complete("x", box.least.x - Self.padding)
      complete("y", box.least.y - Self.padding)
      complete("width", box.greatest.x - box.least.x + 2 * Self.padding)
      complete("height", box.greatest.y - box.least.y + 2 * Self.padding)
      elements[index] = .object(members)
    }
  }

  private static func bounds(_ element: ExcalidrawElement) -> Rectangle? {
    if isLine(element.tree) || element.type == "freedraw" { return element.points.flatMap(ExcalidrawElement.bounds) }
    return element.box.map { box in
      Rectangle(box.corner, Point(x: box.corner.x + box.size.width, y: box.corner.y + box.size.height))
    }
  }
}

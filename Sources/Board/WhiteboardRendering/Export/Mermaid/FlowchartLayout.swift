import Whiteboard

/// The positions of all nodes of a flowchart; the nodes of each subgraph are laid out on their own, inside its frame.
struct FlowchartPlaces {
  private(set) var sizes: [Size]
  private(set) var centers: [Point]
  /// The bends of each edge, from its first node to its last node.
  private(set) var bends: [[Point]]
  /// The innermost frame around both ends of each edge.
  private(set) var frames: [Int?] = []
  private let chart: Flowchart
  private var members: [Int?: [Int]] = [:]
  /// The edges between the members of a frame, or between nodes inside these members.
  private var edges: [Int?: [(edge: Int, from: Int, to: Int)]] = [:]

  private static let margin = 32.0
  private static let nameRoom = 24.0
  private static let leastSide = 64.0

  init(_ chart: Flowchart, sizes: [Size]) {
    self.chart = chart
    self.sizes = sizes
    centers = Array(repeating: Point(x: 0, y: 0), count: sizes.count)
    bends = Array(repeating: [], count: chart.edges.count)
    for (index, node) in chart.nodes.enumerated() { members[node.frame, default: []].append(index) }
    for (index, edge) in chart.edges.enumerated() {
      let (from, to) = (path(edge.ends.from), path(edge.ends.to))
      let common = zip(from, to).prefix { $0 == $1 }.count
      // An edge between a frame and a node inside it has no place of its own.
      let isLoop = edge.ends.from == edge.ends.to
      let frame = min(common, from.count - 1, to.count - 1)
      frames.append(frame > 0 ? from[frame - 1] : nil)
      guard isLoop || common < min(from.count, to.count) else { continue }
      edges[frames[index], default: []].append((index, from[frame], to[frame]))
    }
    arrange(nil, chart.direction)
    move(nil, by: Point(x: 0, y: 0))
  }

  private func path(_ node: Int) -> [Int] {
    var path = [node]
    while let frame = chart.nodes[path[path.count - 1]].frame { path.append(frame) }
    return path.reversed()
  }

  /// Sets the positions of the members of a frame, relative to its center, and returns the size of their box.
  @discardableResult private mutating func arrange(_ frame: Int?, _ direction: Flowchart.Direction) -> Size {
    let members = members[frame] ?? []
    var (local, blocks, positions) = (Flowchart(), [Size](), [Int: Int]())
    local.direction = direction
    for (position, member) in members.enumerated() {
      positions[member] = position
      local.nodes.append(chart.nodes[member])
      var block = sizes[member]
      if chart.nodes[member].form == .frame {
        let inner = arrange(member, chart.nodes[member].direction ?? direction)
        sizes[member] = Size(
          width: max(inner.width, block.width, Self.leastSide) + 2 * Self.margin,
          height: max(inner.height, Self.leastSide) + 2 * Self.margin
        )
        block = Size(width: sizes[member].width, height: sizes[member].height + Self.nameRoom)
      }
      blocks.append(block)
    }
    let inside = edges[frame] ?? []
    for (edge, from, to) in inside {
      guard let from = positions[from], let to = positions[to] else { continue }
      var copy = chart.edges[edge]
      copy.ends = (from, to)
      local.edges.append(copy)
    }
    let layout = FlowchartLayout(local, sizes: blocks)
    var box: Rectangle?
    func add(_ center: Point, _ size: Size) {
      let half = Point(x: size.width / 2, y: size.height / 2)
      let area = Rectangle(center - half, center + half)
      box = box?.union(area) ?? area
    }
    for (position, block) in blocks.enumerated() { add(layout.center(position), block) }
    for position in inside.indices {
      for bend in layout.bends(position) { add(bend, Size(width: 0, height: 0)) }
    }
    guard let box else { return Size(width: 0, height: 0) }
    for (position, member) in members.enumerated() {
      centers[member] = layout.center(position) - box.center
      if chart.nodes[member].form == .frame { centers[member].y += Self.nameRoom / 2 }
    }
    for (position, (edge, _, _)) in inside.enumerated() {
      bends[edge] = layout.bends(position).map { $0 - box.center }
    }
    return Size(width: box.greatest.x - box.least.x, height: box.greatest.y - box.least.y)
  }

  /// Moves everything inside a frame from positions relative to the frame to positions on the board. `center` is the
  /// center of the frame.
  private mutating func move(_ frame: Int?, by center: Point) {
    for (edge, _, _) in edges[frame] ?? [] { bends[edge] = bends[edge].map { $0 + center } }
    for member in members[frame] ?? [] {
      centers[member] = centers[member] + center
      if chart.nodes[member].form == .frame { move(member, by: centers[member]) }
    }
  }
}

/// The positions of the nodes of a flowchart in layers, by the method of Sugiyama. Layers are rows from top to bottom;
/// ``Flowchart/Direction`` turns them at the end. An edge over several layers gets a place of its own in each layer
/// between its nodes, so that the edge does not cross other nodes.
struct FlowchartLayout {
  /// A node, or the place of a long edge in a layer.
  private struct Box {
    /// The extent within the layer and across the layers.
    var breadth = 0.0
    var depth = 0.0
    var layer = 0
    var place = 0.0
    var above: [Int] = []
    var below: [Int] = []
  }

  private var boxes: [Box]
  private var layers: [[Int]] = []
  private var centers: [Double] = []
  private let chart: Flowchart
  /// For each edge, the boxes in the layers between its two nodes, from the first node to the last node.
  private var ways: [[Int]] = []

  private static let nodeGap = 48.0
  private static let layerGap = 64.0
  private static let sweeps = 12
  /// The maximum total number of layers that the edges cross. If the edges cross more layers, all edges are straight.
  private static let placeLimit = 50_000

  init(_ chart: Flowchart, sizes: [Size]) {
    self.chart = chart
    let isSideways = chart.direction == .left || chart.direction == .right
    boxes = sizes.map { Box(breadth: isSideways ? $0.height : $0.width, depth: isSideways ? $0.width : $0.height) }
    let forward = Self.forward(chart)
    setLayers(forward)
    connect(forward)
    layers = Array(repeating: [], count: (boxes.map(\.layer).max() ?? 0) + 1)
    for index in boxes.indices { layers[boxes[index].layer].append(index) }
    for sweep in 0..<Self.sweeps { order(downwards: sweep.isMultiple(of: 2)) }
    for layer in layers {
      var start = 0.0
      for index in layer {
        boxes[index].place = start + boxes[index].breadth / 2
        start += boxes[index].breadth + Self.nodeGap
      }
    }
    for sweep in 0..<Self.sweeps { align(downwards: !sweep.isMultiple(of: 2)) }
    setCenters(isSideways)
  }

  /// Returns for each edge whether it goes forward; false for edges that close a cycle.
  private static func forward(_ chart: Flowchart) -> [Bool] {
    var out = Array(repeating: [Int](), count: chart.nodes.count)
    for (index, edge) in chart.edges.enumerated() { out[edge.ends.from].append(index) }
    var (forward, states) = (Array(repeating: true, count: chart.edges.count), Array(repeating: 0, count: out.count))
    // The path from a start: each node with the number of its edges that were followed.
    for start in out.indices where states[start] == 0 {
      var path = [(node: start, next: 0)]
      states[start] = 1
      while let (node, next) = path.last {
        guard next < out[node].count else {
          states[node] = 2
          path.removeLast()
          continue
        }
        path[path.count - 1].next += 1
        let edge = out[node][next]
        let target = chart.edges[edge].ends.to
        if states[target] == 1 { forward[edge] = false }
        guard states[target] == 0 else { continue }
        states[target] = 1
        path.append((target, 0))
      }
    }
    return forward
  }

  private func ends(_ edge: Int, _ forward: [Bool]) -> (from: Int, to: Int) {
    let ends = chart.edges[edge].ends
    return forward[edge] ? ends : (ends.to, ends.from)
  }

  /// Sets the layer of each node to the longest path from a node without a predecessor.
  private mutating func setLayers(_ forward: [Bool]) {
    var (out, waiting) = (Array(repeating: [Int](), count: boxes.count), Array(repeating: 0, count: boxes.count))
    for index in chart.edges.indices where chart.edges[index].ends.from != chart.edges[index].ends.to {
      let (from, to) = ends(index, forward)
      out[from].append(index)
      waiting[to] += 1
    }
    var ready = boxes.indices.filter { waiting[$0] == 0 }
    while let node = ready.popLast() {
      for index in out[node] {
        let to = ends(index, forward).to
        boxes[to].layer = max(boxes[to].layer, boxes[node].layer + min(chart.edges[index].length, 16))
        waiting[to] -= 1
        if waiting[to] == 0 { ready.append(to) }
      }
    }
  }

  private mutating func connect(_ forward: [Bool]) {
    let steps = chart.edges.indices.map { boxes[ends($0, forward).to].layer - boxes[ends($0, forward).from].layer }
    let isBent = steps.reduce(0) { $0 + max($1 - 1, 0) } <= Self.placeLimit
    for (index, edge) in chart.edges.enumerated() {
      let (from, to) = ends(index, forward)
      var (way, last) = ([Int](), from)
      if isBent, steps[index] > 1 {
        for layer in (boxes[from].layer + 1)..<boxes[to].layer {
          boxes.append(Box(breadth: 8, layer: layer))
          way.append(boxes.count - 1)
          join(last, boxes.count - 1)
          last = boxes.count - 1
        }
      }
      if steps[index] == 1 || isBent, from != to { join(last, to) }
      // If the edge has boxes between its nodes, the first box needs room for the label.
      if let middle = way.first, !edge.label.isEmpty { boxes[middle].breadth = 80 }
      ways.append(forward[index] ? way : way.reversed())
    }
  }

  private mutating func join(_ upper: Int, _ lower: Int) {
    boxes[upper].below.append(lower)
    boxes[lower].above.append(upper)
  }

  /// Sorts each layer by the mean position of the neighbors in the layer before it.
  private mutating func order(downwards: Bool) {
    var positions = Array(repeating: 0.0, count: boxes.count)
    for layer in layers { for (position, index) in layer.enumerated() { positions[index] = Double(position) } }
    for number in downwards ? Array(layers.indices) : layers.indices.reversed() {
      let keys = layers[number].enumerated().map { position, index -> (key: Double, position: Int, index: Int) in
        let neighbors = downwards ? boxes[index].above : boxes[index].below
        let sum = neighbors.reduce(0) { $0 + positions[$1] }
        return (neighbors.isEmpty ? Double(position) : sum / Double(neighbors.count), position, index)
      }
      layers[number] = keys.sorted { ($0.key, $0.position) < ($1.key, $1.position) }.map(\.index)
      for (position, index) in layers[number].enumerated() { positions[index] = Double(position) }
    }
  }

  /// Moves the boxes of each layer as near to their neighbors as their order and size allow, with least squares.
  private mutating func align(downwards: Bool) {
    for layer in downwards ? Array(layers) : layers.reversed() {
      // Blocks of boxes that touch. A block stores the number of its boxes and a sum. For each box, the sum contains
      // the start position of the layer that would place the box at the mean of its neighbors.
      var (blocks, offsets) = ([(sum: Double, count: Int)](), [Double]())
      var offset = 0.0
      for (position, index) in layer.enumerated() {
        if position > 0 {
          offset += (boxes[layer[position - 1]].breadth + boxes[index].breadth) / 2 + Self.nodeGap
        }
        offsets.append(offset)
        let neighbors = downwards ? boxes[index].above : boxes[index].below
        let mean = neighbors.reduce(0) { $0 + boxes[$1].place } / Double(max(neighbors.count, 1))
        blocks.append(((neighbors.isEmpty ? boxes[index].place : mean) - offset, 1))
        while blocks.count > 1,
          blocks[blocks.count - 2].sum / Double(blocks[blocks.count - 2].count)
            > blocks[blocks.count - 1].sum / Double(blocks[blocks.count - 1].count)
        {
          let last = blocks.removeLast()
          blocks[blocks.count - 1].sum += last.sum
          blocks[blocks.count - 1].count += last.count
        }
      }
      var position = 0
      for block in blocks {
        for _ in 0..<block.count {
          boxes[layer[position]].place = block.sum / Double(block.count) + offsets[position]
          position += 1
        }
      }
    }
  }

  /// Sets the center of each layer across the layers; each gap has room for its labels.
  private mutating func setCenters(_ isSideways: Bool) {
    var gaps = Array(repeating: Self.layerGap, count: layers.count)
    for edge in chart.edges where !edge.label.isEmpty && edge.ends.from != edge.ends.to {
      let size = TextLayout.letter
      let lines = edge.label.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      let extent =
        isSideways ? Double(BoardPicture.columns(lines)) * size.width : Double(lines.count) * size.height
      let layer = min(boxes[edge.ends.from].layer, boxes[edge.ends.to].layer)
      gaps[layer] = max(gaps[layer], extent + Self.layerGap)
    }
    var start = 0.0
    for (number, layer) in layers.enumerated() {
      let depth = layer.reduce(0) { max($0, boxes[$1].depth) }
      centers.append(start + depth / 2)
      start += depth + gaps[number]
    }
  }

  // MARK: - Results

  func center(_ node: Int) -> Point { turned(boxes[node].place, centers[boxes[node].layer]) }

  func bends(_ edge: Int) -> [Point] { ways[edge].map(center) }

  private func turned(_ place: Double, _ depth: Double) -> Point {
    switch chart.direction {
    case .down: Point(x: place, y: depth)
    case .up: Point(x: place, y: -depth)
    case .right: Point(x: depth, y: place)
    case .left: Point(x: -depth, y: place)
    }
  }
}

import PeerTestKit
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// Some replicas, the links between them, and time: one seed is one world.
final class World {
  /// What may happen in it.
  struct Weather {
    /// Percent of answers that fail on their way.
    var failures = 10
    /// Percent of datagrams that are lost.
    var loss = 30
    /// Percent of steps in which a link is cut.
    var cuts = 3
    /// Percent of steps in which a link is mended.
    var mends = 8
    /// Per thousand steps in which a program dies and starts anew.
    var crashes = 4
    /// Percent of crashes after which nothing is left of what was kept.
    var losses = 30
    /// The milliseconds by which wall clocks differ at most.
    var skew: UInt64 = 3_600_000
  }

  final class Node {
    let key: any AuthorKey
    let member: MemberID
    let skew: UInt64
    var replica: Replica
    var view = View()
    var stored: Set<AssetID> = []
    var deliveries: [AssetID: Int] = [:]
    var strokes: [ObjectID] = []
    /// What a document would hold.
    var document: [StoredChange] = []
    var divergences = 0

    init(key: any AuthorKey, skew: UInt64, replica: Replica) {
      self.key = key
      member = MemberID(publicKey: key.publicKey)
      self.skew = skew
      self.replica = replica
    }
  }

  /// What a person sees who knows nothing but the actions.
  struct View {
    var objects: [ObjectID: ObjectSnapshot] = [:]
    var holders: [ObjectID: MemberID] = [:]
    var chat: [ObjectID: ChatLine] = [:]
  }

  private struct Parcel {
    let at: UInt64
    let bytes: [UInt8]
    let kind: Kind

    enum Kind {
      case message
      case datagram
      case answer(ResourceDTO)
    }
  }

  private struct Link: Hashable {
    let from: Int
    let to: Int
  }

  /// The board that everyone here is on.
  static let board: BoardID = {
    guard let board = BoardID(1...16) else { preconditionFailure("16 bytes") }
    return board
  }()

  private(set) var random: SeededGenerator
  private(set) var uptime: UInt64 = 1_000_000
  private(set) var nodes: [Node] = []
  private(set) var violations: [ReplicaError] = []
  private(set) var delivered = 0
  private(set) var crashes = 0
  private(set) var cuts = 0
  private(set) var restores = 0
  private var connected: Set<Link> = []
  private var parcels: [Link: [Parcel]] = [:]
  private let weather: Weather
  /// Whether signatures are real ones: one world in 64.
  private let isReal: Bool

  init(seed: UInt64, nodes count: Int, weather: Weather = Weather()) {
    random = SeededGenerator(seed: seed)
    self.weather = weather
    isReal = seed % 64 == 63
    for number in 0..<count { addNode(number) }
  }

  private func addNode(_ number: Int) {
    let key: any AuthorKey =
      isReal ? RealKey(UInt8(number)) : SimulatedKey(UInt64(number))
    let skew = UInt64.random(in: 0...weather.skew, using: &random)
    let now = Moment(wall: 1_700_000_000_000 + skew + uptime, uptime: uptime)
    nodes.append(Node(key: key, skew: skew, replica: replica(key, now)))
  }

  func replica(_ key: any AuthorKey, _ now: Moment) -> Replica {
    Replica(
      author: Author(
        board: Self.board,
        key: key,
        random: SeededGenerator(seed: random.next())
      ),
      now: now,
      verifier: isReal ? P256SignatureVerifier() : SimulatedVerifier()
    )
  }

  func now(_ number: Int) -> Moment {
    Moment(wall: 1_700_000_000_000 + nodes[number].skew + uptime, uptime: uptime)
  }

  func index(of member: MemberID) -> Int? { nodes.firstIndex { $0.member == member } }

  func isConnected(_ one: Int, _ other: Int) -> Bool {
    connected.contains(Link(from: one, to: other))
  }

  // MARK: - Links

  func connect(_ one: Int, _ other: Int) {
    guard one != other, !isConnected(one, other) else { return }
    connected.insert(Link(from: one, to: other))
    connected.insert(Link(from: other, to: one))
    join(one, other)
    join(other, one)
  }

  private func join(_ one: Int, _ other: Int) {
    nodes[one].replica.peerJoined(nodes[other].member, now: now(one))
    carryOut(one)
  }

  func disconnect(_ one: Int, _ other: Int) {
    guard isConnected(one, other) else { return }
    cuts += 1
    for link in [Link(from: one, to: other), Link(from: other, to: one)] {
      connected.remove(link)
      parcels[link] = nil
    }
    nodes[one].replica.peerLeft(nodes[other].member, now: now(one))
    carryOut(one)
    nodes[other].replica.peerLeft(nodes[one].member, now: now(other))
    carryOut(other)
  }

  func connectAll() {
    for one in nodes.indices { for other in nodes.indices { connect(one, other) } }
  }

  /// The program dies: what it had not sent is lost, and it starts anew with what its document holds,
  /// but for the end of it.
  func crash(_ number: Int) {
    crashes += 1
    let neighbours = nodes.indices.filter { isConnected(number, $0) }
    for other in neighbours {
      for link in [Link(from: number, to: other), Link(from: other, to: number)] {
        connected.remove(link)
        parcels[link] = nil
      }
      nodes[other].replica.peerLeft(nodes[number].member, now: now(other))
      carryOut(other)
    }
    let node = nodes[number]
    node.replica = replica(node.key, now(number))
    node.document =
      random.chance(weather.losses)
      ? [] : Array(node.document.dropLast(random.below(20)))
    #expect(throws: Never.self) { try node.replica.restore(node.document, now: now(number)) }
    #expect(node.replica.takeActions().isEmpty)
    if !node.document.isEmpty { restores += 1 }
    let board = node.replica.board
    node.view = View()
    for snapshot in board.snapshots { node.view.objects[snapshot.id] = snapshot }
    for line in board.chat { node.view.chat[line.id] = line }
    for id in board.objectIDs { node.view.holders[id] = board.holder(of: id) }
    node.stored = []
    node.deliveries = [:]
    node.strokes = []
  }

  /// A document is made short: all that it holds becomes one keyframe.
  func compact(_ number: Int) {
    nodes[number].document = [.keyframe(nodes[number].replica.snapshotForKeeping())]
  }

  // MARK: - Actions

  func carryOut(_ number: Int) {
    for action in nodes[number].replica.takeActions() { carryOut(action, number) }
  }

  private func carryOut(_ action: ReplicaAction, _ number: Int) {
    switch action {
    case .send(let bytes, let members):
      for member in members { post(bytes, number, member, .message) }
    case .sendDatagram(let bytes, let members):
      for member in members { post(bytes, number, member, .datagram) }
    case .sendAnswer(let bytes, let name, let member):
      post(bytes, number, member, .answer(name))
    case .record(let change): nodes[number].document.append(change)
    case .diverged: nodes[number].divergences += 1
    case .objectAdded(let snapshot, _):
      #expect(nodes[number].view.objects[snapshot.id] == nil, "added twice")
      nodes[number].view.objects[snapshot.id] = snapshot
    case .objectChanged(let snapshot, _):
      #expect(nodes[number].view.objects[snapshot.id] != nil, "changed before it was added")
      nodes[number].view.objects[snapshot.id] = snapshot
    case .objectRemoved(let id, _):
      nodes[number].view.chat[id] = nil
      nodes[number].view.objects[id] = nil
      nodes[number].view.holders[id] = nil
    case .selected(let id, let holder):
      nodes[number].view.holders[id] = holder
    case .chat(let line, _):
      #expect(nodes[number].view.chat[line.id] == nil, "said twice")
      nodes[number].view.chat[line.id] = line
    case .sendAsset(let id, let dto, let member):
      #expect(nodes[number].stored.contains(id), "sends what it does not have")
      carryAsset(id, dto, from: number, to: member)
    case .protocolViolation(_, let error):
      violations.append(error)
    case .selectionLost, .preview, .presence, .wantAsset, .data, .caughtUp, .profile: break
    }
  }

  private func post(_ bytes: [UInt8], _ from: Int, _ member: MemberID, _ kind: Parcel.Kind) {
    guard let to = index(of: member), isConnected(from, to) else { return }
    if case .datagram = kind {
      guard !random.chance(weather.loss) else { return }
    }
    let at = uptime + UInt64(1 + random.below(60))
    parcels[Link(from: from, to: to), default: []].append(
      Parcel(at: at, bytes: bytes, kind: kind)
    )
  }

  private func carryAsset(_ id: AssetID, _ dto: ResourceDTO, from: Int, to member: MemberID) {
    guard let to = index(of: member) else { return }
    // A resource is as good as its name, read back.
    #expect((try? ResourceDTO(name: dto.name)) == dto)
    nodes[from].replica.assetSent(id, to: member, now: now(from))
    guard nodes[to].replica.expectedAsset(id, from: nodes[from].member) != nil else { return }
    if random.chance(25) {
      nodes[to].replica.assetFailed(id, from: nodes[from].member, now: now(to))
    } else {
      nodes[to].stored.insert(id)
      nodes[to].deliveries[id, default: 0] += 1
      nodes[to].replica.assetStored(id, now: now(to))
    }
    carryOut(to)
  }

  // MARK: - Time

  /// Lets time pass and delivers what is due.
  ///
  /// Messages of a link keep their order; datagrams and answers overtake them and each other.
  func step(_ milliseconds: UInt64) {
    uptime += milliseconds
    for link in parcels.keys.sorted(by: { ($0.from, $0.to) < ($1.from, $1.to) }) {
      deliver(on: link)
    }
    for number in nodes.indices {
      nodes[number].replica.tick(now: now(number))
      carryOut(number)
    }
  }

  private func deliver(on link: Link) {
    var waiting: [Parcel] = []
    var isBlocked = false
    let queue = parcels[link] ?? []
    parcels[link] = []
    for parcel in queue {
      var keepsOrder = false
      if case .message = parcel.kind { keepsOrder = true }
      guard parcel.at <= uptime, !(keepsOrder && isBlocked) else {
        if keepsOrder { isBlocked = true }
        waiting.append(parcel)
        continue
      }
      guard connected.contains(link) else { return }
      delivered += 1
      let node = nodes[link.to]
      let member = nodes[link.from].member
      switch parcel.kind {
      case .message: node.replica.received(parcel.bytes, from: member, now: now(link.to))
      case .datagram: node.replica.receivedDatagram(parcel.bytes, from: member, now: now(link.to))
      case .answer(let name): deliver(parcel.bytes, name, on: link)
      }
      carryOut(link.to)
    }
    parcels[link] = waiting + (parcels[link] ?? [])
  }

  private func deliver(_ answer: [UInt8], _ name: ResourceDTO, on link: Link) {
    // A resource is as good as its name, read back.
    #expect((try? ResourceDTO(name: name.name)) == name)
    #expect(name.byteCount == answer.count)
    guard let request = name.request else { return }
    let (node, sender) = (nodes[link.to], nodes[link.from])
    sender.replica.answerSent(request: request, to: node.member, now: now(link.from))
    guard node.replica.expectsAnswer(name, from: sender.member) else { return }
    if random.chance(weather.failures) {
      node.replica.answerFailed(request: request, from: sender.member, now: now(link.to))
    } else {
      node.replica.receivedAnswer(
        answer,
        request: request,
        from: sender.member,
        now: now(link.to)
      )
    }
  }

  /// One moment of a busy room.
  func happen() {
    if random.chance(50) { edit(random.below(nodes.count)) }
    if random.chance(weather.cuts) {
      let (one, other) = (random.below(nodes.count), random.below(nodes.count))
      disconnect(one, other)
    }
    if random.chance(weather.mends) {
      connect(random.below(nodes.count), random.below(nodes.count))
    }
    if random.below(1000) < weather.crashes { crash(random.below(nodes.count)) }
    if random.below(1000) < 4 { compact(random.below(nodes.count)) }
    step(UInt64(1 + random.below(30)))
  }

  /// Lets time pass until every replica says that it is synced, for a minute at most.
  func settle() -> Bool {
    for _ in 0..<2400 {
      step(25)
      if nodes.indices.allSatisfy({ nodes[$0].replica.isSynced(now: now($0)) }),
        Set(
          nodes.map { DifferenceCoding.encode($0.replica.board.state.difference(since: .init())) }
        )
        .count == 1
      {
        return true
      }
    }
    return false
  }

  /// Whether whoever shows a photo has its bytes, where anybody has them.
  var hasAllAssets: Bool {
    let stored = nodes.reduce(into: Set<AssetID>()) { $0.formUnion($1.stored) }
    return nodes.allSatisfy { node in
      node.replica.board.snapshots.allSatisfy { snapshot in
        snapshot.asset.map { !stored.contains($0.id) || node.stored.contains($0.id) } ?? true
      }
    }
  }

  /// Lets time pass until assets are where they are shown: some minutes at most, since members who
  /// failed are asked again after a while.
  func settleAssets() -> Bool {
    for _ in 0..<600 {
      if hasAllAssets { return true }
      step(500)
    }
    return hasAllAssets
  }

  // MARK: - Edits

  func edit(_ number: Int) {
    do {
      try act(nodes[number], number)
    } catch {
      // A refusal of the board's, such as of an object that somebody holds.
    }
    carryOut(number)
  }

  private func act(_ node: Node, _ number: Int) throws(BoardError) {
    let replica = node.replica
    let now = now(number)
    let ids = replica.board.state.records.keys.sorted()
    let id = ids.randomElement(using: &random)
    let place = Point(x: Double(random.below(9000)) / 7, y: Double(random.below(9000)) / 7 - 600)
    switch (id == nil ? random.below(3) : random.below(16), id) {
    case (0, _):
      try replica.change(now: now) { (board) throws(BoardError) in
        _ = try board.createText("text", at: place)
      }
    case (1, _):
      let asset = Self.asset(UInt8(random.below(200)))
      node.stored.insert(asset.id)
      replica.assetStored(asset.id, now: now)
      try replica.change(now: now) { (board) throws(BoardError) in
        _ = try board.createPhoto(asset, at: place)
      }
    case (2, _):
      node.strokes.append(try replica.beginStroke(now: now))
    case (3, _), (4, _), (5, _):
      guard let stroke = node.strokes.last else { return }
      if random.chance(80) {
        try replica.extendStroke(
          stroke,
          with: [place, Point(x: place.x + 1, y: place.y)],
          now: now
        )
      } else {
        try replica.endStroke(stroke, now: now)
        node.strokes.removeLast()
      }
    case (6, _):
      let line = "line \(random.below(1000))"
      try replica.change(now: now) { (board) throws(BoardError) in
        _ = try board.say(line, as: "Anna")
      }
    case (7, let id?):
      try replica.change(now: now) { (board) throws(BoardError) in try board.delete(id) }
    case (8, let id?):
      try replica.change(now: now) { (board) throws(BoardError) in try board.purge(id) }
    case (9, let id?), (10, let id?):
      let member = node.member
      try replica.change(now: now) { (board) throws(BoardError) in
        try board.object(id)?.select(by: member)
      }
    case (11, _):
      try replica.change(now: now) { (board) throws(BoardError) in try board.deselectAll() }
    case (12, let id?):
      let word = ["one", "two two", "texts"][random.below(3)]
      try replica.change(now: now) { (board) throws(BoardError) in
        try board.replaceText(id, with: word)
      }
    case (13, _):
      try replica.change(now: now) { (board) throws(BoardError) in
        for id in ids.prefix(20) { try board.object(id)?.changePosition(to: place) }
      }
    case (14, let id?):
      try replica.change(now: now) { (board) throws(BoardError) in
        try board.stage(id, .deleted, .unsigned(0))
        try board.stage(id, Property(40), .dot(id.dot))
      }
    case (_, let id?):
      try replica.change(now: now) { (board) throws(BoardError) in
        try board.object(id)?.changeAngle(to: place.x)
      }
    case (_, nil): break
    }
  }

  static func asset(_ number: UInt8) -> AssetReference {
    guard let id = AssetID(Array(repeating: number, count: 32)),
      let header = try? PhotoHeader(format: .png, width: 30, height: 20),
      let asset = try? AssetReference(id: id, byteCount: 1000, header: header)
    else { preconditionFailure("a legal asset") }
    return asset
  }
}

import PeerSession
import Whiteboard

/// Commands that report the state of the board and the session.
extension Node {
  func tellObjects(_ request: CommandRequest) {
    let objects = replica?.board.snapshots.map { description($0) } ?? []
    emit(.objects(.init(count: objects.count, objects: objects, request: request.request)))
  }

  func tellObject(_ reference: ObjectReference, _ request: CommandRequest) throws(CommandError) {
    let editor = try openEditor()
    let id = try editor.resolve(reference)
    let snapshot = editor.board.snapshot(id)
    guard let object = snapshot.map({ description($0) }) ?? description(ofGroup: id) else {
      throw editor.absence(of: id, as: .present)
    }
    emit(.object(.init(id: object.id, object: object, request: request.request)))
  }

  func tellFound(_ area: BoardArea, _ request: CommandRequest) {
    let objects = (replica?.board.find(area) ?? []).map { description($0) }
    emit(.found(.init(count: objects.count, objects: objects, request: request.request)))
  }

  func tellSettings(_ request: CommandRequest) {
    let settings = (replica?.board.settings).map(NodeEvent.SettingsDescription.init)
    emit(.settings(.init(settings: settings ?? .init(), request: request.request)))
  }

  func tellDigest(_ request: CommandRequest) {
    emit(
      .digest(
        .init(
          digest: replica?.digest.hex ?? "",
          objects: replica?.board.objectIDs.count ?? 0,
          request: request.request
        )
      )
    )
  }

  /// Emits the chat without the lines of hidden authors.
  func tellChat(request: RequestMark?) {
    let lines = replica?.board.chat.filter { !isHidden($0.id) }.map(NodeEvent.Chat.init) ?? []
    emit(.chatHistory(.init(count: lines.count, lines: lines, request: request)))
  }

  /// Lists the connected members, with the peers that admitted them.
  func tellPeers(_ request: CommandRequest) async {
    let record = try? await session?.membershipRecord()
    var admitters: [PeerID: PeerID] = [:]
    for member in record?.members ?? [] { admitters[member.peer] = member.admittedBy }
    let own = configuration.identity.peerID
    let list = members.map { peer, member in
      let admitter = admitters[peer]
      return NodeEvent.PeerDescription(
        peer: peer.text,
        name: member.name,
        state: member.state,
        address: member.address,
        role: role(of: peer),
        admittedBy: admitter?.text,
        admittedByName: admitter.flatMap { admitter in
          admitter == own
            ? members.ownName : members[admitter]?.name ?? persistence.names[admitter.text]
        }
      )
    }
    let connected = members.reachedCount
    emit(.peers(.init(count: connected, peers: list, request: request.request)))
  }
}

extension NodeEvent.SettingsDescription {
  /// The settings, as events tell them.
  init(_ settings: BoardSettings) {
    self.init(
      title: settings.title,
      // One that nothing can be seen of is none.
      background: settings.background.flatMap { $0 & 0xFF == 0 ? nil : ColorText.text($0) },
      grid: settings.grid,
      language: settings.language
    )
  }

  /// The keys by which two moments of the settings differ.
  static func changedKeys(_ old: Self, _ new: Self) -> [String] {
    var keys: [String] = []
    if old.title != new.title { keys.append("title") }
    if old.background != new.background { keys.append("background") }
    if old.grid != new.grid { keys.append("grid") }
    if old.language != new.language { keys.append("language") }
    return keys
  }
}

extension Board {
  /// The objects at a place, from front to back.
  fileprivate func find(_ area: BoardArea) -> [ObjectSnapshot] {
    let ids =
      switch area {
      case .point(let point): objects(at: Point(point))
      case .rectangle(let corner, let opposite, let isInside):
        objects(
          in: Rectangle(Point(corner), Point(opposite)),
          mode: isInside ? .inside : .touching
        )
      }
    return ids.compactMap { snapshot($0) }
  }
}

extension NodeEvent.Chat {
  /// A line of the chat, as events tell it.
  init(_ line: ChatLine) {
    self.init(
      id: line.id.description,
      peer: line.author.description,
      name: line.name ?? "",
      icon: line.icon,
      text: line.text,
      at: Timestamp.text(milliseconds: line.sentAt)
    )
  }
}

import Whiteboard

/// The verbs that tell what is there.
extension Node {
  /// Tells what a verb asks for, before its answer.
  func tell(_ request: VerbRequest) throws(VerbError) {
    switch request.verb {
    case .objects:
      let objects = replica?.board.snapshots.map { description($0) } ?? []
      emit(.objects(.init(count: objects.count, objects: objects, request: request.request)))
    case .show(let reference):
      let id = try resolve(reference)
      guard let snapshot = replica?.board.snapshot(id) else {
        throw VerbError(.noSuchObject, "there is no object \(id)")
      }
      let object = description(snapshot)
      emit(.object(.init(id: object.id, object: object, request: request.request)))
    case .chat:
      let lines = replica?.board.chat.map(NodeEvent.Chat.init) ?? []
      emit(.chatHistory(.init(count: lines.count, lines: lines, request: request.request)))
    case .peers:
      tellPeers(request)
    case .digest:
      emit(
        .digest(
          .init(
            digest: replica?.digest.hex ?? "",
            objects: replica?.board.objectIDs.count ?? 0,
            request: request.request
          )
        )
      )
    case .help(let topic):
      emit(.note(.init(code: "help", message: try help(topic))))
    default:
      throw VerbError(.refused, "this board does not do that yet")
    }
  }

  private func tellPeers(_ request: VerbRequest) {
    let list = members.sorted { $0.key < $1.key }.map { peer, member in
      NodeEvent.PeerDescription(
        peer: peer.text,
        name: member.name,
        state: member.state,
        address: member.address
      )
    }
    let connected = members.values.count { $0.isReached }
    emit(.peers(.init(count: connected, peers: list, request: request.request)))
  }

  private func help(_ topic: String?) throws(VerbError) -> String {
    guard let topic, topic != "verbs" else { return VerbTable.text }
    guard let name = VerbName(rawValue: topic) else {
      throw VerbParser.unknownVerb(topic)
    }
    return VerbTable.text(for: name)
  }
}

extension NodeEvent.Chat {
  /// A line of the chat, as events tell it.
  init(_ line: ChatLine) {
    self.init(
      id: line.id.description,
      peer: line.author.description,
      name: line.name ?? "",
      text: line.text,
      at: Timestamp.text(milliseconds: line.sentAt)
    )
  }
}

import PeerDiscovery
import PeerSession
import Whiteboard
import WhiteboardSync

extension Node {
  /// Carries out one verb and answers it.
  func carryOut(_ request: VerbRequest) async {
    do throws(VerbError) {
      switch request.verb {
      case .text, .stroke, .photo, .select, .deselect, .move, .scale, .rotate, .edit, .delete:
        let before = replica?.board.written
        let id = try await edit(request.verb)
        done(request, id: id, hasChanged: replica?.board.written != before)
      case .say(let words):
        let id = try onBoard { (board) throws(BoardError) in
          try board.say(words, as: self.configuration.displayName)
        }
        done(request, id: id)
      case .accept, .decline, .kick, .cancel, .leave:
        try await decide(request.verb)
        done(request)
      case .send(let bytes, let to, let isUnreliable):
        try send(bytes, to: to, isUnreliable: isUnreliable)
        done(request)
      case .resource(let file, let name, let to):
        let peers = try recipients(to)
        beside(request) { node throws(VerbError) in
          try await node.sendResource(file, named: name, to: peers)
        }
      case .stream(let name, let file, let to):
        let peers = try recipients(to)
        beside(request) { node throws(VerbError) in
          try await node.sendStream(file, named: name, to: peers)
        }
      case .objects, .peers, .digest, .help:
        try tell(request)
        done(request)
      case .wait(let condition, let timeout):
        try await wait(for: condition, timeout: timeout.map { .seconds($0) })
        done(request)
      case .quit:
        done(request)
        end(firstFailure.map { .failed($0) } ?? .asked)
      }
    } catch {
      fail(error, answering: request)
    }
    changed()
  }

  /// Runs a verb beside those that follow; its answer comes when it is over.
  private func beside(
    _ request: VerbRequest,
    _ body: @escaping @Sendable (isolated Node) async throws(VerbError) -> [String]
  ) {
    verbsBeside += 1
    spawn { node in
      do throws(VerbError) {
        let transfers = try await body(node)
        node.done(request, transfers: transfers)
      } catch {
        node.fail(error, answering: request)
      }
      node.verbsBeside -= 1
      node.changed()
    }
  }

  // MARK: - Editing

  /// Makes edits, with what the board refuses as the answer.
  private func onBoard<Result>(
    _ body: (Board) throws(BoardError) -> Result
  ) throws(VerbError) -> Result {
    do throws(BoardError) {
      guard let result = try change(body) else { throw .boardFull }
      return result
    } catch {
      throw refusal(error)
    }
  }

  private func refusal(_ error: BoardError) -> VerbError {
    VerbError(error) { member in
      PeerID(bytes: member.bytes).map { self.name(of: $0) } ?? "somebody"
    }
  }

  private func edit(_ verb: Verb) async throws(VerbError) -> ObjectID? {
    switch verb {
    case .text(let at, let words, let alias):
      try check(alias)
      let id = try onBoard { (board) throws(BoardError) in
        try board.createText(words, at: Point(at))
      }
      made(id, alias)
      return id
    case .stroke(let points, let seconds, let alias):
      try check(alias)
      return try await draw(points, seconds: seconds, alias)
    case .photo(let at, let file, let alias):
      try check(alias)
      let reference = try importPhoto(file)
      replica?.assetStored(reference.id, now: now)
      let id = try onBoard { (board) throws(BoardError) in
        try board.createPhoto(reference, at: Point(at))
      }
      made(id, alias)
      return id
    case .deselect:
      try onBoard { (board) throws(BoardError) in try board.deselectAll() }
      return nil
    case .select(let reference), .move(let reference, _), .scale(let reference, _),
      .rotate(let reference, _), .edit(let reference, _), .delete(let reference):
      let id = try resolve(reference)
      if case .edit = verb, let object = replica?.board.object(id), !(object is TextObject) {
        throw VerbError(.wrongKind, "edit is for texts; \(id) is a \(object.kind.name)")
      }
      try onBoard { (board) throws(BoardError) in
        guard let object = board.object(id) else { throw .unknownObject(id) }
        try self.apply(verb, to: object)
      }
      return id
    default:
      return nil
    }
  }

  private func apply(_ verb: Verb, to object: WhiteboardObject) throws(BoardError) {
    let board = object.board
    switch verb {
    case .select:
      // One thing in hand at a time.
      if object.selectedBy != board.member {
        try object.select(by: board.member)
        for other in board.objects where other.id != object.id && other.selectedBy == board.member {
          try other.deselect()
        }
      }
    case .move(_, .to(let point)):
      try object.changePosition(to: Point(point))
    case .move(_, .by(let distance)):
      let center = object.centerPosition
      try object.changePosition(to: Point(x: center.x + distance.x, y: center.y + distance.y))
    case .scale(_, let factor):
      try object.changeScale(to: factor)
    case .rotate(_, let degrees):
      try object.changeAngle(to: degrees.truncatingRemainder(dividingBy: 360) * .pi / 180)
    case .edit(_, let words):
      guard let text = object as? TextObject else { throw .wrongKind(object.id) }
      try text.update(text: words)
    case .delete:
      try board.delete(object.id)
    default:
      break
    }
  }

  /// Draws a stroke, at once or over a time as a hand would.
  private func draw(
    _ points: [BoardPoint],
    seconds: Double,
    _ alias: ObjectAlias?
  ) async throws(VerbError) -> ObjectID {
    guard seconds > 0, points.count > 1 else {
      let id = try onBoard { (board) throws(BoardError) in
        var ink: [InkPoint] = []
        for point in points { ink.append(try InkPoint(Point(point))) }
        return try board.createDrawing(ink)
      }
      made(id, alias)
      return id
    }
    guard let replica else { throw VerbError(.ending, "the board is closed") }
    do throws(BoardError) {
      let pace = StrokePace(count: points.count, seconds: seconds)
      let begin = clock.now
      let id = try replica.beginStroke(now: now)
      made(id, alias)
      carryOutActions()
      var drawn = 0
      while drawn < points.count {
        let due = ending == nil ? pace.due(after: clock.now - begin) : points.count
        if due > drawn {
          try replica.extendStroke(id, with: points[drawn..<due].map { Point($0) }, now: now)
          drawn = due
          carryOutActions()
        }
        guard drawn < points.count else { break }
        await room()
        try? await clock.sleep(for: StrokePace.frame)
      }
      try replica.endStroke(id, now: now)
      carryOutActions()
      return id
    } catch {
      carryOutActions()
      throw refusal(error)
    }
  }

  // MARK: - Names of objects

  private func check(_ alias: ObjectAlias?) throws(VerbError) {
    guard let alias, let id = aliases[alias], replica?.board.object(id) != nil else { return }
    throw VerbError(.aliasTaken, "\(alias) is the name of \(id) already")
  }

  private func made(_ id: ObjectID, _ alias: ObjectAlias?) {
    lastObject = id
    if let alias {
      aliases[alias] = id
    }
  }

  private func resolve(_ reference: ObjectReference) throws(VerbError) -> ObjectID {
    switch reference {
    case .last:
      guard let lastObject else {
        throw VerbError(.noSuchObject, "nothing has been made here yet, so there is no last")
      }
      return lastObject
    case .alias(let alias):
      guard let id = aliases[alias] else {
        throw VerbError(.noSuchObject, "nothing here is called \(alias); `objects` lists the ids")
      }
      return id
    case .id:
      guard let id = ObjectID(reference.description), replica?.board.object(id) != nil else {
        throw VerbError(.noSuchObject, "there is no object \(reference)")
      }
      return id
    case .sequence(let sequence):
      let found = replica?.board.objectIDs.filter { $0.dot.sequence == sequence } ?? []
      guard let id = found.first else {
        throw VerbError(.noSuchObject, "there is no object \(sequence); `objects` lists the ids")
      }
      guard found.count == 1 else {
        throw VerbError(
          .ambiguous,
          "\(found.count) objects start with \(sequence); give one whole: "
            + found.prefix(4).map(\.description).joined(separator: ", ")
        )
      }
      return id
    }
  }

  // MARK: - People

  private func decide(_ verb: Verb) async throws(VerbError) {
    switch verb {
    case .accept(let target):
      try await answer(try invitation(target), accepts: true, reason: nil)
    case .decline(let target, let reason):
      try await answer(try invitation(target), accepts: false, reason: reason)
    case .kick(let target, let reason):
      let peer = try peer(target)
      guard let session else { throw VerbError(.notConnected, "nobody is connected") }
      do throws(SessionError) {
        try await session.kick(peer, reason: reason ?? "")
      } catch {
        throw VerbError(error)
      }
    case .cancel(let target, let reason):
      let (_, transfer) = try transfer(target)
      switch transfer.kind {
      case .resource(let id):
        do throws(SessionError) {
          try session?.cancelResource(id, reason: reason ?? "")
        } catch {
          throw VerbError(.noSuchTransfer, "the transfer is over")
        }
      case .stream(let stream): stream.reset(code: 0)
      }
    default:
      if let session {
        await session.leave()
      } else {
        // There is nothing to stay for.
        end(.asked)
      }
    }
  }

  /// Which question a word of `accept` or `decline` means.
  func invitation(_ word: String) throws(VerbError) -> String {
    var book = NameBook<String>()
    for (id, invitation) in invitations {
      book.add(id: id, names: [invitation.name, invitation.peer.text], value: id)
    }
    if word == "last", invitations.count == 1, let only = invitations.keys.first {
      return only
    }
    do throws(VerbError) {
      return try book.find(word, what: "invitation", missing: .noSuchInvitation)
    } catch {
      // The start of a peer's id serves as well.
      let starts = invitations.filter {
        word.utf8.count >= 4 && $0.value.peer.text.hasPrefix(word.lowercased())
      }
      guard let only = starts.keys.first, starts.count == 1 else { throw error }
      return only
    }
  }

  /// Which transfer a word of `cancel` means.
  func transfer(_ word: String) throws(VerbError) -> (String, PendingTransfer) {
    var book = NameBook<(String, PendingTransfer)>()
    for (id, transfer) in transfers {
      book.add(id: id, names: [transfer.name], value: (id, transfer))
    }
    return try book.find(word, what: "transfer", missing: .noSuchTransfer)
  }

  private func answer(_ id: String, accepts: Bool, reason: String?) async throws(VerbError) {
    switch invitations[id]?.kind {
    case .outgoing:
      if !accepts {
        doubt = NodeError(.notAllowed, "The words are not the same on both screens.")
      }
      answer(id, with: accepts)
    case .incoming(let invitation):
      invitations[id] = nil
      do throws(SessionError) {
        try await session?.respond(
          to: invitation,
          accepts ? .accept : .decline(reason: reason ?? "")
        )
      } catch {
        throw VerbError(error)
      }
    case nil:
      throw VerbError(.noSuchInvitation, "the invitation is over")
    }
  }

  private func peer(_ word: String) throws(VerbError) -> PeerID {
    var book = NameBook<PeerID>()
    for (peer, member) in members {
      book.add(id: peer.text, names: [member.name], value: peer)
    }
    return try book.find(word, what: "peer", missing: .noSuchPeer)
  }

  private func recipients(_ names: [String]) throws(VerbError) -> [PeerID] {
    guard !members.isEmpty else {
      throw VerbError(.notConnected, "nobody is connected; `wait peers=1` waits for somebody")
    }
    guard !names.isEmpty else { return members.keys.sorted() }
    var peers: [PeerID] = []
    for name in names {
      let peer = try peer(name)
      if !peers.contains(peer) {
        peers.append(peer)
      }
    }
    return peers
  }

  private func send(
    _ bytes: [UInt8],
    to names: [String],
    isUnreliable: Bool
  ) throws(VerbError) {
    let peers = try recipients(names)
    guard bytes.count <= (isUnreliable ? VerbParser.maximumDatagramLength : .max) else {
      throw VerbError(
        .tooBig,
        "a message without --unreliable may be as long; with it, at most "
          + "\(VerbParser.maximumDatagramLength) bytes fit"
      )
    }
    replica?.sendData(
      bytes,
      to: peers.compactMap { MemberID($0.bytes) },
      isReliable: !isUnreliable,
      now: now
    )
    carryOutActions()
  }

  // MARK: - Telling and waiting

  private func tell(_ request: VerbRequest) throws(VerbError) {
    switch request.verb {
    case .objects:
      let objects = replica?.board.snapshots.map { description($0) } ?? []
      emit(
        .objects(.init(count: objects.count, objects: objects, request: request.request))
      )
    case .peers:
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
    case .digest:
      let digest = replica?.digest.hex ?? ""
      emit(
        .digest(
          .init(
            digest: digest,
            objects: replica?.board.objectIDs.count ?? 0,
            request: request.request
          )
        )
      )
    case .help(let topic):
      emit(.note(.init(code: "help", message: try help(topic))))
    default:
      break
    }
  }

  private func help(_ topic: String?) throws(VerbError) -> String {
    guard let topic, topic != "verbs" else { return VerbTable.text }
    guard let name = VerbName(rawValue: topic) else {
      throw VerbParser.unknownVerb(topic)
    }
    return VerbTable.text(for: name)
  }

  private func wait(
    for condition: WaitCondition,
    timeout: Duration?
  ) async throws(VerbError) {
    let isSo: Bool
    switch condition {
    case .seconds(let seconds):
      _ = await wait(timeout: .seconds(seconds)) { _ in false }
      isSo = ending == nil
    case .peers(let count):
      isSo = await wait(timeout: timeout) { node in
        let connected = node.members.values.count { $0.isReached }
        return count == 0 ? connected == 0 : connected >= count
      }
    case .objects(let count):
      isSo = await wait(timeout: timeout) { node in
        let objects = node.replica?.board.objectIDs.count ?? 0
        return count == 0 ? objects == 0 : objects >= count
      }
    case .synced:
      isSo = await waitUntilSynced(timeout: timeout)
    }
    guard isSo else {
      throw ending == nil
        ? VerbError(.timedOut, "it did not come to be in time")
        : VerbError(.ending, "the program ends")
    }
  }
}

extension Point {
  /// The same point, as the board has it.
  init(_ point: BoardPoint) {
    self.init(x: point.x, y: point.y)
  }
}

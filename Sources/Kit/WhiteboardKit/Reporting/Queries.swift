import PeerCore
import PeerSession
import Whiteboard
import WhiteboardSync

/// The answers to commands that query the board and the session.
///
/// Confined to the actor of its board.
final class Queries {
  private let runtime: BoardRuntime
  private let session: Session
  private let replica: Replica
  private let members: Members
  private let persistence: Persistence
  private let reports: BoardReports
  private let editor: BoardEditor
  private let roles: Roles

  private var board: Board { replica.board }

  init(
    _ runtime: BoardRuntime,
    _ session: Session,
    _ replica: Replica,
    members: Members,
    persistence: Persistence,
    reports: BoardReports,
    editor: BoardEditor,
    roles: Roles
  ) {
    self.runtime = runtime
    self.session = session
    self.replica = replica
    self.members = members
    self.persistence = persistence
    self.reports = reports
    self.editor = editor
    self.roles = roles
  }

  func emitObjects(request: RequestMark?) {
    let objects = board.snapshots.map { reports.description($0) }
    runtime.emit(.objects(.init(count: objects.count, objects: objects, request: request)))
  }

  func emitObject(_ reference: ObjectReference, request: RequestMark?) throws(CommandError) {
    let id = try editor.resolve(reference)
    let snapshot = board.snapshot(id)
    guard let object = snapshot.map({ reports.description($0) }) ?? reports.description(ofGroup: id) else {
      throw editor.absence(of: id, as: .present)
    }
    runtime.emit(.object(.init(object: object, request: request)))
  }

  func emitFound(_ area: BoardArea, request: RequestMark?) {
    let ids: [ObjectID]
    switch area {
    case .point(let point): ids = board.objects(at: Point(point))
    case .rectangle(let corner, let opposite, let isInside):
      ids = board.objects(in: Rectangle(Point(corner), Point(opposite)), mode: isInside ? .inside : .touching)
    case .text(let words): return emitFound(words, request)
    }
    let objects = ids.compactMap { board.snapshot($0) }.map { reports.description($0) }
    runtime.emit(.found(.init(count: objects.count, objects: objects, request: request)))
  }

  private func emitFound(_ words: String, _ request: RequestMark?) {
    guard let search = TextSearch(words) else { return }
    let named = Set(editor.aliases.filter { search.matches($0.key.description) }.values)
    let objects = search.objects(in: board.snapshots, named: named).map { reports.description($0) }
    let lines = board.chat.filter { search.matches($0.text) }.map(BoardEvent.Chat.init)
    let everyone = [(session.localPeer, UntrustedText(members.ownName))] + members.map { ($0, $1.name) }
    let people = everyone.filter { search.matches($0.1.displayed) }.map {
      BoardEvent.SyncedMember(peer: $0.0.text, name: $0.1)
    }
    let count = objects.count + lines.count + people.count
    runtime.emit(.found(.init(count: count, objects: objects, chat: lines, members: people, request: request)))
  }

  func emitSettings(request: RequestMark?) {
    runtime.emit(.settings(.init(settings: .init(board.settings), request: request)))
  }

  func emitDigest(request: RequestMark?) {
    runtime.emit(.digest(.init(digest: replica.digest.hex, objects: board.state.shownCount, request: request)))
  }

  /// Emits the connected members, with the peers that admitted them.
  nonisolated(nonsending) func emitPeers(request: RequestMark?) async {
    let record = try? await session.membershipRecord()
    var admitters: [PeerID: PeerID] = [:]
    for member in record?.members ?? [] { admitters[member.peer] = member.admittedBy }
    let list = members.map { peer, member in
      let admitter = admitters[peer]
      return BoardEvent.PeerDescription(
        peer: peer.text,
        name: member.name,
        state: member.state,
        address: member.address,
        through: member.relay?.text,
        throughName: member.relay.map(members.name(of:)),
        role: roles.role(of: peer),
        admittedBy: admitter?.text,
        admittedByName: admitter.flatMap { name(of: $0) }
      )
    }
    runtime.emit(.peers(.init(count: members.reachedCount, peers: list, request: request)))
  }

  private func name(of admitter: PeerID) -> UntrustedText? {
    admitter == session.localPeer
      ? UntrustedText(members.ownName) : members[admitter]?.name ?? persistence.names[admitter.text]
  }
}

extension BoardEvent.SettingsDescription {
  init(_ settings: BoardSettings) {
    self.init(
      title: settings.title.map { UntrustedText($0) },
      // A fully transparent background is reported as no background.
      background: settings.background.flatMap { $0 & 0xFF == 0 ? nil : ColorText.text($0) },
      grid: settings.grid,
      language: settings.language.map { UntrustedText($0) }
    )
  }

  static func changedKeys(_ old: Self, _ new: Self) -> [String] {
    var keys: [String] = []
    if old.title != new.title { keys.append("title") }
    if old.background != new.background { keys.append("background") }
    if old.grid != new.grid { keys.append("grid") }
    if old.language != new.language { keys.append("language") }
    return keys
  }
}

extension BoardEvent.Chat {
  init(_ line: ChatLine) {
    self.init(
      id: line.id.description,
      peer: line.author.description,
      name: UntrustedText(line.name ?? ""),
      icon: line.icon.map { UntrustedText($0) },
      text: UntrustedText(line.text),
      at: Timestamp.text(milliseconds: line.sentAt),
      about: line.about?.description,
      isResolved: line.isResolved ? true : nil
    )
  }
}

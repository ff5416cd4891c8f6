import PeerCore
import PeerSession
import Whiteboard
import WhiteboardSync

/// Answers commands that query the board and the session. Confined to the actor of its board.
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

  var objects: SharedBoard.Answer { .objects(reports.listedObjects) }

  func object(_ reference: ObjectReference) throws(CommandError) -> SharedBoard.Answer {
    let id = try editor.resolve(reference)
    let snapshot = board.snapshot(id)
    guard let object = snapshot.map({ reports.description($0) }) ?? reports.description(ofGroup: id) else {
      throw editor.absence(of: id, as: .present)
    }
    return .object(object)
  }

  func found(_ area: BoardArea) -> SharedBoard.Answer? {
    let ids: [ObjectID]
    switch area {
    case .point(let point): ids = board.objects(at: Point(point))
    case .rectangle(let corner, let opposite, let isInside):
      ids = board.objects(in: Rectangle(Point(corner), Point(opposite)), mode: isInside ? .inside : .touching)
    case .text(let words): return found(words)
    }
    return .found(ids.compactMap { board.snapshot($0) }.map { reports.description($0) })
  }

  private func found(_ words: String) -> SharedBoard.Answer? {
    guard let search = TextSearch(words) else { return nil }
    let named = Set(editor.aliases.filter { search.matches($0.key.description) }.values)
    let everyone = [(session.localPeer, UntrustedText(members.ownName))] + members.map { ($0, $1.name) }
    return .found(
      search.objects(in: board.snapshots, named: named).map { reports.description($0) },
      chat: board.chat.filter { search.matches($0.text) },
      members: everyone.filter { search.matches($0.1.displayed) }.map { .init(peer: $0.0.text, name: $0.1) }
    )
  }

  var digest: SharedBoard.Answer { .digest(replica.digest.hex, objects: board.state.shownCount) }

  nonisolated(nonsending) func peers() async -> SharedBoard.Answer {
    let record = try? await session.membershipRecord()
    var admitters: [PeerID: PeerID] = [:]
    for member in record?.members ?? [] { admitters[member.peer] = member.admittedBy }
    let list = members.map { peer, member in
      let admitter = admitters[peer]
      return SharedBoard.PeerDescription(
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
    return .peers(list, connected: members.reachedCount)
  }

  private func name(of admitter: PeerID) -> UntrustedText? {
    admitter == session.localPeer
      ? UntrustedText(members.ownName) : members[admitter]?.name ?? persistence.names[admitter.text]
  }
}

extension BoardSettings {
  func changedKeys(since old: BoardSettings) -> [String] {
    var keys: [String] = []
    if old.title != title { keys.append("title") }
    if old.backgroundText != backgroundText { keys.append("background") }
    if old.grid != grid { keys.append("grid") }
    if old.language != language { keys.append("language") }
    return keys
  }

  /// The background color; nil if the background is fully transparent, because users then see no background.
  package var backgroundText: String? { background.flatMap { $0 & 0xFF == 0 ? nil : ColorText.text($0) } }
}

import PeerCore
import Whiteboard
import WhiteboardKit
import WhiteboardRendering

/// The session as the board reports it: the board's name, the members, their chat, and the questions that the user must
/// answer.
struct SessionState: Sendable {
  var board = BoardInfo()
  private(set) var connection: ConnectionAttempt?
  var members = Members()
  var questions = Questions()
  var removal = RemovalState()
  var chat = ChatLog()

  // MARK: - Connecting

  /// Begins an attempt to join.
  ///
  /// The attempt is shown until the session is connected.
  mutating func connect(to target: String, now: Duration) {
    connection = ConnectionAttempt(to: target, since: now)
    board.isAwaited = true
  }

  /// Ends the attempt to join, because the session is connected.
  mutating func begin(_ ready: BoardEvent.Ready) {
    connection = nil
    board.id = ready.board
    board.ownName = ready.boardName
    show(BoardEvent.Admission(ready))
  }

  private mutating func show(_ admission: BoardEvent.Admission) {
    board.link = admission.link
    board.joinCode = admission.code
    board.isAnnounced = admission.announced
    board.admitters = admission.admitters
  }

  // MARK: - Names

  func names(ownID: MemberID?) -> [MemberID: String] {
    var names: [MemberID: String] = [:]
    for (id, member) in members.all { names[id] = member.name.displayed }
    if let ownID { names[ownID] = "you" }
    return names
  }

  /// Returns the display names of peers that announce this board and are not connected.
  func missing(ownID: MemberID?) -> [String] {
    // After the host has removed the user, other members are no longer expected to connect.
    removal.removal == nil ? members.missing(from: board.id, ownID: ownID) : []
  }

  // MARK: - Events

  /// Handles an event of the board; ignores events that do not concern the session.
  mutating func receive(_ event: BoardEvent, now: Duration) -> [BoardEffect] {
    switch event {
    case .joining(let joining): connection?.show(joining)
    case .caughtUp: board.isAwaited = false
    case .peerFound(let board), .peerUpdated(let board): members.found(board)
    case .peerLost(let board): members.lost(board)
    case .joined(let peer):
      guard let id = MemberID(text: peer.peer) else { break }
      let isNew = members.join(id, name: peer.name, now: now)
      removal.joined(peer.peer)
      questions.joined(peer.peer)
      if isNew {
        let route = peer.throughName.map { " through \($0)" } ?? ""
        chat.remark("\(peer.name) joined\(route)")
      }
    case .left(let peer): if let remark = members.leave(peer) { chat.remark(remark) }
    case .removed(let removed): return remove(removed, now: now)
    case .admission(let admission): show(admission)
    case .carried(let relay):
      let name = relay.name.isEmpty ? "a relay" : "the relay \(relay.name)"
      chat.remark("\(name) keeps the board open when you leave")
    case .peerState(let state): members.show(state, now: now)
    case .profile(let profile): members.show(profile)
    case .web(let web):
      if !web.isOn { board.webLink = nil }
      board.webFingerprint = web.isSelfMade == true ? web.fingerprint : nil
      chat.remark(web.isOn ? "browsers can join the board" : "browsers cannot join the board")
    case .invited(let invited): if invited.code == nil, invited.isForEveryone { board.webLink = invited.link }
    case .role(let role): if let line = EventText.line(.role(role)) { chat.remark(line) }
    case .chat(let line):
      append(line)
      return [.chatReceived(author: line.name, text: line.text)]
    case .chatHistory(let history):
      // If the user asked for the history, the panel shows it instead.
      guard history.request == nil else { break }
      chat.removeAll()
      for line in history.lines { append(line) }
    default: return receiveQuestion(event, now: now)
    }
    return []
  }

  /// Handles the removal of the local member by the host, or the user's choice to continue alone.
  private mutating func remove(_ removed: BoardEvent.Removed, now: Duration) -> [BoardEffect] {
    removal.show(removed, now: now)
    members.removeAll()
    questions.removeAll()
    chat.remark(removed.message)
    return removed.readOnly ? [.membershipEnded] : []
  }

  private mutating func append(_ line: BoardEvent.Chat) {
    chat.append(ChatLog.Line(name: line.name, author: MemberID(text: line.peer), text: line.text))
  }

  private mutating func receiveQuestion(_ event: BoardEvent, now: Duration) -> [BoardEffect] {
    switch event {
    case .invitation(let invitation):
      if invitation.direction == .outgoing { connection?.show(invitation, now: now) }
      guard invitation.mustAnswer else { break }
      questions.add(invitation, now: now)
      return [.questionReceived]
    case .resourceOffered(let offer):
      questions.add(offer)
      return [.questionReceived]
    case .resourceFinished(let end) where end.direction == .incoming:
      guard questions.finish(end.transfer) else { break }
      return EventText.line(.resourceFinished(end)).map { [.message($0)] } ?? []
    default: break
    }
    return []
  }
}

/// The name of the board, and how others join it.
struct BoardInfo: Hashable, Sendable {
  var id = ""
  /// The board's own name, which is shown if it has no title.
  var ownName = UntrustedText("")
  /// The title; nil or empty if the board has none, for example after an undo.
  var title: UntrustedText?
  /// The join link of the board; empty while the board is offline.
  var link = ""
  var joinCode: String?
  /// The connected peers that can admit newcomers; nil if the local user can.
  var admitters: [BoardEvent.Admitter]?
  /// The browser link; nil if browsers cannot join.
  var webLink: String?
  /// The SHA-256 hash of the certificate; nil if browsers do not warn about it.
  var webFingerprint: String?
  /// Whether discovery shows the board to peers on this network.
  var isAnnounced = false
  /// Whether discovery does not work on this computer.
  var isDiscoveryUnavailable = false
  /// Whether the local user is joining this board and has not received its contents yet.
  var isAwaited = false

  var name: UntrustedText { title.flatMap { $0.isEmpty ? nil : $0 } ?? ownName }
}

struct ChatLog: Hashable, Sendable {
  struct Line: Hashable, Sendable {
    /// The author's display name; empty for a remark.
    var name = UntrustedText("")
    /// The author, which determines the color; nil for a remark.
    var author: MemberID?
    let text: UntrustedText

    /// The style of the line: remarks are dimmed, and other lines have their author's color.
    var style: CellStyle { author.map { CellStyle(CellColor(rgb: Pens.color(of: $0))) } ?? .quiet }

    /// The author's name and a colon before the text; empty for a remark.
    var authorPrefix: String { name.isEmpty ? "" : "\(name): " }
  }

  private(set) var lines: [Line] = []
  /// The version of the log: the number of lines that were ever added.
  private(set) var version = 0
  /// The number of lines that arrived while no chat was visible.
  var unreadCount = 0

  static let limit = 5_000

  mutating func append(_ line: Line) {
    lines.append(line)
    version += 1
    if lines.count > Self.limit { lines.removeFirst() }
  }

  mutating func remark(_ text: String) { append(Line(text: UntrustedText(text))) }

  /// Removes all lines, because the whole history is added again.
  mutating func removeAll() { lines = [] }
}

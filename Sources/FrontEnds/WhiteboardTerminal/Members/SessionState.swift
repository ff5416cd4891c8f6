import CommandLines
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

  /// Shows the attempt to connect until the session is connected.
  mutating func connect(to target: String, now: Duration) {
    connection = ConnectionAttempt(to: target, since: now)
    board.isAwaited = true
  }

  /// Ends the attempt to join, because the session is connected.
  mutating func begin(_ ready: SharedBoard.News.Ready) {
    connection = nil
    board.id = ready.board
    board.ownName = ready.boardName
    show(ready)
  }

  private mutating func show(_ admission: SharedBoard.News.Ready) {
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

  func missing(ownID: MemberID?) -> [String] {
    // After the host has removed the user, other members are no longer expected to connect.
    removal.removal == nil ? members.missing(from: board.id, ownID: ownID) : []
  }

  // MARK: - Events

  /// Ignores events that do not concern the session.
  mutating func receive(_ event: SharedBoard.Output, now: Duration) -> [BoardEffect] {
    switch event {
    case .change(let change, let details): return receive(change, details, now: now)
    case .news(let news), .answer(.news(let news), _): return receive(news, now: now)
    // If the user asked for the history, the panel shows it instead.
    case .answer(.chat(let lines), nil):
      chat.removeAll()
      for line in lines { _ = append(line) }
    case .answer: break
    }
    return []
  }

  private mutating func receive(_ change: SharedBoard.Change, _ details: SharedBoard.ChangeDetails, now: Duration)
    -> [BoardEffect]
  {
    let name = details.name ?? UntrustedText("")
    switch change {
    case .caughtUp: board.isAwaited = false
    case .joined:
      guard let id = details.member else { break }
      let isNew = members.join(id, name: name, now: now)
      removal.joined(id.description)
      questions.joined(id.description)
      if isNew { chat.remark("\(name) joined\(details.route.map { " through \($0.name)" } ?? "")") }
    case .left:
      guard let id = details.member, let departure = details.departure else { break }
      if let remark = members.leave(id, name, departure) { chat.remark(remark) }
    case .chat(let line, _):
      guard append(line) else { break }
      return [.chatReceived(author: UntrustedText(line.name ?? ""), text: UntrustedText(line.text))]
    case .personalSetting:
      return EventText.line(.change(change, details)).map { [.message(Answer.withoutSymbol($0))] } ?? []
    default: break
    }
    return []
  }

  private mutating func receive(_ news: SharedBoard.News, now: Duration) -> [BoardEffect] {
    switch news {
    case .joining(let joining): connection?.show(joining)
    case .peerFound(let board), .peerUpdated(let board): members.found(board)
    case .peerLost(let board): members.lost(board)
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
    case .role: if let line = EventText.line(news) { chat.remark(line) }
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
      return EventText.line(news).map { [.message($0)] } ?? []
    default: break
    }
    return []
  }

  /// Handles the removal of the local member by the host, or the user's choice to continue alone.
  private mutating func remove(_ removed: SharedBoard.News.Removed, now: Duration) -> [BoardEffect] {
    removal.show(removed, now: now)
    members.removeAll()
    questions.removeAll()
    chat.remark(removed.message)
    return removed.readOnly ? [.membershipEnded] : []
  }

  /// Returns false if the chat already has the line. In that case, the line was only marked as resolved or open.
  private mutating func append(_ line: ChatLine) -> Bool {
    let id = line.id.description
    chat.openComments[id] = line.isResolved ? nil : line.about
    if line.about != nil, !chat.commentIDs.insert(id).inserted { return false }
    let name = UntrustedText(line.name ?? "")
    chat.append(ChatLog.Line(name: name, author: line.author, text: UntrustedText(line.text)))
    return true
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
  var admitters: [SharedBoard.News.Admitter]?
  /// The browser link; nil if browsers cannot join.
  var webLink: String?
  /// The SHA-256 hash of the certificate; nil if browsers do not warn about it.
  var webFingerprint: String?
  var isAnnounced = false
  /// Why boards cannot be found or announced on this network; nil if they can.
  var discoveryProblem: String?
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

    var style: CellStyle { author.map { CellStyle(CellColor(rgb: Pens.color(of: $0))) } ?? .quiet }

    var authorPrefix: String { name.isEmpty ? "" : "\(name): " }
  }

  private(set) var lines: [Line] = []
  /// The objects that open comments are about, by the ids of the lines.
  var openComments: [String: ObjectID] = [:]
  /// The ids of all lines about objects.
  var commentIDs: Set<String> = []

  /// The number of open comments about each object.
  var comments: [ObjectID: Int] { openComments.values.reduce(into: [:]) { $0[$1, default: 0] += 1 } }
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
  mutating func removeAll() { (lines, openComments, commentIDs) = ([], [:], []) }
}

/// The removal of the local member by the host, and the box that reports it.
struct RemovalState: Sendable {
  enum Answer: Equatable, Sendable {
    /// Continue with the local copy.
    case proceed
    case leave, redraw, none
  }

  private(set) var removal: SharedBoard.News.Removed?
  /// The time when the box appeared; nil while it is not shown.
  private(set) var shownSince: Duration?

  /// The time for which keys are ignored after the box appears. The user may press them before noticing the box.
  private static let pause = Duration.seconds(1)

  /// If the user continues with a copy of the board, no box is shown.
  mutating func show(_ removed: SharedBoard.News.Removed, now: Duration) {
    removal = removed
    shownSince = removed.readOnly ? now : nil
  }

  /// Clears the removal if the member that joined is the host: the host has admitted the local member again.
  mutating func joined(_ peer: String) { if peer == removal?.peer { (removal, shownSince) = (nil, nil) } }

  mutating func answer(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers, now: Duration) -> Answer? {
    guard let removal, let shownSince else { return nil }
    switch KeyMap.name(key, modifiers) {
    case "ctrl+l": return .redraw
    case _ where now - shownSince < Self.pause: return Answer.none
    case "c" where removal.canContinue:
      self.shownSince = nil
      return .proceed
    case "enter", "escape", "space": self.shownSince = nil
    case "q", "ctrl+c", "ctrl+d": return .leave
    default: break
    }
    return Answer.none
  }

  func draw(on screen: inout Screen, _ layout: ScreenLayout) {
    guard let removal, shownSince != nil else { return }
    let choice =
      removal.canContinue
      ? ["The board is read-only until you decide.", "", "c      continue with your own copy"]
      : ["The board stays read-only, because the host owns it.", ""]
    let lines =
      [UntrustedText(removal.message).escaped(limit: 1_000)] + choice + ["Enter  only view the board", "q      leave"]
    Dialog(lines).draw(on: &screen, layout)
  }

  /// The text in the last row after a removal; nil if the local user is a member.
  var status: String? {
    guard let removal else { return nil }
    let host = EventText.shortName(removal.name, removal.peer)
    return removal.readOnly
      ? "\(host) removed you; read-only" + (removal.canContinue ? ", :continue uses your copy" : "")
      : "\(host) removed you; this is your own copy"
  }
}

/// An attempt to join a session, and the screen that shows it. The user cannot draw until the session is connected, so
/// that no work is lost if connecting fails.
struct ConnectionAttempt: Hashable, Sendable {
  /// The target that the user asked for, shown in the first line; empty for any board nearby.
  private var target: UntrustedText
  private let since: Duration
  private var step: SharedBoard.News.Joining.Step?
  /// The display name of the peer, as the peer announced or sent it.
  private var name: UntrustedText?
  /// The verification words that the host's user may compare with those on this screen; nil if there are none.
  private var words: String?
  /// The time until which the host's user may accept; nil if it is not known.
  private var end: Duration?
  /// The addresses that are dialed, the latest last.
  private var addresses: [String] = []

  private static let addressLimit = 4

  init(to target: String, since: Duration) {
    self.target = UntrustedText(target)
    self.since = since
  }

  mutating func show(_ joining: SharedBoard.News.Joining) {
    step = joining.step
    if joining.step != .awaitingAcceptance { (words, end) = (nil, nil) }
    if joining.step != .searching, let board = joining.boardName { target = board }
    if let name = joining.name, !name.isEmpty { self.name = name }
    guard let address = joining.address, joining.step == .connecting else { return }
    addresses.removeAll { $0 == address }
    addresses.append(address)
  }

  mutating func show(_ invitation: SharedBoard.News.Invitation, now: Duration) {
    words = invitation.words
    end = invitation.seconds.map { now + .seconds($0) }
  }

  /// Returns the action of a key that cancels the attempt or redraws the screen; nil for all other keys.
  static func action(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> BoardClient.Action? {
    switch KeyMap.name(key, modifiers) {
    case "escape", "q", "ctrl+c", "ctrl+d": .quit
    case "ctrl+l": .redraw
    default: nil
    }
  }

  private func lines(at now: Duration) -> [String] {
    let target = target.displayed
    let name = name?.displayed ?? "the other side"
    let step: String
    switch self.step {
    case nil, .searching: step = "Looking for boards on this network."
    case .connecting: step = "Dialing."
    case .awaitingAnswer: step = "Connected; waiting for an answer."
    case .provingCode: step = "Checking the join code."
    case .awaitingAcceptance: step = "Waiting for \(name) to accept."
    }
    var lines = [target.isEmpty ? "Connecting to a board nearby" : "Connecting to \(target)", "", step]
    lines += addresses.suffix(Self.addressLimit).map { "  \(UntrustedText($0).escaped(limit: 64))" }
    if let words {
      lines += ["", "Both screens must show these words:", "", "  \(UntrustedText(words).escaped(limit: 128))"]
    }
    let left = end.map { "   \(EventText.timeLeft($0 - now)) left to accept" } ?? ""
    lines += ["", "\(Int((now - since) / .seconds(1))) s\(left)   Esc or q cancels"]
    return lines
  }

  /// Draws the attempt. Under a question, draws only the first and the last line, because the question covers the other
  /// lines.
  func draw(on screen: inout Screen, _ layout: ScreenLayout, isUnderQuestion: Bool, now: Duration) {
    var lines = lines(at: now)
    if isUnderQuestion, lines.count < layout.rows {
      lines = [lines[0]] + Array(repeating: "", count: layout.rows - 2) + [lines[lines.count - 1]]
    }
    let top = max(0, (layout.rows - lines.count) / 2)
    let width = lines.map { CharacterWidth.columns($0) }.max() ?? 0
    let left = max(0, (layout.columns - width) / 2)
    for (row, line) in lines.enumerated() {
      let style: CellStyle = row == 0 ? .strong : row == lines.count - 1 ? .quiet : .plain
      screen.put(TextLines.cut(line, columns: layout.columns - left), x: left, y: top + row, style)
    }
  }
}

struct Questions: Sendable {
  private(set) var invitations: [SharedBoard.News.Invitation] = []
  /// The times at which the invitations expire, on the client's clock.
  private var ends: [String: Duration] = [:]
  /// The requests that the user has accepted, until their senders have compared the words.
  private var accepted: [SharedBoard.News.Invitation] = []
  /// The ids of the accepted requests whose senders are still comparing the words.
  private var compared: Set<String> = []
  private(set) var fileOffers: [SharedBoard.News.ResourceOffered] = []
  /// The transfers that were offered to the user and have not ended.
  private var offeredTransfers: Set<String> = []

  var isEmpty: Bool { invitations.isEmpty && fileOffers.isEmpty }

  /// Whether a part of the screen shows the time that is left to answer or to compare the words.
  var isTicking: Bool { !compared.isEmpty || invitations.first.map { ends[$0.id] != nil } ?? false }

  mutating func add(_ invitation: SharedBoard.News.Invitation, now: Duration) {
    invitations.append(invitation)
    ends[invitation.id] = invitation.seconds.map { now + .seconds($0) }
  }

  mutating func add(_ offer: SharedBoard.News.ResourceOffered) {
    fileOffers.append(offer)
    offeredTransfers.insert(offer.transfer)
  }

  mutating func removeInvitation(_ id: String?) {
    invitations.removeAll { $0.id == id }
    removeAccepted { $0.id == id }
  }

  mutating func joined(_ peer: String) { removeAccepted { $0.peer == peer } }

  private mutating func removeAccepted(_ matches: (SharedBoard.News.Invitation) -> Bool) {
    accepted.removeAll(where: matches)
    compared.formIntersection(accepted.map(\.id))
  }

  /// Records that the sender of an accepted request is still comparing the words.
  mutating func compares(_ id: String?) { if let id, accepted.contains(where: { $0.id == id }) { compared.insert(id) } }

  /// The peer whose user is still comparing the words, and the time that is left; nil if there is none.
  func comparison(at now: Duration) -> String? {
    guard let invitation = accepted.first(where: { compared.contains($0.id) }) else { return nil }
    let name = EventText.shortName(invitation.name, EventText.person(invitation.name, invitation.peer))
    let left = ends[invitation.id].map { " (\(EventText.timeLeft($0 - now)) left)" } ?? ""
    return "\(name) compares the words\(left)"
  }

  /// Removes the offer of a transfer that ended. Returns whether the transfer was offered to the user.
  mutating func finish(_ transfer: String) -> Bool {
    fileOffers.removeAll { $0.transfer == transfer }
    return offeredTransfers.remove(transfer) != nil
  }

  mutating func removeAll() {
    invitations = []
    (accepted, compared, ends) = ([], [], [:])
    fileOffers = []
  }

  /// Returns the command that answers the first question: `y`, `A` (always) or `n`. Returns nil if the key is not an
  /// answer, or if there is no question.
  mutating func answer(_ key: InputEvent.Key) -> Command? {
    guard case .character(let letter) = key else { return nil }
    guard let invitation = invitations.first else {
      guard let offer = fileOffers.first, letter == "y" || letter == "n" else { return nil }
      fileOffers.removeFirst()
      return letter == "y" ? .accept(target: offer.transfer) : .decline(target: offer.transfer, reason: nil)
    }
    let answer: Command
    switch letter {
    case "y": answer = .accept(target: invitation.id)
    // Only the upper-case letter answers, because `a` is the key of the arrow tool.
    case "A" where invitation.direction == .incoming: answer = .accept(target: invitation.id, isAlways: true)
    case "n": answer = .decline(target: invitation.id, reason: nil)
    default: return nil
    }
    invitations.removeFirst()
    if letter != "n", invitation.direction == .incoming { accepted.append(invitation) }
    return answer
  }

  func draw(on screen: inout Screen, _ layout: ScreenLayout, now: Duration) {
    if let invitation = invitations.first {
      Dialog(lines(invitation, now: now)).draw(on: &screen, layout)
    } else if let offer = fileOffers.first {
      Dialog([EventText.offerLine(offer), "", "y accept   n decline"]).draw(on: &screen, layout)
    }
  }

  private func lines(_ invitation: SharedBoard.News.Invitation, now: Duration) -> [String] {
    let isIncoming = invitation.direction == .incoming
    let name = EventText.person(invitation.name, invitation.peer)
    var lines = [isIncoming ? "\(name) asks to join." : "Joining \(name)."]
    if isIncoming, invitation.known == true {
      lines += ["You already know this peer's key."]
      lines += invitation.words.map { ["To compare words anyway:", "", "  \($0)"] } ?? []
      lines += [""]
    } else if let words = invitation.words {
      lines += ["Both screens must show these words:", "", "  \(words)", ""]
    }
    if let warning = invitation.warning { lines.append(UntrustedText(warning).escaped(limit: 200)) }
    let left = ends[invitation.id].map { EventText.timeLeft($0 - now) }
    lines.append(
      isIncoming ? "y yes   A always admit \(EventText.shortName(invitation.name, name))   n no" : "y yes   n no"
    )
    if let left { lines.append("\(left) left to answer") }
    return lines
  }
}

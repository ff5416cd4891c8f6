import PeerCore
import PeerSession
import WhiteboardSync

/// A board in use, with the information that other peers need to join it. Confined to the actor of its board.
final class Serving {
  let active: ActiveBoard
  let intake: SessionIntake
  let timedWork: TimedWork
  private(set) var ready: SharedBoard.News.Ready
  private var openBoard: OpenBoardFile?

  init(_ active: ActiveBoard, _ intake: SessionIntake, _ timedWork: TimedWork, _ ready: SharedBoard.News.Ready) {
    self.active = active
    self.intake = intake
    self.timedWork = timedWork
    self.ready = ready
  }

  var board: BoardSession { active.boardSession }

  func link(code: JoinCode) -> String {
    guard var link = try? BoardLink(ready.link) else { return "" }
    link.code = code.words
    return link.text
  }

  func setAnnounced(_ isAnnounced: Bool) { ready.announced = isAnnounced }

  func setCode(_ code: JoinCode, _ configuration: BoardConfiguration) {
    board.setCode(code)
    ready.link = link(code: code)
    ready.code = code.text
    if openBoard != nil { showOpenBoard(configuration) }
  }

  /// Updates ``ready`` after the policy or the set of admitting peers changed; returns nil if nothing changed.
  func updateAdmission(_ configuration: BoardConfiguration, isAnnounced: Bool) -> SharedBoard.News.Ready? {
    let former = ready
    let canAdmit = board.admitsNewcomers(configuration)
    ready.admit = board.admission.rawValue
    ready.code = board.code?.text
    ready.announced = isAnnounced
    ready.admitters = canAdmit || ready.addresses.isEmpty ? nil : board.admitters
    ready.link = canAdmit ? board.link(at: ready.addresses.first, of: ready.peer, configuration) : ""
    guard ready != former else { return nil }
    if openBoard != nil { showOpenBoard(configuration) }
    return ready
  }

  /// Returns false if the file of the open board could not be written.
  @discardableResult func showOpenBoard(_ configuration: BoardConfiguration) -> Bool {
    // The previous file object holds the lock until the object is released.
    openBoard = nil
    openBoard = OpenBoardFile(
      OpenBoard(
        board: ready.board,
        boardName: ready.boardName.raw,
        peer: ready.peer,
        port: ready.port,
        listen: configuration.listen?.host,
        interface: configuration.interface,
        admit: ready.admitters == nil ? ready.admit : BoardInvitation.closed,
        code: ready.code,
        pass: board.pass(configuration)
      ),
      inDataDirectory: configuration.dataDirectory
    )
    return openBoard != nil
  }

  func hideOpenBoard() { openBoard = nil }
}

extension BoardSession {
  /// The pass for links to the local peer; nil if no user is asked to admit peers (HEL-9).
  func pass(_ configuration: BoardConfiguration) -> String? {
    admission == .ask ? configuration.identity.invitationPass(for: session.id).text : nil
  }

  nonisolated(nonsending) func ready(_ configuration: BoardConfiguration, _ transport: PeerTransport, isAnnounced: Bool)
    async -> SharedBoard.News.Ready
  {
    var hosts: [String] = []
    if configuration.isListening {
      hosts = await transport.addresses()
      if let listen = configuration.listen, !["0.0.0.0", "::"].contains(listen.host) { hosts = [listen.host] }
      if hosts.isEmpty { hosts = ["127.0.0.1"] }
    }
    let addresses = hosts.compactMap { HostPort(host: $0, port: transport.port) }
    let canAdmit = admitsNewcomers(configuration)
    let peer = transport.peerID.text
    return SharedBoard.News.Ready(
      peer: peer,
      name: UntrustedText(configuration.displayName),
      addresses: addresses.map(\.description),
      port: transport.port,
      board: session.id.text,
      boardName: UntrustedText(name),
      admit: admission.rawValue,
      code: code?.text,
      link: canAdmit ? link(at: addresses.first?.description, of: peer, configuration) : "",
      announced: isAnnounced,
      admitters: canAdmit || addresses.isEmpty ? nil : admitters
    )
  }

  /// Returns an empty link if the local peer does not listen.
  func link(at address: String?, of peer: String, _ configuration: BoardConfiguration) -> String {
    guard let address = address.flatMap({ HostPort($0) }) else { return "" }
    return BoardLink(
      address: address,
      board: session.id.text,
      peer: peer,
      pass: pass(configuration),
      code: code?.words ?? []
    ).text
  }

  var admitters: [SharedBoard.News.Admitter] {
    let admitters = Set(session.admitters)
    return session.peers().map(\.peer).filter { admitters.contains($0.id) }.map { peer in
      SharedBoard.News.Admitter(peer: peer.id.text, name: peer.name)
    }
  }
}

extension JoinCode {
  var words: [String] { text.split(separator: "-").map(String.init) }
}

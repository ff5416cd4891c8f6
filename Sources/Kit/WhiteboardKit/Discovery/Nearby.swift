import PeerCore
import PeerDiscovery
import PeerSession

package struct Nearby: Sendable {
  private var peers: [DiscoveredPeer.ID: DiscoveredPeer] = [:]
  private var appearances: [DiscoveredPeer.ID: Int] = [:]
  private var nextAppearance = 0

  package init() {}

  package mutating func insert(_ peer: DiscoveredPeer) {
    if peers.updateValue(peer, forKey: peer.id) == nil {
      appearances[peer.id] = nextAppearance
      nextAppearance += 1
    }
  }

  package mutating func remove(_ peer: DiscoveredPeer) {
    peers[peer.id] = nil
    appearances[peer.id] = nil
  }

  func inOrderOfAppearance(_ peers: [DiscoveredPeer]) -> [DiscoveredPeer] {
    peers.sorted { (appearances[$0.id] ?? .max) < (appearances[$1.id] ?? .max) }
  }

  package struct Board: Sendable {
    package let id: SessionID
    /// The peers, ordered by id.
    package let peers: [DiscoveredPeer]
    /// Whether another board nearby has the same name, so that the texts about this board contain an id prefix.
    fileprivate(set) var hasNamesake = false

    fileprivate var announcedName: UntrustedText { peers.first?.announcement.boardName ?? UntrustedText("") }

    /// The name of the board and of a host, with the id prefix of the board or the host.
    var label: String {
      guard !hasNamesake else { return named(announcedName) + " by \(EventText.listed(names))" }
      let host = peers.first.map { EventText.person($0.announcement.hostName, $0.announcement.peer.text) }
      return named(announcedName) + " by \(host ?? "")"
    }

    private func named(_ name: UntrustedText) -> String {
      hasNamesake ? "\(name.quoted()) (\(id.short))" : name.quoted()
    }

    /// The names of the hosts. If several hosts have the same name, each of these names has an id prefix.
    package var names: [String] {
      let names = peers.map(\.announcement.hostName)
      return zip(names, peers).map { name, peer in
        let id = peer.announcement.peer.text
        return names.count { $0 == name } > 1 ? EventText.person(name, id) : EventText.shortName(name, id)
      }.sorted()
    }

    package func line(isOwn: Bool, title: String? = nil) -> String {
      let shown = named(title.map { UntrustedText($0) } ?? announcedName)
      let hosts = EventText.listed(names)
      var parts = [
        isOwn ? "\(shown): yours, \(hosts) \(names.count == 1 ? "is" : "are") on it" : "\(shown) by \(hosts)"
      ]
      if let people = peers.compactMap(\.announcement.participants).max() {
        parts.append("\(EventText.count(Int(people), "person", "people")) there")
      }
      if let address = peers.lazy.compactMap(\.endpoints.first).first {
        parts.append("at \(UntrustedText(address.description).escaped(limit: 128))")
      }
      return parts.joined(separator: ", ")
    }
  }

  /// The boards, ordered by id.
  package var boards: [Board] {
    let sorted = peers.values.filter { !$0.isRelayAlone }.sorted {
      $0.announcement.peer.text < $1.announcement.peer.text
    }
    let groups = Dictionary(grouping: sorted) { $0.announcement.session.bytes }
    var boards = groups.compactMap { bytes, peers in SessionID(bytes: bytes).map { Board(id: $0, peers: peers) } }
    boards.sort { $0.id.text < $1.id.text }
    let namesakes = Dictionary(grouping: boards.indices) { boards[$0].announcedName.displayed.lowercased() }
    for index in namesakes.values.lazy.filter({ $0.count > 1 }).joined() { boards[index].hasNamesake = true }
    return boards
  }

  func announcers(where holds: (Announcement) -> Bool) -> [DiscoveredPeer] {
    inOrderOfAppearance(peers.values.filter { holds($0.announcement) })
  }

  func announcers(of session: SessionID) -> [DiscoveredPeer] {
    peers.values.filter { $0.announcement.session.bytes == session.bytes }
  }

  /// The relays that accept boards, ordered by id (DSC-24).
  package var relays: [DiscoveredPeer] {
    peers.values.filter(\.isRelayAlone).sorted { $0.announcement.peer.text < $1.announcement.peer.text }
  }

  /// Returns the boards with this name; all boards if the name is nil.
  func boards(meantBy name: String?) -> [Board] {
    guard let name else { return boards }
    let lower = name.lowercased()
    let isSame: (String) -> Bool = { $0.lowercased() == lower }
    return boards.filter { board in
      (name.utf8.count >= 4 && board.id.text.hasPrefix(lower))
        || board.peers.contains {
          isSame($0.announcement.boardName.raw) || isSame($0.announcement.hostName.raw)
            || (name.utf8.count >= 4 && $0.announcement.peer.text.hasPrefix(lower))
        }
    }
  }
}

extension DiscoveredPeer {
  /// Whether the announcement is from a relay that accepts boards, rather than from a member of a board.
  package var isRelayAlone: Bool { announcement.session == .none }
}

extension SharedBoard.News.FoundBoard {
  package init(_ peer: DiscoveredPeer) {
    self.init(
      peer: peer.announcement.peer.text,
      name: peer.announcement.hostName,
      board: peer.isRelayAlone ? nil : peer.announcement.session.text,
      boardName: peer.isRelayAlone ? nil : peer.announcement.boardName,
      addresses: peer.endpoints.map(\.description),
      participants: peer.announcement.participants.map(Int.init),
      role: peer.announcement.role.rawValue,
      admit: peer.announcement.admission?.rawValue
    )
  }
}

extension Nearby {
  package static func problem(of discovery: any Discovery) async -> DiscoveryProblem? {
    await firstOf(within: .seconds(3)) { () -> DiscoveryProblem? in
      await discovery.browse(BrowserQuery(excluding: nil)) { events in
        for await event in events {
          if case .unavailable(let problem) = event { return problem }
          return nil
        }
        return nil
      }
    }
  }
}

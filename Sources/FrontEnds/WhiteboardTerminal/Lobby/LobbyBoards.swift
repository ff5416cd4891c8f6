import PeerCore
import PeerDiscovery
import WhiteboardKit

/// The boards that the lobby lists: those on this network, and those on this computer.
struct LobbyBoards: Sendable {
  enum Row: Hashable, Sendable {
    case nearby(String)
    case own(LobbyClient.OwnBoard)

    /// The identity of the row while boards appear and disappear.
    var key: String {
      switch self {
      case .nearby(let id): id
      case .own(let board): board.board ?? board.path
      }
    }
  }

  /// The announcements by board id and by peer id.
  private var nearby: [String: [String: SharedBoard.News.FoundBoard]] = [:]
  /// The announced boards whose announced peers do not answer.
  private var unreachable: Set<String> = []
  var own: [LobbyClient.OwnBoard] = []

  /// Leaves out the unreachable boards that have a local copy, because they are listed with the user's own boards.
  private var shownNearby: [String] { nearby.keys.filter { !unreachable.contains($0) || copy(of: $0) == nil } }

  var nearbyCount: Int { shownNearby.count }

  var hasNoneNearby: Bool { shownNearby.isEmpty }

  /// The boards on this network, sorted by name, followed by the user's other boards.
  var list: [Row] {
    let nearby = shownNearby
    return nearby.sorted { (name(of: $0), $0) < (name(of: $1), $1) }.map { .nearby($0) }
      + own.filter { $0.board.map { !nearby.contains($0) } ?? true }.map { .own($0) }
  }

  // MARK: - Announcements

  /// Adds or updates an announced board. Returns false for the announcement of a relay.
  mutating func found(_ board: SharedBoard.News.FoundBoard) -> Bool {
    // A relay announces no board of its own.
    guard let id = board.board else { return false }
    if nearby[id, default: [:]].updateValue(board, forKey: board.peer) == nil { unreachable.remove(id) }
    return true
  }

  mutating func searchBegan() {
    nearby = [:]
    unreachable = []
  }

  var addresses: [String: [String]] {
    nearby.mapValues { peers in peers.values.sorted { $0.peer < $1.peer }.flatMap { $0.addresses.prefix(2) } }
  }

  mutating func answered(_ isReachable: Bool, _ board: String) {
    guard nearby[board] != nil else { return }
    if isReachable { unreachable.remove(board) } else { unreachable.insert(board) }
  }

  mutating func lost(_ board: SharedBoard.News.FoundBoard) {
    guard let id = board.board else { return }
    nearby[id]?[board.peer] = nil
    if nearby[id]?.isEmpty == true {
      nearby[id] = nil
      unreachable.remove(id)
    }
  }

  /// Returns the board's announcement with the highest number of participants.
  private func announcement(of board: String) -> SharedBoard.News.FoundBoard? {
    nearby[board]?.values.max { ($0.participants ?? 0, $1.peer) < ($1.participants ?? 0, $0.peer) }
  }

  func requiresCode(_ board: String) -> Bool { nearby[board]?.values.allSatisfy { $0.admit == "code" } ?? false }

  func copy(of board: String) -> LobbyClient.OwnBoard? { own.first { $0.board == board } }

  // MARK: - Texts

  /// Returns the name of a board on this network: the title in the local copy, or otherwise the announced name.
  private func name(of board: String) -> String {
    let title = copy(of: board)?.title.map { UntrustedText($0) }
    return (title ?? announcement(of: board)?.boardName)?.displayed ?? ""
  }

  /// Returns the display names of all peers that announce a board. If several peers have the same name, each name is
  /// followed by the peer's id.
  private func announcers(_ board: String) -> [String] {
    let found = (nearby[board] ?? [:]).values.sorted { ($0.name, $0.peer) < ($1.name, $1.peer) }
    return found.map { board in
      found.count { $0.name == board.name } > 1
        ? EventText.person(board.name, board.peer) : EventText.shortName(board.name, board.peer)
    }
  }

  func text(_ row: Row) -> String {
    switch row {
    case .nearby(let id):
      guard let board = announcement(of: id) else { return "" }
      let people =
        unreachable.contains(id)
        ? "does not answer" : board.participants.map { $0 == 1 ? "1 person" : "\($0) people" } ?? ""
      let ownName = name(of: id)
      let isShared = nearby.keys.contains { $0 != id && self.name(of: $0) == ownName }
      let name = isShared ? "\(ownName) (\(id.prefix(8)))" : ownName
      let names = announcers(id)
      let announcerNames = EventText.listed(names)
      let admission = board.admit.flatMap { Self.admissionTexts[$0] } ?? ""
      guard copy(of: id) == nil else {
        let are = names.count == 1 ? "is" : "are"
        return "\(name)  yours, \(announcerNames) \(are) on it  \(people)".trimmed
      }
      return [name, announcerNames, people, board.addresses.first ?? "", admission].filter { !$0.isEmpty }.joined(
        separator: "  "
      )
    case .own(let board):
      let name = board.title ?? board.name
      let isShared = own.count { ($0.title ?? $0.name) == name } > 1
      let file = board.path.split(separator: "/").last.map(String.init) ?? ""
      return "\(UntrustedText(isShared ? "\(name) (\(file))" : name))  \(board.about)"
    }
  }

  private static let admissionTexts = [
    "anyone": "open to all", "ask": "asks first", "code": "join code required", "known": "known people only",
  ]
}

extension LobbyClient {
  package struct OwnBoard: Hashable, Sendable {
    let name: String
    let path: String
    let about: String
    /// The board's id; nil if it cannot be read from the file.
    let board: String?
    let title: String?

    package init(name: String, path: String, about: String, board: String? = nil, title: String? = nil) {
      self.board = board
      self.title = title
      self.name = name
      self.path = path
      self.about = about
    }
  }
}

package struct Lobby: Sendable {
  package let discovery: any Discovery
  /// The default name of a new board.
  package let suggestion: String
  package let isReachable: @Sendable (_ addresses: [String]) async -> Bool
  /// Whether the settings contain a join code, so that the user need not enter it.
  package let hasCode: Bool
  package let boards: @Sendable () async -> [LobbyClient.OwnBoard]
  /// A function that returns the configuration of the board for a choice; nil if the choice is to quit.
  package let configuration: @Sendable (LobbyClient.Choice) async throws(WhiteboardError) -> BoardConfiguration?

  package init(
    discovery: any Discovery,
    isReachable: @escaping @Sendable ([String]) async -> Bool,
    suggestion: String,
    hasCode: Bool,
    boards: @escaping @Sendable () async -> [LobbyClient.OwnBoard],
    configuration: @escaping @Sendable (LobbyClient.Choice) async throws(WhiteboardError) -> BoardConfiguration?
  ) {
    self.discovery = discovery
    self.isReachable = isReachable
    self.suggestion = suggestion
    self.hasCode = hasCode
    self.boards = boards
    self.configuration = configuration
  }
}

extension LobbyClient.Choice {
  /// Returns the board whose join code the user must enter after an error; nil if a code would not help.
  func targetThatNeedsCode(after error: WhiteboardError) -> String? {
    switch self {
    case _ where error.isRemoval: nil
    // After other refusals, a code does not help, for example if the host declined or the words differ.
    case .join(let target, let code)
    where error.isAboutCode || code != nil && [.notAllowed, .usage].contains(error.code):
      target
    case .rejoin(let board, _) where error.isAboutCode: board
    default: nil
    }
  }
}

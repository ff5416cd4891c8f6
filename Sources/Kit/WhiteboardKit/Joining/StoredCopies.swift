import Logging
import PeerDiscovery
import PeerSession
import WhiteboardDocument

/// Reads the stored copies of boards, for joining these boards again. A copy that cannot be read is treated as missing,
/// because a board can be joined without a copy.
struct StoredCopies: Sendable {
  struct Member: Sendable {
    let board: SessionID
    /// The members of the board, with the ticket that admits the local peer.
    let membership: MembershipRecord?
    /// The join code that admitted the local peer; nil if no code was used, or the code is known to be wrong.
    let code: JoinCode?
    /// The user's choices about admission, if the local peer hosts the board.
    let hostChoice: HostChoice
  }

  /// The maximum number of copies to try for one address.
  private static let copiesLimit = 4

  private let configuration: BoardConfiguration

  init(_ configuration: BoardConfiguration) { self.configuration = configuration }

  private var library: BoardLibrary { configuration.boardLibrary }

  private var isUsed: Bool { configuration.remembersBoards && configuration.recordingFile == nil }

  nonisolated(nonsending) func member(of board: SessionID) async -> Member? {
    defer { checkIsolation(#isolation) }
    guard isUsed, let file = try? await library.file(of: board.bytes) else { return nil }
    return await member(of: board, inFile: file)
  }

  /// Reserves the copy before any peer learns that this program joins the board; nil if there is no copy. Throws if
  /// another program has the copy open.
  nonisolated(nonsending) func reserve(_ board: SessionID) async throws(WhiteboardError) -> BoardReservation? {
    defer { checkIsolation(#isolation) }
    guard isUsed else { return nil }
    do throws(DocumentError) { return try await library.reserve(board: board.bytes) } catch {
      // Other problems are reported when the copy is opened.
      guard error.code == .inUse else { return nil }
      throw WhiteboardError(error)
    }
  }

  private nonisolated(nonsending) func member(of board: SessionID, inFile file: String) async -> Member? {
    defer { checkIsolation(#isolation) }
    let seal = library.seal(forFile: file)
    guard let document = try? await BoardDocument.open(at: file, mode: .reading, seal: seal) else { return nil }
    let stored = Member(
      board: board,
      membership: await document.membershipRecord(logger: configuration.logger),
      code: await document.joinCode(),
      hostChoice: await document.hostChoice()
    )
    try? await document.close()
    return stored
  }

  /// Returns the boards that had a member at an address, most recently changed first. An address does not identify a
  /// board, but the board that is now at the address is probably one of these boards.
  nonisolated(nonsending) func members(at address: PeerAddress) async -> [Member] {
    defer { checkIsolation(#isolation) }
    guard isUsed else { return [] }
    var found: [Member] = []
    for summary in (try? await library.list(by: .changed)) ?? [] {
      guard found.count < Self.copiesLimit, let board = summary.board, let id = SessionID(bytes: board),
        let stored = await member(of: id, inFile: summary.path), let record = stored.membership,
        record.members.contains(where: { $0.addresses.contains(address) })
      else { continue }
      found.append(stored)
    }
    return found
  }

  nonisolated(nonsending) func removeCode(of board: SessionID) async {
    defer { checkIsolation(#isolation) }
    guard let file = try? await library.file(of: board.bytes),
      let document = try? await BoardDocument.open(at: file, mode: .writing, seal: library.seal(forFile: file))
    else { return }
    try? await document.setFact(.code, nil)
    try? await document.close()
  }

  nonisolated(nonsending) func knownPeers(includesBoards: Bool) async -> KnownPeers {
    defer { checkIsolation(#isolation) }
    var known = KnownPeers()
    for peer in await configuration.peerStore?.all ?? [] where peer.verified != .anyone {
      known.peers.insert(peer.peer)
    }
    guard includesBoards, isUsed else { return known }
    for summary in (try? await library.list()) ?? [] {
      if let id = summary.board.flatMap({ SessionID(bytes: $0) }) { known.boards.insert(id) }
    }
    return known
  }
}

extension BoardDocument {
  /// Returns the membership record (MEM-7); nil if there is none, or it cannot be read. The board can be opened without
  /// this record.
  func membershipRecord(logger: Logger) async -> MembershipRecord? {
    guard let text = try? await fact(.membership) else { return nil }
    let record = MembershipRecord(json: text)
    if record == nil { logger.warning("Unreadable stored membership was ignored.") }
    return record
  }

  func joinCode() async -> JoinCode? { (try? await fact(.code)).flatMap { try? JoinCode(words: $0) } }

  func hostRemoval() async -> Removal? { (try? await fact(.removal)).flatMap { Removal(json: $0) } }
}

/// The peers and boards that this computer knows. A search tries these peers and boards first.
struct KnownPeers: Sendable {
  /// The peers whose keys were verified before.
  var peers: Set<PeerID> = []
  var boards: Set<SessionID> = []
  var members: [SessionID: Set<PeerID>] = [:]

  var preference: BrowserPreference {
    BrowserPreference(
      peers: Set(peers.map { AnnouncedPeerID($0) }),
      sessions: Set(boards.map { AnnouncedSessionID($0) })
    )
  }

  func rank(of peer: PeerID, on board: SessionID) -> BrowserPreference.Rank {
    if peers.contains(peer) || members[board]?.contains(peer) ?? false { return .knownPeer }
    return boards.contains(board) ? .knownSession : .unknown
  }
}

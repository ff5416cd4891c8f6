import PeerCore
import PeerDiscovery
import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// The other members of the session, and the display names of all members. Confined to the actor of its board.
final class Members: Sequence {
  struct Member {
    /// The name in the member's handshake, by which commands find the member.
    var name: UntrustedText
    var state: SharedBoard.News.PeerState.State
    var address: String?
    /// The member or relay through which this member is reached; nil if this member is reached directly.
    var relay: PeerID?
    var since: ContinuousClock.Instant

    var isReached: Bool { state == .connected || state == .suspect }
  }

  struct Look: Equatable {
    let name: UntrustedText
    let icon: UntrustedText?
  }

  private var list: [PeerID: Member] = [:]
  private let localPeer: PeerID

  var ownName: String
  var ownIcon: ProfileIcon?
  var looks: [PeerID: Look] = [:]
  private(set) var lost: [PeerID: UntrustedText] = [:]
  private(set) var hasMet = false

  init(localPeer: PeerID, ownName: String) {
    self.localPeer = localPeer
    self.ownName = ownName
  }

  // MARK: - The list

  /// Adds a member, or replaces the member if its process restarted; returns whether the member is new.
  @discardableResult func add(_ peer: PeerID, _ member: Member) -> Bool {
    lost[peer] = nil
    hasMet = true
    return list.updateValue(member, forKey: peer) == nil
  }

  func setState(_ state: SharedBoard.News.PeerState.State, of peer: PeerID) -> Bool {
    guard list[peer]?.state != state else { return false }
    list[peer]?.state = state
    return true
  }

  func remember(lost peer: PeerID) { lost[peer] = name(of: peer) }

  func remove(_ peer: PeerID) -> Bool { list.removeValue(forKey: peer) != nil }

  subscript(peer: PeerID) -> Member? { list[peer] }

  var isEmpty: Bool { list.isEmpty }

  var count: Int { list.count }
  var unorderedIDs: some Collection<PeerID> { list.keys }
  var ids: [PeerID] { list.keys.sorted() }
  var reachedCount: Int { list.values.count { $0.isReached } }

  func isReached(_ peer: PeerID) -> Bool { list[peer]?.isReached == true }

  func makeIterator() -> IndexingIterator<[(key: PeerID, value: Member)]> {
    list.sorted { $0.key < $1.key }.makeIterator()
  }

  // MARK: - Names

  func find(_ word: String, includingSelf: Bool = false) throws(CommandError) -> PeerID {
    var resolver = ReferenceResolver<PeerID>()
    if includingSelf { resolver.add(id: localPeer.text, names: [UntrustedText(ownName)], value: localPeer) }
    for (peer, member) in self { resolver.add(id: peer.text, names: [member.name], value: peer) }
    return try resolver.find(word, what: "peer", missing: .noSuchPeer)
  }

  func name(of peer: PeerID) -> UntrustedText { list[peer]?.name ?? UntrustedText("") }

  func name(of member: MemberID) -> UntrustedText? {
    let peer = PeerID(member)
    return peer == localPeer ? UntrustedText(ownName) : list[peer]?.name
  }

  func described(_ peer: PeerID) -> SharedBoard.Member {
    SharedBoard.Member(id: peer, name: looks[peer]?.name ?? name(of: peer))
  }

  func described(_ member: MemberID) -> SharedBoard.Member { described(PeerID(member)) }

  /// Describes the author of a change; nil means the local member.
  func author(_ member: MemberID?) -> SharedBoard.Change.Author {
    guard let member, PeerID(member) != localPeer else { return .me }
    return .other(described(member))
  }

  /// The display name with an id prefix, safe to display.
  func label(of peer: PeerID) -> String { EventText.person(name(of: peer), peer.text) }

  func label(of member: MemberID) -> String {
    EventText.person(name(of: member) ?? UntrustedText(""), member.description)
  }
}

/// Owns the authors that the local user has hidden on all boards. Confined to the actor of its board.
final class HiddenAuthors {
  static let limit = 256
  private let settings: PersonalSettings?
  private(set) var members: Set<MemberID> = []

  init(_ settings: PersonalSettings?) { self.settings = settings }

  nonisolated(nonsending) func load() async throws(DocumentError) {
    defer { checkIsolation(#isolation) }
    if let settings { members = try await settings.hiddenAuthors }
  }

  var isEmpty: Bool { members.isEmpty }

  func contains(_ member: MemberID) -> Bool { members.contains(member) }

  /// Replaces the hidden authors by those that another program stored; returns the authors that were hidden or shown.
  func replace(with stored: Set<MemberID>) -> Set<MemberID> {
    defer { members = stored }
    return members.symmetricDifference(stored)
  }

  /// Hides or shows an author, and stores the change. Throws if too many authors are hidden.
  nonisolated(nonsending) func set(_ member: MemberID, isHidden: Bool) async throws(CommandError) {
    defer { checkIsolation(#isolation) }
    guard !isHidden || members.count < Self.limit else {
      throw CommandError(
        .refused,
        "you already hide \(Self.limit) authors, which is the maximum; `unhide` some of them"
      )
    }
    let before = members
    if isHidden { members.insert(member) } else { members.remove(member) }
    guard let settings else { return }
    do throws(DocumentError) { try await settings.setHidden(isHidden, member) } catch {
      if before.contains(member) { members.insert(member) } else { members.remove(member) }
      throw CommandError(error)
    }
  }
}

extension PersonalSettings {
  var hiddenAuthors: Set<MemberID> {
    get throws(DocumentError) { Self.authors(in: try value("hidden")) }
  }

  static func authors(in text: String?) -> Set<MemberID> {
    let words = text?.split(separator: " ") ?? []
    return Set(words.prefix(HiddenAuthors.limit).compactMap { MemberID(text: String($0)) })
  }

  /// Changes only this author, because another program may have hidden other authors in the meantime.
  fileprivate func setHidden(_ isHidden: Bool, _ author: MemberID) throws(DocumentError) {
    try update("hidden") { stored in
      var authors = Self.authors(in: stored)
      if isHidden { authors.insert(author) } else { authors.remove(author) }
      return authors.isEmpty ? nil : authors.sorted().map(\.description).joined(separator: " ")
    }
  }
}

extension MemberID {
  /// Creates the member id of a peer.
  public init(_ peer: PeerID) { self.init(peer.value) }
}

extension PeerID {
  /// Creates the peer id of a member.
  public init(_ member: MemberID) { self.init(member.value) }

  package init(claimed id: AnnouncedPeerID) { self.init(id.value) }
}

extension BoardID {
  /// Creates the id of the board of a session.
  public init(_ session: SessionID) { self.init(session.value) }
}

extension SessionID {
  /// Creates the id of the session of a board.
  public init(_ board: BoardID) { self.init(board.value) }

  package init(claimed id: AnnouncedSessionID) { self.init(id.value) }
}

extension AnnouncedPeerID {
  package init(_ peer: PeerID) { self.init(peer.value) }
}

extension AnnouncedSessionID {
  package init(_ session: SessionID) { self.init(session.value) }
}

import CommandLines
import PeerCore
import Whiteboard
import WhiteboardKit
import WhiteboardRendering
import WhiteboardSync

/// The other members of the session, and the peers that announce the board.
struct Members: Sendable {
  struct Member: Hashable, Sendable {
    var name: UntrustedText
    var icon: UntrustedText?
    var state: SharedBoard.News.PeerState.State
    private(set) var presence = Presence()
    /// The last positions of the laser pointer, the latest last.
    private(set) var trail: [Point] = []
    /// The time when the member became unreachable; nil while it is connected.
    var silentSince: Duration?
    /// The number of local changes since the member became unreachable.
    var waitingChanges = 0
    private(set) var movedAt = Duration.zero

    init(name: UntrustedText, state: SharedBoard.News.PeerState.State) {
      self.name = name
      self.state = state
    }

    private static let trailLength = 12

    mutating func show(_ next: Presence, now: Duration) {
      let isElsewhere = next.cursor != presence.cursor
      if isElsewhere { movedAt = now }
      presence = next
      guard next.isLaser, let cursor = next.cursor else {
        trail = []
        return
      }
      // Peers send their presence again while nothing moves. A repeated position ends the trail.
      trail = isElsewhere ? (trail + [cursor]).suffix(Self.trailLength) : [cursor]
    }
  }

  private(set) var all: [MemberID: Member] = [:]
  private(set) var followed: MemberID?
  /// The presence of members that the board has not reported as joined yet.
  private var earlyPresences: [MemberID: Presence] = [:]
  /// The members that are reconnecting through another route.
  private var rerouted: Set<MemberID> = []
  /// The display names of announcing peers, by board and by the announced prefix of the peer id.
  private var announcers: [String: [String: UntrustedText]] = [:]

  var isEmpty: Bool { all.isEmpty }
  var count: Int { all.count }

  var sorted: [(key: MemberID, value: Member)] { all.sorted { $0.key < $1.key } }

  func name(of id: MemberID) -> String? { all[id]?.name.displayed }

  /// Two members have the same color only if there are more members than colors.
  func colors(_ ownID: MemberID?) -> [MemberID: UInt32] {
    var colors: [MemberID: UInt32] = [:]
    var free = Pens.memberColors
    for id in (Array(all.keys) + [ownID].compactMap(\.self)).sorted() {
      if free.isEmpty { free = Pens.memberColors }
      let color = Pens.color(of: id)
      colors[id] = free.remove(at: free.firstIndex(of: color) ?? 0)
    }
    return colors
  }

  // MARK: - Events

  /// Returns false if the member returned through another route.
  mutating func join(_ id: MemberID, name: UntrustedText, now: Duration) -> Bool {
    all[id] = Member(name: name, state: .connected)
    if let presence = earlyPresences.removeValue(forKey: id) { all[id]?.show(presence, now: now) }
    return rerouted.remove(id) == nil
  }

  /// Removes a member that left, and returns the remark for the chat. Returns nil if the member is about to return
  /// through another route, or if it removed the local member.
  mutating func leave(_ id: MemberID, _ name: UntrustedText, _ left: SharedBoard.ChangeDetails.Departure) -> String? {
    all[id] = nil
    earlyPresences[id] = nil
    if left.removedUs { return nil }
    if left.reason == "rerouted" {
      rerouted.insert(id)
      return nil
    }
    return EventText.departure(left.reason, left.message, of: name.displayed)
  }

  mutating func removeAll() {
    all = [:]
    earlyPresences = [:]
  }

  mutating func show(_ state: SharedBoard.News.PeerState, now: Duration) {
    guard let id = state.peer.flatMap({ MemberID(text: $0) }), var member = all[id] else { return }
    member.state = state.state
    member.silentSince = state.state == .connected ? nil : member.silentSince ?? now
    if state.state == .connected { member.waitingChanges = 0 }
    all[id] = state.state == .lost ? nil : member
  }

  mutating func show(_ profile: SharedBoard.News.Profile) {
    guard let id = MemberID(text: profile.peer) else { return }
    all[id]?.name = profile.name
    all[id]?.icon = profile.icon
  }

  mutating func show(_ presence: Presence, of id: MemberID, now: Duration) {
    if all[id] == nil { earlyPresences[id] = presence }
    all[id]?.show(presence, now: now)
  }

  mutating func countWaitingChange() {
    for (id, member) in all where member.silentSince != nil { all[id]?.waitingChanges += 1 }
  }

  // MARK: - Following

  /// The member to follow after the current member; nil after the last member.
  var nextToFollow: MemberID? {
    let ids = all.sorted { ($0.value.name, $0.key) < ($1.value.name, $1.key) }.map(\.key)
    guard let followed, let index = ids.firstIndex(of: followed) else { return ids.first }
    return index + 1 < ids.count ? ids[index + 1] : nil
  }

  func member(named prefix: String) -> MemberID? {
    let prefix = prefix.lowercased()
    return all.first { $0.value.name.raw.lowercased().hasPrefix(prefix) }?.key
  }

  mutating func follow(_ id: MemberID) { followed = id }

  mutating func stopFollowing() { followed = nil }

  /// If the member does not share its view, the returned view is centered on the member's pointer.
  mutating func followedView(_ viewport: Viewport) -> Viewport? {
    guard let followed else { return nil }
    guard let member = all[followed] else {
      self.followed = nil
      return nil
    }
    var viewport = viewport
    if let view = member.presence.view {
      let (width, height) = (Double(view.width) / 2, Double(view.height) / 2)
      viewport.show(
        Rectangle(
          Point(x: view.center.x - width, y: view.center.y - height),
          Point(x: view.center.x + width, y: view.center.y + height)
        )
      )
    } else if let cursor = member.presence.cursor {
      viewport.center = cursor
    }
    return viewport
  }

  // MARK: - Announcements

  mutating func found(_ board: SharedBoard.News.FoundBoard) {
    guard let id = board.board else { return }
    announcers[id, default: [:]][board.peer] = board.name
  }

  mutating func lost(_ board: SharedBoard.News.FoundBoard) {
    guard let id = board.board else { return }
    announcers[id]?[board.peer] = nil
  }

  /// Returns the display names of peers that announce a board and are not connected.
  func missing(from board: String, ownID: MemberID?) -> [String] {
    let found = announcers[board] ?? [:]
    let present = all.keys.map(\.description) + (ownID.map { [$0.description] } ?? [])
    return found.filter { peer, _ in !present.contains { $0.hasPrefix(peer) } }.sorted {
      ($0.value, $0.key) < ($1.value, $1.key)
    }.map { EventText.shortName($0.value, $0.key) }
  }

  // MARK: - Time

  /// The times without movement after which a pointer loses its name (`faded`) and disappears (`gone`).
  static let pointerRest = (faded: Duration.seconds(3), gone: Duration.seconds(15))

  /// Returns whether a member's pointer or connection state must be redrawn as time passes.
  func isTicking(at now: Duration) -> Bool {
    all.values.contains { member in
      member.silentSince != nil || member.presence.cursor != nil && now - member.movedAt <= Self.pointerRest.gone
    }
  }
}

import FoundationEssentials
import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Creates, closes, ends and stores the browser links of a board, and removes their guests. Confined to the actor of
/// the board.
final class BrowserLinks {
  /// The maximum number of closed links. The guests of closed links can still return.
  private static let closedLimit = 64
  private static let storingInterval = Duration.seconds(5)
  private let runtime: BoardRuntime
  private let configuration: BoardConfiguration
  private let board: BoardSession
  private let replica: Replica
  private let roles: Roles
  private let persistence: Persistence
  /// The links; the most recently closed links come last.
  private var links: [BrowserLink] = []
  /// The time of the next attempt to store the links; nil unless the last attempt failed.
  private var storingAgain: ContinuousClock.Instant?

  init(
    _ runtime: BoardRuntime,
    _ configuration: BoardConfiguration,
    _ board: BoardSession,
    _ replica: Replica,
    roles: Roles,
    persistence: Persistence
  ) {
    self.runtime = runtime
    self.configuration = configuration
    self.board = board
    self.replica = replica
    self.roles = roles
    self.persistence = persistence
  }

  private var session: Session { board.session }

  var count: Int { links.count }

  var forEveryone: BrowserLink? { links.first(where: \.isForEveryone) }

  // MARK: - New links and guests

  nonisolated(nonsending) func add(_ terms: InvitationTerms) async throws(CommandError) -> BrowserLink {
    defer { checkIsolation(#isolation) }
    if terms.isView { try BoardAdmission.checkMayInviteViewers(replica) }
    return try await add(
      BrowserLink(
        secret: .random(),
        isView: terms.isView,
        isOnce: terms.isOnce,
        end: terms.seconds.map { SystemTime.milliseconds + UInt64($0) * 1000 }
      )
    )
  }

  private nonisolated(nonsending) func add(_ new: BrowserLink) async throws(CommandError) -> BrowserLink {
    defer { checkIsolation(#isolation) }
    var link = new
    link.startTimer(at: runtime.clock.now)
    links.append(link)
    do throws(SessionError) { try await accept(link) } catch {
      links.removeAll { $0.secret == link.secret }
      throw CommandError(error)
    }
    await store()
    return link
  }

  /// Returns the link that a guest may show to others (WEB-59): the guest's own link, or a view-only link with the same
  /// expiry.
  nonisolated(nonsending) func shared(by key: GuestKey, isView: Bool) async throws(CommandError) -> BrowserLink {
    defer { checkIsolation(#isolation) }
    guard let own = links.first(where: { self.key(of: $0) == key }), own.admitsGroups else {
      throw CommandError(.refused, "Your link no longer lets anyone else in. Ask the host for another link.")
    }
    if own.isView == isView { return own }
    guard isView else {
      throw CommandError(
        .refused,
        "With your link, people can only view the board. Ask the host for a link to edit it."
      )
    }
    try BoardAdmission.checkMayInviteViewers(replica)
    if let known = links.first(where: { $0.isView && $0.end == own.end && $0.admitsGroups }) { return known }
    return try await add(BrowserLink(secret: .random(), isView: true, end: own.end))
  }

  private nonisolated(nonsending) func accept(_ link: BrowserLink) async throws(SessionError) {
    defer { checkIsolation(#isolation) }
    // The link may have ended while the caller waited.
    guard links.contains(where: { $0.secret == link.secret }) else { return }
    try await session.invite(
      key(of: link),
      label: link.isView ? Roles.viewLabel : nil,
      for: link.remaining(at: runtime.clock.now),
      only: link.isClosed ? link.guests : nil,
      limit: link.guestLimit,
      joined: link.guests
    )
    runtime.wakeNow()
  }

  private func key(of link: BrowserLink) -> GuestKey { GuestKey(link.secret, for: session.id) }

  /// Records which link the guest used, so that the guest can be removed with the link.
  func joined(_ peer: Peer) {
    guard let key = peer.guestKey else { return }
    guard let index = links.firstIndex(where: { self.key(of: $0) == key }) else {
      // The link ended after the guest was admitted.
      return runtime.spawn { sharedBoard in
        await sharedBoard.board?.session.removeGuests(
          admittedWith: key,
          and: [peer.id],
          reason: "The link is no longer valid."
        )
      }
    }
    guard links[index].guests.insert(peer.id).inserted else { return }
    let (secret, wasClosed) = (links[index].secret, links[index].isClosed)
    if links[index].guests.count >= links[index].guestLimit { close { $0.secret == secret } }
    runtime.spawn { sharedBoard in
      guard let browsers = sharedBoard.board?.browsers else { return }
      let links = browsers.links
      await links.store()
      guard let link = links.links.first(where: { $0.secret == secret }) else { return }
      // Guests that were admitted while the link was being closed can still return.
      if link.isClosed { try? await links.accept(link) }
      guard link.isClosed, !wasClosed else { return }
      await links.endSurplus()
      if link.isUnlimited { await browsers.replaceLink(request: nil) }
    }
  }

  // MARK: - The end of access

  /// Closes the links with which removed guests joined, because a removed guest could use the same link again with
  /// another key. Other guests of a closed link can still use it. Returns whether one of the closed links could be
  /// shown to everyone.
  nonisolated(nonsending) func close(ofRemoved peers: [PeerID]) async -> Bool {
    defer { checkIsolation(#isolation) }
    let closed = close {
      !$0.guests.isDisjoint(with: peers)
    } change: {
      $0.guests.subtract(peers)
    }
    guard !closed.isEmpty else { return false }
    let unused = closed.filter(\.guests.isEmpty)
    await store()
    // The call fails only if the session has ended.
    for link in closed { try? await accept(link) }
    // These links can no longer be used, so they must not count toward the limit.
    links.removeAll { link in unused.contains { $0.secret == link.secret } && link.guests.isEmpty }
    for link in unused where !links.contains(where: { $0.secret == link.secret }) {
      await session.removeLink(key(of: link))
    }
    await endSurplus()
    return closed.contains(where: \.isUnlimited)
  }

  @discardableResult private func close(
    where isOver: (BrowserLink) -> Bool,
    change: (inout BrowserLink) -> Void = { _ in }
  ) -> [BrowserLink] {
    var closed = links.filter(isOver)
    links.removeAll(where: isOver)
    for index in closed.indices {
      change(&closed[index])
      closed[index].isClosed = true
    }
    links += closed
    return closed
  }

  /// Keeps the links of removed guests open for other guests (MEM-12).
  nonisolated(nonsending) func keep(ofRemoved peers: [PeerID]) async {
    defer { checkIsolation(#isolation) }
    let used = links.filter { !$0.guests.isDisjoint(with: peers) }
    for link in used { try? await accept(link) }
  }

  private nonisolated(nonsending) func endSurplus() async {
    defer { checkIsolation(#isolation) }
    let surplus = links.filter(\.isClosed).dropLast(Self.closedLimit).map(\.secret)
    await end(reason: "The link is no longer valid.") { surplus.contains($0.secret) }
  }

  /// Ends links, and removes the guests that joined with them.
  nonisolated(nonsending) func end(reason: String, where isOver: (BrowserLink) -> Bool) async {
    defer { checkIsolation(#isolation) }
    let ended = links.filter(isOver)
    guard !ended.isEmpty else { return }
    links.removeAll(where: isOver)
    for link in ended {
      revokeRights(ofGuestsOf: link)
      await session.removeGuests(admittedWith: key(of: link), and: link.guests.sorted(), reason: reason)
    }
    await store()
    // Store the removals before the board closes.
    if persistence.document != nil, !configuration.isOffline, let record = try? await session.membershipRecord() {
      await persistence.storeMembership(record, code: board.code)
    }
  }

  private func revokeRights(ofGuestsOf link: BrowserLink) {
    // A guest of a view-only link has rights only if a user made it an editor.
    let guests = link.guests.filter { !link.isView || roles.knowsRights(of: $0) }
    let failures = guests.count { !roles.revoke($0, isGuest: true) }
    guard failures > 0 else { return }
    runtime.emit(
      .warning(
        .init(
          code: "not-revoked",
          message:
            "The right of \(failures) removed guest\(failures == 1 ? "" : "s") to edit the board could not be revoked. "
            + "Other members can still pass on their changes."
        )
      )
    )
  }

  // MARK: - Timed work

  var nextDeadline: ContinuousClock.Instant? { (links.map(\.deadline) + [storingAgain]).compactMap(\.self).min() }

  func performTimedWork() {
    endExpired()
    guard let storingAgain, storingAgain <= runtime.clock.now else { return }
    self.storingAgain = runtime.clock.now + Self.storingInterval
    runtime.spawn { sharedBoard in await sharedBoard.board?.browsers.links.store() }
  }

  private func endExpired() {
    let now = runtime.clock.now
    guard links.contains(where: { $0.hasExpired(at: now) }) else { return }
    runtime.spawn { sharedBoard in
      await sharedBoard.board?.browsers.links.end(reason: "The link has expired.") { $0.hasExpired(at: now) }
    }
  }

  // MARK: - The board's file

  nonisolated(nonsending) func storeIfNeeded() async { if storingAgain != nil { await store() } }

  private nonisolated(nonsending) func store() async {
    defer { checkIsolation(#isolation) }
    let text = links.isEmpty ? nil : BrowserLink.json(links)
    do {
      try await persistence.document?.setFact(.browserLinks, text)
      storingAgain = nil
    } catch {
      let isReported = storingAgain != nil
      storingAgain = runtime.clock.now + Self.storingInterval
      runtime.wakeNow()
      guard !isReported else { return }
      runtime.emit(
        .warning(
          .init(
            code: "web-not-saved",
            message: "The browser links could not be saved: \(error). If this program crashes now, the latest changes "
              + "to the links are lost: new links stop working, and revoked links work again."
          )
        )
      )
    }
  }

  nonisolated(nonsending) func restore() async {
    defer { checkIsolation(#isolation) }
    guard let text = try? await persistence.document?.fact(.browserLinks) else { return }
    let now = runtime.clock.now
    links = BrowserLink.links(json: text).filter { !$0.isClosed || !$0.guests.isEmpty }
    for index in links.indices { links[index].startTimer(at: now) }
    for link in links where !link.hasExpired(at: now) { try? await accept(link) }
    endExpired()
  }
}

struct BrowserLink: Codable, Equatable, Sendable {
  let secret: GuestSecret
  let isView: Bool
  /// The time at which the link expires, in milliseconds since 1970; nil if the link is valid until the board closes.
  let end: UInt64?
  /// Whether the link admits only one guest; nil means false, as in boards of earlier versions.
  private let isOnce: Bool?
  var guests: Set<PeerID> = []
  /// Whether only ``guests`` may use the link, because another guest was removed, or ``guestLimit`` guests joined with
  /// it.
  var isClosed = false
  /// The time at which the link expires, even if the system's time is set back; nil if the link never expires. This
  /// deadline is not stored.
  private(set) var deadline: ContinuousClock.Instant?

  private enum CodingKeys: String, CodingKey {
    case secret, isView, end, isOnce, guests, isClosed
  }

  init(secret: GuestSecret, isView: Bool, isOnce: Bool = false, end: UInt64?) {
    self.secret = secret
    self.isView = isView
    self.isOnce = isOnce ? true : nil
    self.end = end
  }

  mutating func startTimer(at now: ContinuousClock.Instant) {
    guard let end else { return }
    let time = SystemTime.milliseconds
    deadline = now + .milliseconds(end > time ? end - time : 0)
  }

  func remaining(at now: ContinuousClock.Instant) -> Duration? { deadline.map { max(.zero, $0 - now) } }

  func hasExpired(at now: ContinuousClock.Instant) -> Bool {
    if let deadline, deadline <= now { return true }
    return end.map { $0 <= SystemTime.milliseconds } ?? false
  }

  var admitsGroups: Bool { !isClosed && isOnce != true }

  var isForEveryone: Bool { isUnlimited && !isClosed }

  var isUnlimited: Bool { !isView && end == nil && isOnce != true }

  /// The maximum number of guests. All guests are stored, because a later process must remove them when the link is
  /// revoked or expires.
  var guestLimit: Int { isOnce == true ? 1 : 256 }

  static func json(_ links: [BrowserLink]) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(links) else {
      preconditionFailure("strings, numbers and flags can be encoded as JSON")
    }
    return String(decoding: data, as: UTF8.self)
  }

  static func links(json: String) -> [BrowserLink] {
    (try? JSONDecoder().decode([BrowserLink].self, from: Data(json.utf8))) ?? []
  }

  func text(_ origin: String, _ board: SessionID) -> String { "\(origin)/#\(board.text).\(secret.text)" }
}

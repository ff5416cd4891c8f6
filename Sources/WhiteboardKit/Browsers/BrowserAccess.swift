import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Manages the access of browsers to a board: the gateway, the browser links, and the removal of
/// guests.
///
/// Confined to the actor of the board.
final class BrowserAccess {
  private let runtime: BoardRuntime
  private let configuration: BoardConfiguration
  private let board: BoardSession
  private let replica: Replica
  private let persistence: Persistence
  private let transport: PeerTransport
  /// The page; nil while browsers cannot join.
  private var page: BrowserPage?
  /// Closes the gateway; nil while it is not open.
  private var closeGateway: (@Sendable () async -> Void)?
  private var links: [BrowserLink] = []
  /// Whether ``begin()`` has not yet opened the gateway that the configuration requires.
  private var isBeginning: Bool
  /// The time of the next attempt to store the links, because the last one failed.
  private var storingAgain: ContinuousClock.Instant?

  init(
    _ runtime: BoardRuntime,
    _ configuration: BoardConfiguration,
    _ board: BoardSession,
    _ replica: Replica,
    persistence: Persistence,
    _ transport: PeerTransport
  ) {
    self.runtime = runtime
    self.configuration = configuration
    self.board = board
    self.replica = replica
    self.persistence = persistence
    self.transport = transport
    isBeginning = configuration.servesBrowsers
  }

  private var session: Session { board.session }

  // MARK: - The gateway

  /// Restores the stored browser links, and opens the gateway if the configuration requires it.
  ///
  /// If the gateway cannot be opened, this emits a warning and does not throw, because the board
  /// itself is open.
  nonisolated(nonsending) func begin() async {
    defer { checkIsolation(#isolation) }
    await restoreLinks()
    guard configuration.servesBrowsers else { return }
    defer {
      isBeginning = false
      runtime.changed()
    }
    do throws(CommandError) {
      try await turnOn(request: nil)
    } catch {
      runtime.emit(
        .warning(.init(code: "no-web", message: "Browsers cannot join: \(error.message)"))
      )
    }
  }

  /// Opens the gateway, and creates a browser link if there is none that can be shown to everyone.
  ///
  /// - Throws: ``CommandError`` if the gateway cannot be opened.
  nonisolated(nonsending) func turnOn(request: RequestMark?) async throws(CommandError) {
    defer { checkIsolation(#isolation) }
    guard let gateway = configuration.browserGateway else {
      throw CommandError(.refused, "this program cannot serve browsers")
    }
    try checkIsHosting()
    if page == nil {
      let opened: OpenGateway
      do throws(WhiteboardError) {
        opened = try await gateway.open(on: transport)
      } catch {
        throw CommandError(.refused, error.message)
      }
      (page, closeGateway) = (opened.page, opened.close)
      do throws(SessionError) {
        try await session.openToGuests()
      } catch {
        await takePage()?()
        throw CommandError(error)
      }
      runtime.spawn { sharedBoard in
        for await page in opened.changes { sharedBoard.board?.browsers.changePage(to: page) }
      }
    }
    report(request: request)
    try await showLink(request: request)
  }

  /// Emits the browser link that can be shown to everyone; creates it if necessary.
  private nonisolated(nonsending) func showLink(request: RequestMark?) async throws(CommandError) {
    defer { checkIsolation(#isolation) }
    guard let page else { return }
    let link: BoardEvent.Invited
    if let known = links.first(where: \.isForEveryone) {
      link = invited(known, page, request: request)
    } else {
      link = try await addLink(InvitationTerms(isForBrowsers: true), page, request: request)
    }
    runtime.emit(.invited(link))
  }

  /// Reports the new addresses or the new certificate of the page, and the link with the new address.
  private func changePage(to new: BrowserPage) {
    guard page != nil else { return }
    page = new
    report(request: nil)
    guard let link = links.first(where: \.isForEveryone) else { return }
    runtime.emit(.invited(invited(link, new, request: nil)))
  }

  /// Returns the function that closes the gateway; browsers cannot join any more.
  private func takePage() -> (@Sendable () async -> Void)? {
    defer { (page, closeGateway) = (nil, nil) }
    return closeGateway
  }

  private func checkIsHosting() throws(CommandError) {
    guard configuration.isHosting(session) else {
      throw CommandError(
        .refused,
        "only the host of the board, or its relay, can let browsers join"
      )
    }
  }

  /// Disconnects all guests, and closes the gateway; browser links stay valid until they expire.
  nonisolated(nonsending) func turnOff(request: RequestMark?) async {
    defer { checkIsolation(#isolation) }
    let closeGateway = takePage()
    await session.closeToGuests()
    await closeGateway?()
    report(request: request)
  }

  private func report(request: RequestMark?) {
    runtime.emit(
      .web(
        .init(
          isOn: page != nil,
          origins: page?.origins ?? [],
          fingerprint: page?.fingerprint,
          isSelfMade: page?.isSelfMade,
          request: request
        )
      )
    )
  }

  // MARK: - Browser links

  /// Creates a browser link.
  ///
  /// - Parameters:
  ///   - terms: The role and the lifetime of the link.
  ///   - request: The request id of the command.
  /// - Returns: The event that contains the link.
  /// - Throws: ``CommandError`` if browsers cannot join, or the link cannot be created.
  nonisolated(nonsending) func invite(
    _ terms: InvitationTerms,
    request: RequestMark?
  ) async throws(CommandError) -> BoardEvent.Invited {
    defer { checkIsolation(#isolation) }
    if isBeginning { _ = await runtime.wait(timeout: .seconds(5)) { !self.isBeginning } }
    guard let page else {
      try checkIsHosting()
      let advice = configuration.isRelay ? "start the relay with --web" : "use `web on` first"
      throw CommandError(.refused, "browsers cannot join this board; \(advice)")
    }
    return try await addLink(terms, page, request: request)
  }

  private nonisolated(nonsending) func addLink(
    _ terms: InvitationTerms,
    _ page: BrowserPage,
    request: RequestMark?
  ) async throws(CommandError) -> BoardEvent.Invited {
    defer { checkIsolation(#isolation) }
    if terms.isView { try BoardAdmission.checkMayInviteViewers(replica) }
    var link = BrowserLink(
      secret: .random(),
      isView: terms.isView,
      end: terms.seconds.map { SystemTime.milliseconds + UInt64($0) * 1000 }
    )
    link.startTimer(at: runtime.clock.now)
    links.append(link)
    do throws(SessionError) {
      try await accept(link)
    } catch {
      links.removeAll { $0.secret == link.secret }
      throw CommandError(error)
    }
    await storeLinks()
    return invited(link, page, request: request)
  }

  private func invited(
    _ link: BrowserLink,
    _ page: BrowserPage,
    request: RequestMark?
  ) -> BoardEvent.Invited {
    let texts = page.origins.map { link.text($0, session.id) }
    return BoardEvent.Invited(
      code: nil,
      role: link.isView ? "viewer" : replica.isOwned ? "editor" : nil,
      link: texts.first ?? "",
      links: texts,
      fingerprint: page.isSelfMade ? page.fingerprint : nil,
      expires: link.end.map { Timestamp.text(milliseconds: $0) },
      request: request
    )
  }

  private nonisolated(nonsending) func accept(_ link: BrowserLink) async throws(SessionError) {
    defer { checkIsolation(#isolation) }
    // The link may have ended while the caller waited.
    guard links.contains(where: { $0.secret == link.secret }) else { return }
    try await session.invite(
      key(of: link),
      label: link.isView ? Roles.viewLabel : nil,
      for: link.remaining(at: runtime.clock.now),
      only: link.isClosed ? link.guests : nil
    )
    runtime.wakeNow()
  }

  private func key(of link: BrowserLink) -> GuestKey { GuestKey(link.secret, for: session.id) }

  /// Records which browser link a guest used, so that the guest can be removed when the link is
  /// revoked or expires.
  ///
  /// Closes a link that many guests have used.
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
    let isFull = links[index].guests.count >= BrowserLink.guestLimit
    let wasClosed = links[index].isClosed
    if isFull { links[index].isClosed = true }
    let secret = links[index].secret
    runtime.spawn { sharedBoard in
      guard let browsers = sharedBoard.board?.browsers else { return }
      await browsers.storeLinks()
      guard let link = browsers.links.first(where: { $0.secret == secret }) else { return }
      // Guests that were admitted while the link was being closed can still return.
      if link.isClosed { try? await browsers.accept(link) }
      if link.isClosed, !wasClosed, link.isUnlimited {
        try? await browsers.showLink(request: nil)
      }
    }
  }

  // MARK: - The end of access

  /// Revokes all browser links, and removes the guests that joined with them.
  nonisolated(nonsending) func revokeAll() async {
    defer { checkIsolation(#isolation) }
    let count = links.count
    await end(reason: "The host revoked all browser links.") { _ in true }
    let command = page == nil ? "web on" : "invite web"
    runtime.emit(
      .note(
        .init(
          code: BoardEvent.Remark.webRevoked,
          message:
            "\(count) browser link\(count == 1 ? "" : "s") revoked. To create a new one, use `\(command)`."
        )
      )
    )
  }

  /// Closes the browser links with which removed guests joined, and emits another link.
  ///
  /// Otherwise, a removed guest could use the same link again with another key. Other guests that
  /// joined with a closed link can still use it. The host can keep the links. A relay does not learn of this, so it
  /// closes them whenever the host removes a guest.
  nonisolated(nonsending) func removed(
    _ peers: [PeerID],
    request: RequestMark?
  ) async throws(CommandError) {
    defer { checkIsolation(#isolation) }
    // While this function waits for the session, links can expire, so it does not wait in this
    // loop.
    var closed: [BrowserLink] = []
    for index in links.indices where !links[index].guests.isDisjoint(with: peers) {
      links[index].guests.subtract(peers)
      links[index].isClosed = true
      closed.append(links[index])
    }
    guard !closed.isEmpty else { return }
    let unused = closed.filter(\.guests.isEmpty)
    await storeLinks()
    do throws(SessionError) {
      for link in closed { try await accept(link) }
    } catch {
      throw CommandError(error)
    }
    // No one can use these links any more, so they must not count toward the limit.
    links.removeAll { link in unused.contains { $0.secret == link.secret } && link.guests.isEmpty }
    for link in unused where !links.contains(where: { $0.secret == link.secret }) {
      await session.removeLink(key(of: link))
    }
    if closed.contains(where: \.isUnlimited) { try await showLink(request: request) }
  }

  /// Keeps the links of removed guests open for others (MEM-12).
  nonisolated(nonsending) func keepLinks(ofRemoved peers: [PeerID]) async {
    defer { checkIsolation(#isolation) }
    let used = links.filter { !$0.guests.isDisjoint(with: peers) }
    for link in used { try? await accept(link) }
  }

  /// The time of the next call of ``performTimedWork()``; nil if none is needed.
  var nextDeadline: ContinuousClock.Instant? {
    (links.map(\.deadline) + [storingAgain]).compactMap(\.self).min()
  }

  /// Ends the browser links that have expired, and tries again to store links.
  func performTimedWork() {
    endExpired()
    guard let storingAgain, storingAgain <= runtime.clock.now else { return }
    self.storingAgain = runtime.clock.now + .seconds(5)
    runtime.spawn { sharedBoard in await sharedBoard.board?.browsers.storeLinks() }
  }

  /// Removes the browser links that have expired, and their guests.
  private func endExpired() {
    let now = runtime.clock.now
    guard links.contains(where: { $0.hasExpired(at: now) }) else { return }
    runtime.spawn { sharedBoard in
      await sharedBoard.board?.browsers.end(reason: "The link has expired.") {
        $0.hasExpired(at: now)
      }
    }
  }

  /// Closes the gateway when the local peer leaves, and revokes the browser links without a time limit, unless a relay
  /// keeps the board open.
  ///
  /// - Parameter comesBack: Whether this program opens the board again at its next start. If so, all
  ///   browser links stay valid.
  nonisolated(nonsending) func close(comesBack: Bool) async {
    defer { checkIsolation(#isolation) }
    if !comesBack, !board.isCarried {
      await end(reason: "The host closed the board.") { $0.end == nil }
    }
    if storingAgain != nil { await storeLinks() }
    await takePage()?()
  }

  private nonisolated(nonsending) func end(
    reason: String,
    where isOver: (BrowserLink) -> Bool
  ) async {
    defer { checkIsolation(#isolation) }
    let ended = links.filter(isOver)
    guard !ended.isEmpty else { return }
    links.removeAll(where: isOver)
    for link in ended {
      if replica.mayGrant {
        for guest in link.guests { runtime.call { $0.board?.roles.revoke(guest) } }
      }
      await session.removeGuests(
        admittedWith: key(of: link),
        and: link.guests.sorted(),
        reason: reason
      )
    }
    await storeLinks()
    // Store the removals before the board closes.
    if persistence.document != nil, !configuration.isOffline,
      let record = try? await session.membershipRecord()
    {
      await persistence.storeMembership(record, code: board.code)
    }
  }

  // MARK: - The board's file

  nonisolated(nonsending) func storeLinks() async {
    defer { checkIsolation(#isolation) }
    let text = links.isEmpty ? nil : BrowserLink.json(links)
    do {
      try await persistence.document?.setBrowserLinks(text)
      storingAgain = nil
    } catch {
      let isReported = storingAgain != nil
      storingAgain = runtime.clock.now + .seconds(5)
      runtime.wakeNow()
      guard !isReported else { return }
      runtime.emit(
        .warning(
          .init(
            code: "web-not-saved",
            message:
              "The browser links could not be saved: \(error). If this program crashes now, the latest changes "
              + "of the links are lost: new links stop working, and revoked links work again."
          )
        )
      )
    }
  }

  private nonisolated(nonsending) func restoreLinks() async {
    defer { checkIsolation(#isolation) }
    guard let text = try? await persistence.document?.browserLinks() else { return }
    let now = runtime.clock.now
    links = BrowserLink.links(json: text).filter { !$0.isClosed || !$0.guests.isEmpty }
    for index in links.indices { links[index].startTimer(at: now) }
    for link in links where !link.hasExpired(at: now) { try? await accept(link) }
    endExpired()
  }
}

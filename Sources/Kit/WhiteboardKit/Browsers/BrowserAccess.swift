import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Manages the access of browsers to a board: opens and closes the gateway, and reports the browser links to users.
/// Confined to the actor of the board.
final class BrowserAccess {
  private static let openingInterval = Duration.seconds(10)
  private let runtime: BoardRuntime
  private let configuration: BoardConfiguration
  private let board: BoardSession
  private let replica: Replica
  private let transport: PeerTransport
  let links: BrowserLinks
  private var page: BrowserPage?
  private var closeGateway: (@Sendable () async -> Void)?
  private var isBeginning: Bool
  /// Whether browsers should be able to join; false after `web off`.
  private var isWanted: Bool
  /// The time of the next attempt to open the gateway that the configuration requires; nil unless the last attempt
  /// failed.
  private var openingAgain: ContinuousClock.Instant?
  private var openingError: String?
  /// For each guest, the number of requests for links in the current minute.
  private var requests: (since: ContinuousClock.Instant, counts: [PeerID: Int])

  init(
    _ runtime: BoardRuntime,
    _ configuration: BoardConfiguration,
    _ board: BoardSession,
    _ replica: Replica,
    roles: Roles,
    persistence: Persistence,
    _ transport: PeerTransport
  ) {
    self.runtime = runtime
    self.configuration = configuration
    self.board = board
    self.replica = replica
    self.transport = transport
    requests = (runtime.clock.now, [:])
    links = BrowserLinks(runtime, configuration, board, replica, roles: roles, persistence: persistence)
    isBeginning = configuration.servesBrowsers
    isWanted = configuration.servesBrowsers
  }

  private var session: Session { board.session }

  // MARK: - The gateway

  /// Restores the stored browser links, and opens the gateway if the configuration requires it. If the gateway cannot
  /// be opened, the board stays open, so this function warns instead of throwing, and tries again every 10 seconds.
  nonisolated(nonsending) func begin() async {
    defer { checkIsolation(#isolation) }
    await links.restore()
    guard configuration.servesBrowsers else { return }
    defer {
      isBeginning = false
      runtime.changed()
    }
    await openRequired()
  }

  private nonisolated(nonsending) func openRequired() async {
    defer { checkIsolation(#isolation) }
    do throws(CommandError) {
      try await open()
      report(request: nil)
      await replaceLink(request: nil)
    } catch {
      // The user may have turned browsers off meanwhile.
      guard isWanted else { return }
      openingAgain = runtime.clock.now + Self.openingInterval
      runtime.wakeNow()
      guard openingError != error.message else { return }
      openingError = error.message
      runtime.emit(.warning(.init(code: "no-web", message: "Browsers cannot join: \(error.message)")))
    }
  }

  nonisolated(nonsending) func turnOn(request: RequestMark?) async throws(CommandError) {
    defer { checkIsolation(#isolation) }
    isWanted = true
    try await open()
    report(request: request)
    try await showLink(request: request)
  }

  private nonisolated(nonsending) func open() async throws(CommandError) {
    defer { checkIsolation(#isolation) }
    guard let gateway = configuration.browserGateway else {
      throw CommandError(.refused, "this program cannot serve browsers")
    }
    try checkIsHosting()
    guard page == nil else { return }
    let opened: OpenGateway
    do throws(WhiteboardError) {
      opened = try await gateway.open(on: transport, for: session.id) {
        [weak sharedBoard = runtime.sharedBoard] request throws(PageInvitation.Refusal) in
        guard let sharedBoard else { throw .forbidden("The board has been closed.") }
        return try await sharedBoard.invitation(for: request)
      }
    } catch {
      throw CommandError(.refused, error.message)
    }
    guard isWanted, page == nil else {
      await opened.close()
      if page != nil { return }
      throw CommandError(.refused, "browsers were turned off in the meantime")
    }
    (page, closeGateway) = (opened.page, opened.close)
    do throws(SessionError) { try await session.openToGuests() } catch {
      await takePage()?()
      throw CommandError(error)
    }
    (openingAgain, openingError) = (nil, nil)
    runtime.spawn { sharedBoard in for await page in opened.changes { sharedBoard.board?.browsers.changePage(to: page) }
    }
  }

  private nonisolated(nonsending) func showLink(request: RequestMark?) async throws(CommandError) {
    defer { checkIsolation(#isolation) }
    guard let page else { return }
    let link: BrowserLink
    if let known = links.forEveryone {
      link = known
    } else {
      link = try await links.add(InvitationTerms(isForBrowsers: true))
    }
    runtime.emit(.invited(invited(link, page)), answering: request)
  }

  private func changePage(to new: BrowserPage) {
    guard page != nil else { return }
    page = new
    report(request: nil)
    guard let link = links.forEveryone else { return }
    runtime.emit(.invited(invited(link, new)))
  }

  private func takePage() -> (@Sendable () async -> Void)? {
    defer { (page, closeGateway) = (nil, nil) }
    return closeGateway
  }

  private func checkIsHosting() throws(CommandError) {
    guard configuration.isHosting(session) else {
      throw CommandError(.refused, "only the host of the board, or its relay, can let browsers join")
    }
  }

  /// Disconnects all guests. Browser links stay valid until they expire.
  nonisolated(nonsending) func turnOff(request: RequestMark?) async {
    defer { checkIsolation(#isolation) }
    (isWanted, openingAgain) = (false, nil)
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
          isSelfMade: page?.isSelfMade
        )
      ),
      answering: request
    )
  }

  // MARK: - Browser links

  nonisolated(nonsending) func invite(_ terms: InvitationTerms) async throws(CommandError) -> SharedBoard.News.Invited {
    defer { checkIsolation(#isolation) }
    if isBeginning { _ = await runtime.wait(timeout: .seconds(5)) { !self.isBeginning } }
    guard let page else {
      try checkIsHosting()
      let advice = configuration.isRelay ? "start the relay with --web" : "use `web on` first"
      throw CommandError(.refused, "browsers cannot join this board; \(advice)")
    }
    return invited(try await links.add(terms), page)
  }

  /// The link that a guest's page may show to others (WEB-58 to WEB-60).
  nonisolated(nonsending) func invitation(for request: PageInvitation.Request) async throws(PageInvitation.Refusal)
    -> PageInvitation
  {
    defer { checkIsolation(#isolation) }
    let role = request.isView ? "viewer" : "editor"
    guard let page, let key = await session.guestKey(of: request.guest, asking: role, proof: request.proof) else {
      throw .forbidden("This page is not connected to the board now. Try again when it is.")
    }
    guard configuration.guestsInvite ?? !replica.isOwned else {
      throw .forbidden("The host of this board does not let browsers invite people. Ask the host for a link.")
    }
    let now = runtime.clock.now
    if now - requests.since >= .seconds(60) { requests = (now, [:]) }
    requests.counts[request.guest, default: 0] += 1
    guard requests.counts[request.guest, default: 0] <= PageInvitation.maximumPerMinute else { throw .tooMany }
    let link: BrowserLink
    do throws(CommandError) { link = try await links.shared(by: key, isView: request.isView) } catch {
      let text = error.message
      throw .forbidden(text.prefix(1).uppercased() + text.dropFirst() + (text.hasSuffix(".") ? "" : "."))
    }
    // The guest's page may have an address that only the computer of the gateway can use.
    let origin = page.origins.first { $0 == request.origin } ?? page.origins.first ?? request.origin
    return PageInvitation(
      link: link.text(origin, session.id),
      expires: link.end.map { Timestamp.text(milliseconds: $0) }
    )
  }

  private func invited(_ link: BrowserLink, _ page: BrowserPage) -> SharedBoard.News.Invited {
    let texts = page.origins.map { link.text($0, session.id) }
    return SharedBoard.News.Invited(
      code: nil,
      role: link.isView ? "viewer" : replica.isOwned ? "editor" : nil,
      link: texts.first ?? "",
      links: texts,
      fingerprint: page.isSelfMade ? page.fingerprint : nil,
      expires: link.end.map { Timestamp.text(milliseconds: $0) }
    )
  }

  /// Closes the browser links with which removed guests joined, and emits another link. The host can choose to keep the
  /// links. A relay does not learn of this choice, so it closes the links whenever the host removes a guest.
  nonisolated(nonsending) func removed(_ peers: [PeerID], request: RequestMark?) async {
    defer { checkIsolation(#isolation) }
    if await links.close(ofRemoved: peers) { await replaceLink(request: request) }
  }

  nonisolated(nonsending) func replaceLink(request: RequestMark?) async {
    defer { checkIsolation(#isolation) }
    do throws(CommandError) { try await showLink(request: request) } catch {
      runtime.emit(.warning(.init(code: "no-web", message: "There is no new browser link: \(error.message)")))
    }
  }

  // MARK: - The end of access

  nonisolated(nonsending) func revokeAll() async {
    defer { checkIsolation(#isolation) }
    let count = links.count
    await links.end(reason: "The host revoked all browser links.") { _ in true }
    let command = page == nil ? "web on" : "invite web"
    runtime.emit(
      .note(
        .init(
          code: SharedBoard.News.Remark.webRevoked,
          message: "\(count) browser link\(count == 1 ? "" : "s") revoked. To create a new one, use `\(command)`."
        )
      )
    )
  }

  var nextDeadline: ContinuousClock.Instant? { [links.nextDeadline, openingAgain].compactMap(\.self).min() }

  func performTimedWork() {
    links.performTimedWork()
    guard let openingAgain, openingAgain <= runtime.clock.now else { return }
    self.openingAgain = nil
    runtime.spawn { sharedBoard in await sharedBoard.board?.browsers.openRequired() }
  }

  /// Closes the gateway when the local peer leaves. Also revokes the browser links that have no time limit, unless a
  /// relay keeps the board open. If `comesBack` is true, the board will be opened again at the next start, so all
  /// browser links stay valid.
  nonisolated(nonsending) func close(comesBack: Bool) async {
    defer { checkIsolation(#isolation) }
    (isWanted, openingAgain) = (false, nil)
    if !comesBack, !board.isCarried { await links.end(reason: "The host closed the board.") { $0.end == nil } }
    await links.storeIfNeeded()
    await takePage()?()
  }
}

/// A gateway that serves the page for browsers (`Protocol/web.md`).
package protocol BrowserGateway: Sendable {
  /// Opens the gateway; throws if its certificate or port cannot be used. If a page of the session asks for a link to
  /// show to others, `invite` returns that link.
  func open(on transport: PeerTransport, for session: SessionID, invite: @escaping PageInvitation.Answer)
    async throws(WhiteboardError) -> OpenGateway
}

extension SharedBoard {
  fileprivate func invitation(for request: PageInvitation.Request) async throws(PageInvitation.Refusal)
    -> PageInvitation
  {
    guard let board else { throw .forbidden("The board has been closed.") }
    return try await board.browsers.invitation(for: request)
  }
}

/// A browser link that a guest shows to others (WEB-58).
package struct PageInvitation: Sendable {
  package typealias Answer = @Sendable (Request) async throws(Refusal) -> PageInvitation

  /// The maximum number of answered requests per guest and minute (WEB-60).
  static let maximumPerMinute = 20

  package struct Request: Sendable {
    package let session: SessionID
    package let guest: PeerID
    package let isView: Bool
    package let proof: [UInt8]
    package let origin: String

    package init(session: SessionID, guest: PeerID, isView: Bool, proof: [UInt8], origin: String) {
      self.session = session
      self.guest = guest
      self.isView = isView
      self.proof = proof
      self.origin = origin
    }
  }

  package enum Refusal: Error {
    case forbidden(String)
    case tooMany
  }

  package let link: String
  package let expires: String?
}

package struct OpenGateway: Sendable {
  package let page: BrowserPage
  /// The page after each change of its addresses or certificate. Slow readers receive only the latest page. The stream
  /// ends when the gateway closes.
  package let changes: AsyncStream<BrowserPage>
  package let close: @Sendable () async -> Void

  package init(page: BrowserPage, changes: AsyncStream<BrowserPage>, close: @escaping @Sendable () async -> Void) {
    self.page = page
    self.changes = changes
    self.close = close
  }
}

package struct BrowserPage: Equatable, Sendable {
  /// The origins of the page, best first, such as `https://192.168.1.5:26443`.
  package var origins: [String]
  package var fingerprint: String
  /// Whether browsers warn about the certificate, because the gateway created it.
  package var isSelfMade: Bool

  package static let warning =
    "When you open the link, the browser warns about the certificate. Continue only if its SHA-256 fingerprint is the "
    + "one below. Otherwise, another person on the network may be sending you a different page."

  package init(origins: [String], fingerprint: String, isSelfMade: Bool) {
    self.origins = origins
    self.fingerprint = fingerprint
    self.isSelfMade = isSelfMade
  }
}

import NIOCore
import NIOPosix
import NIOSSL
import PeerWire

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Dials one bulk link and attaches it to a control link (8.1).
///
/// Confined to a bulk event loop.
final class BulkDial<Attached: Sendable>: LinkDelegate, Sendable {
  private let security: LinkSecurity
  private let remote: PeerAddress
  private let peer: PeerID
  private let session: SessionID
  private let incarnation: SessionIncarnation
  private let opener: Control.Opener
  private let secret: [UInt8]
  private let route: PeerID?
  private let wrap: @Sendable (any Channel) throws -> Attached
  private let promise: EventLoopPromise<Attached>

  init(
    security: LinkSecurity,
    eventLoop: any EventLoop,
    remote: PeerAddress,
    peer: PeerID,
    session: SessionID,
    incarnation: SessionIncarnation,
    opener: Control.Opener,
    secret: [UInt8],
    route: PeerID?,
    wrap: @escaping @Sendable (any Channel) throws -> Attached
  ) {
    self.security = security
    self.remote = remote
    self.peer = peer
    self.session = session
    self.incarnation = incarnation
    self.opener = opener
    self.secret = secret
    self.route = route
    self.wrap = wrap
    self.promise = eventLoop.makePromise()
  }

  /// Dials the link, and closes the connection if the peer does not attach it in time.
  func start(limit: TimeAmount = .seconds(10)) -> EventLoopFuture<Attached> {
    let eventLoop = promise.futureResult.eventLoop
    let address: SocketAddress
    do { address = try remote.socketAddress() } catch {
      promise.fail(error)
      return promise.futureResult
    }
    ClientBootstrap(group: eventLoop).connectTimeout(.seconds(5)).channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        let (handler, facts) = try self.security.makeHandler(.dialler, expecting: self.peer)
        let link = ControlLink(side: .dialler, facts: facts, remote: self.remote, delegate: self)
        // The link has a weak reference to its delegate, so the channel retains this dial until
        // it closes.
        channel.closeFuture.whenComplete { _ in withExtendedLifetime(self) {} }
        self.promise.futureResult.whenFailure { _ in channel.close(promise: nil) }
        try channel.pipeline.syncOperations.addHandlers([handler, link])
      }
    }.connect(to: address).whenFailure { error in
      self.promise.fail(
        SessionError(.unreachable, "Cannot open an additional connection to the peer: \(reason(of: error)).")
      )
    }
    let promise = promise
    let timeout = eventLoop.scheduleTask(in: limit) {
      promise.fail(SessionError(.timedOut, "The additional connection was not opened in time."))
    }
    promise.futureResult.whenComplete { _ in timeout.cancel() }
    return promise.futureResult
  }

  func linkSecured(_ link: ControlLink) {
    guard let exported = link.facts.exporter?.export(.attach) else { return link.abort() }
    let attach = Control.Attach(
      session: session,
      incarnation: incarnation,
      opener: opener,
      proof: attachProof(secret, exported),
      route: route
    )
    link.send(.attach, attach.encoded())
  }

  func link(_ link: ControlLink, received type: FrameType, _ payload: ByteBuffer) {
    guard type == .attached else { return link.close(.protocolError, CloseMessage.unexpected(type)) }
    makeBulkLink(link, wrap).cascade(to: promise)
  }

  func linkReadComplete(_ link: ControlLink) {}
  func linkWritable(_ link: ControlLink) {}

  func linkEnded(_ link: ControlLink, _ reason: LinkEnd) {
    if case .closed(let code, let message) = reason {
      promise.fail(SessionError(closeCode: code, message: message))
    } else {
      promise.fail(SessionError(.unreachable, "The additional connection broke before it was attached."))
    }
  }
}

/// A type-erased clock, so that its users need no generic parameter.
struct BulkTime: Sendable {
  /// Returns the time since an arbitrary reference point.
  let now: @Sendable () -> Duration
  /// Suspends for a duration; throws only if the task is canceled.
  let sleep: @Sendable (Duration) async throws -> Void

  /// How long an offer waits for the application's decision (RES-8).
  static let offerLimit = Duration.seconds(120)

  init<C: Clock>(_ clock: C) where C.Duration == Duration {
    let start = clock.now
    now = { start.duration(to: clock.now) }
    sleep = { try await clock.sleep(until: clock.now.advanced(by: $0), tolerance: nil) }
  }
}

func systemMessage(_ number: Int32) -> String { String(cString: strerror(number)) }

func secondsSince1970() -> Int { time(nil) }

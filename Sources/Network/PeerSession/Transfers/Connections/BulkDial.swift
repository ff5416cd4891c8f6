import NIOCore
import PeerWire

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Dials one bulk link and attaches it to a control link (8.1). Confined to a bulk event loop.
final class BulkDial<Attached: Sendable>: LinkDelegate {
  private let attach: Control.Attach
  private let secret: [UInt8]
  private let wrap: @Sendable (any Channel) throws -> Attached
  private let promise: EventLoopPromise<Attached>

  init(
    _ attach: Control.Attach,
    secret: [UInt8],
    eventLoop: any EventLoop,
    wrap: @escaping @Sendable (any Channel) throws -> Attached
  ) {
    self.attach = attach
    self.secret = secret
    self.wrap = wrap
    self.promise = eventLoop.makePromise()
  }

  func start(_ means: LinkDial.Means, to remote: PeerAddress, peer: PeerID, limit: TimeAmount = .seconds(10))
    -> EventLoopFuture<Attached>
  {
    let dial = LinkDial(means, [remote], expecting: peer) { [self] result in
      switch result {
      // Another program may temporarily use the peer's address, so the caller can try again later.
      case .failure(let error) where error.code == .wrongPeer: promise.fail(SessionError(.unreachable, error.message))
      case .failure(let error): promise.fail(error)
      case .success(let link): connected(link)
      }
    }
    let timeout = means.eventLoop.assumeIsolated().scheduleTask(in: limit) { [promise] in
      dial.cancel()
      promise.fail(SessionError(.timedOut, "The additional connection was not opened in time."))
    }
    promise.futureResult.whenComplete { _ in timeout.cancel() }
    dial.start()
    return promise.futureResult
  }

  private func connected(_ link: ControlLink) {
    guard let channel = link.channel, let exported = link.facts.exporter?.export(.attach) else { return link.abort() }
    link.delegate = self
    // The link references its delegate weakly, so the channel retains this dial until the channel closes.
    channel.closeFuture.assumeIsolated().whenComplete { _ in withExtendedLifetime(self) {} }
    promise.futureResult.whenFailure { _ in channel.close(promise: nil) }
    var attach = attach
    attach.proof = attachProof(secret, exported)
    link.send(.attach, attach.encoded())
  }

  func link(_ link: ControlLink, received type: FrameType, _ payload: ByteBuffer) {
    guard type == .attached else { return link.close(.protocolError, CloseMessage.unexpected(type)) }
    makeBulkLink(link, wrap).cascade(to: promise)
  }

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

import NIOCore
import NIOPosix
import NIOSSL
import PeerWire

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// An attempt to reach a peer at one of several addresses, over TCP and TLS.
///
/// Dials to the addresses start 250 ms apart, or immediately after the previous dial fails (a simple form of RFC 8305).
/// The first connection to complete its TLS handshake with the expected key is used, and the others are closed.
/// Confined to the event loop of its ``Means``. A peer that joins by a link also dials the peers that announce the
/// session (DSC-28).
final class LinkDial: LinkDelegate {
  struct Means: Sendable {
    var security: LinkSecurity
    var eventLoop: any EventLoop
    var localPeer: PeerID
    var timeout: TimeAmount
  }

  private let means: Means
  private var waiting: [AnnouncedListeners.Target]
  private var dialled: Set<AnnouncedListeners.Target>
  private let firstAddress: PeerAddress?
  private let expected: PeerID?
  private let announced: AnnouncedListeners?
  private var underway: [(link: ControlLink, target: AnnouncedListeners.Target)] = []
  private var connecting = 0
  private var startedAt = NIODeadline.now()
  private var firstError: SessionError?
  private var completion: ((Result<ControlLink, SessionError>) -> Void)?
  private var deadline: Scheduled<Void>?
  private var timer: Scheduled<Void>?
  var progress: ((JoinStep) -> Void)?

  /// `completion` is called once, on the event loop, and never after ``cancel()``.
  init(
    _ means: Means,
    _ addresses: [PeerAddress],
    expecting expected: PeerID?,
    announced: AnnouncedListeners? = nil,
    completion: @escaping (Result<ControlLink, SessionError>) -> Void
  ) {
    self.means = means
    self.waiting = addresses.map { AnnouncedListeners.Target(peer: expected, address: $0) }
    self.dialled = Set(waiting)
    self.firstAddress = addresses.first
    self.expected = expected
    self.announced = announced
    self.completion = completion
  }

  /// The likely cause if a connection is neither accepted nor refused.
  static let silence = "no answer in time; the computer there is off or asleep, or its firewall drops connections"

  private(set) var hasConnected = false

  var timeoutError: SessionError {
    guard !hasConnected, let address = firstAddress else {
      return SessionError(closeCode: .timedOut, message: "", isOurs: true)
    }
    return firstError ?? SessionError(.unreachable, "Nothing answers at \(address): \(Self.silence).")
  }

  func start() {
    let timeout = means.timeout
    startedAt = .now()
    guard !waiting.isEmpty || announced != nil else {
      return finish(.failure(SessionError(.unreachable, "No address of the peer is known.")))
    }
    deadline = means.eventLoop.assumeIsolated().scheduleTask(in: timeout) { [self] in
      let seconds = timeout.nanoseconds / 1_000_000_000
      finish(
        .failure(firstError ?? SessionError(.unreachable, "The peer did not answer within \(seconds) s."))
      )
    }
    next()
  }

  func cancel() {
    completion = nil
    finish(.failure(.cancelled))
  }

  private func next() {
    guard completion != nil else { return }
    readAnnouncements()
    guard !waiting.isEmpty else { return finishIfAllFailed() }
    let target = waiting.removeFirst()
    connecting += 1
    progress?(.connecting(target.address))
    connect(to: target).assumeIsolated().whenComplete { [self] result in connected(result, target) }
    planNext()
  }

  private func planNext() {
    timer?.cancel()
    timer = means.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(250)) { [self] in next() }
  }

  private func readAnnouncements() {
    guard let announced else { return }
    // The named peer has a head start, so that a code is rarely proved to another peer.
    let isNamedPeerLate = .now() - startedAt >= AnnouncedListeners.headStart || !isDialing
    for target in announced.targets
    where (target.peer == expected || isNamedPeerLate) && dialled.insert(target).inserted { waiting.append(target) }
  }

  private var isDialing: Bool { !waiting.isEmpty || connecting > 0 || !underway.isEmpty }

  private func connect(to target: AnnouncedListeners.Target) -> EventLoopFuture<any Channel> {
    let address = target.address
    let bound = NIOLoopBound(self, eventLoop: means.eventLoop)
    let bootstrap = ClientBootstrap(group: means.eventLoop).connectTimeout(.seconds(5)).channelOption(
      .writeBufferWaterMark,
      value: TransportCore.controlWatermark
    ).channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        let dial = bound.value
        let (handler, facts) = try dial.means.security.makeHandler(.dialler, expecting: target.peer)
        let link = ControlLink(side: .dialler, facts: facts, remote: address, delegate: dial)
        try channel.pipeline.syncOperations.addHandlers([handler, link])
        dial.underway.append((link, target))
      }
    }
    if address.host.contains("%") || (try? SocketAddress(ipAddress: address.host, port: 1)) != nil {
      do { return bootstrap.connect(to: try address.socketAddress()) } catch {
        return means.eventLoop.makeFailedFuture(error)
      }
    }
    return bootstrap.connect(host: address.host, port: address.port)
  }

  private func connected(_ result: Result<any Channel, any Error>, _ target: AnnouncedListeners.Target) {
    connecting -= 1
    let address = target.address
    if case .failure(let error) = result {
      failed(SessionError(.unreachable, "Nothing answers at \(address): \(reason(of: error))."), target)
    } else if completion == nil, case .success(let channel) = result {
      channel.close(promise: nil)
    } else if completion != nil {
      hasConnected = true
      progress?(.awaitingAnswer(address))
    }
  }

  private func failed(_ error: SessionError, _ target: AnnouncedListeners.Target) {
    // If a link names a peer, the user wants to know why that peer did not answer.
    if target.peer == expected, firstError == nil || error.code != .unreachable { firstError = error }
    next()
  }

  private func finishIfAllFailed() {
    if let announced, isDialing || announced.areExpected(after: .now() - startedAt) { return planNext() }
    guard !isDialing else { return }
    finish(.failure(firstError ?? SessionError(.unreachable, "No address of the peer is known.")))
  }

  private func finish(_ result: Result<ControlLink, SessionError>) {
    deadline?.cancel()
    deadline = nil
    timer?.cancel()
    timer = nil
    waiting = []
    var winner: ControlLink?
    if case .success(let link) = result { winner = link }
    for attempt in underway where attempt.link !== winner { attempt.link.abort() }
    underway = []
    completion.take()?(result)
  }

  // MARK: LinkDelegate

  func linkSecured(_ link: ControlLink) {
    guard completion != nil else { return link.abort() }
    finish(.success(link))
  }

  func linkEnded(_ link: ControlLink, _ reason: LinkEnd) {
    guard let index = underway.firstIndex(where: { $0.link === link }) else { return }
    let target = underway.remove(at: index).target
    let address = link.remote.map(String.init(describing:)) ?? "the address"
    let error: SessionError =
      switch reason {
      case .closed(let code, let message): SessionError(closeCode: code, message: message)
      case .closedByUs, .broken:
        if link.facts.wrongPeer == means.localPeer {
          // The address may now be the local peer's own, because the process that used this port before has ended.
          SessionError(.unreachable, "Only this program itself answers at \(address).")
        } else if let wrong = link.facts.wrongPeer {
          SessionError(
            .wrongPeer,
            "The peer at \(address) has the key \(wrong.short)…, not the expected key"
              + " \(target.peer?.short ?? "")…. Another program uses the address now, or the peer has a" + " new key."
          )
        } else {
          SessionError(.unreachable, "A secure connection with \(address) could not be established.")
        }
      }
    failed(error, target)
  }

  func link(_ link: ControlLink, received type: FrameType, _ payload: ByteBuffer) {
    link.close(.protocolError, "A frame arrived before HELLO.")
  }

}

func reason(of error: any Error) -> String {
  switch error {
  case let error as IOError where error.errnoCode == EHOSTUNREACH:
    "\(systemMessage(error.errnoCode)); the computer there is off, asleep or on another network"
  case let error as IOError: systemMessage(error.errnoCode)
  case ChannelError.connectTimeout: LinkDial.silence
  case let error as NIOConnectionError:
    error.connectionErrors.last.map { reason(of: $0.error) } ?? "the host name is unknown"
  default: "\(error)"
  }
}

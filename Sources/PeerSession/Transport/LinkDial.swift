import NIOCore
import NIOPosix
import NIOSSL
import PeerWire

/// An attempt to reach a peer at one of several addresses, over TCP and TLS.
///
/// Dials to the addresses start 250 ms apart, or immediately after the previous one fails (a simple
/// form of RFC 8305). The first connection to complete its TLS handshake with the expected key is
/// used, and the others are closed. Confined to the event loop.
final class LinkDial: LinkDelegate {
  private let transport: TransportCore
  private var waiting: ArraySlice<PeerAddress>
  private let expected: PeerID?
  private var underway: [ControlLink] = []
  private var connecting = 0
  private var firstError: SessionError?
  private var completion: ((Result<ControlLink, SessionError>) -> Void)?
  private var deadline: Scheduled<Void>?
  /// A closure that receives each step of the attempt, on the event loop.
  var progress: ((JoinStep) -> Void)?

  /// Prepares an attempt that calls `completion` once, on the event loop, and never after
  /// ``cancel()``.
  init(
    _ transport: TransportCore,
    _ addresses: [PeerAddress],
    expecting expected: PeerID?,
    completion: @escaping (Result<ControlLink, SessionError>) -> Void
  ) {
    self.transport = transport
    self.waiting = addresses[...]
    self.expected = expected
    self.completion = completion
  }

  func start(timeout: TimeAmount = .seconds(10)) {
    guard !waiting.isEmpty else {
      return finish(.failure(SessionError(.unreachable, "No address of the peer is known.")))
    }
    let bound = NIOLoopBound(self, eventLoop: transport.eventLoop)
    deadline = transport.eventLoop.scheduleTask(in: timeout) {
      let dial = bound.value
      dial.finish(
        .failure(
          dial.firstError
            ?? SessionError(
              .unreachable,
              "The peer did not answer within \(timeout.nanoseconds / 1_000_000_000) s."
            )
        )
      )
    }
    next()
  }

  /// Cancels the attempt without calling `completion`.
  func cancel() {
    completion = nil
    finish(.failure(.cancelled))
  }

  private func next() {
    guard completion != nil, let address = waiting.popFirst() else { return }
    connecting += 1
    progress?(.connecting(address))
    let bound = NIOLoopBound(self, eventLoop: transport.eventLoop)
    connect(to: address).whenComplete { result in
      bound.value.connected(result, address)
    }
    transport.eventLoop.scheduleTask(in: .milliseconds(250)) { bound.value.next() }
  }

  private func connect(to address: PeerAddress) -> EventLoopFuture<any Channel> {
    let bound = NIOLoopBound(self, eventLoop: transport.eventLoop)
    let bootstrap = ClientBootstrap(group: transport.eventLoop)
      .connectTimeout(.seconds(5))
      .channelOption(.writeBufferWaterMark, value: TransportCore.controlWatermark)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let dial = bound.value
          let (handler, facts) = try dial.transport.security.makeHandler(
            .dialler,
            expecting: dial.expected
          )
          let link = ControlLink(side: .dialler, facts: facts, remote: address, delegate: dial)
          try channel.pipeline.syncOperations.addHandlers([handler, link])
          dial.underway.append(link)
        }
      }
    if address.host.contains("%") || (try? SocketAddress(ipAddress: address.host, port: 1)) != nil {
      do {
        return bootstrap.connect(to: try address.socketAddress())
      } catch {
        return transport.eventLoop.makeFailedFuture(error)
      }
    }
    return bootstrap.connect(host: address.host, port: address.port)
  }

  private func connected(_ result: Result<any Channel, any Error>, _ address: PeerAddress) {
    connecting -= 1
    if case .failure(let error) = result {
      failed(SessionError(.unreachable, "Nothing answers at \(address): \(reason(of: error))."))
    } else if completion == nil, case .success(let channel) = result {
      channel.close(promise: nil)
    } else if completion != nil {
      progress?(.awaitingAnswer(address))
    }
  }

  private func failed(_ error: SessionError) {
    if firstError == nil || error.code != .unreachable { firstError = error }
    guard completion != nil else { return }
    if waiting.isEmpty {
      if connecting == 0 && underway.isEmpty { finish(.failure(firstError ?? error)) }
    } else {
      next()
    }
  }

  private func finish(_ result: Result<ControlLink, SessionError>) {
    deadline?.cancel()
    deadline = nil
    waiting = []
    var winner: ControlLink?
    if case .success(let link) = result { winner = link }
    for link in underway where link !== winner { link.abort() }
    underway = []
    completion.take()?(result)
  }

  // MARK: LinkDelegate

  func linkSecured(_ link: ControlLink) {
    guard completion != nil else { return link.abort() }
    finish(.success(link))
  }

  func linkEnded(_ link: ControlLink, _ reason: LinkEnd) {
    guard let index = underway.firstIndex(where: { $0 === link }) else { return }
    underway.remove(at: index)
    let address = link.remote.map(String.init(describing:)) ?? "the address"
    switch reason {
    case .closed(let code, let message):
      failed(SessionError(closeCode: code, message: message))
    case .closedByUs, .broken:
      if link.facts.wrongPeer == transport.configuration.identity.peerID {
        // The address may now be the local peer's own, because the process that used its port
        // before has ended.
        failed(
          SessionError(.unreachable, "Only this program itself answers at \(address).")
        )
      } else if let wrong = link.facts.wrongPeer {
        failed(
          SessionError(
            .wrongPeer,
            "The peer at \(address) has the key \(wrong.short)…, not the expected key"
              + " \(expected?.short ?? "")…. Another program uses the address now, or the peer has a"
              + " new key."
          )
        )
      } else {
        failed(
          SessionError(
            .unreachable,
            "A secure connection with \(address) could not be established."
          )
        )
      }
    }
  }

  func link(_ link: ControlLink, received type: FrameType, _ payload: ByteBuffer) {
    link.close(.protocolError, "A frame arrived before HELLO.")
  }

  func linkReadComplete(_ link: ControlLink) {}
  func linkWritable(_ link: ControlLink) {}
}

/// Returns a message for users that describes a system error.
func reason(of error: any Error) -> String {
  switch error {
  case let error as IOError: systemMessage(error.errnoCode)
  case ChannelError.connectTimeout: "no answer in time"
  case let error as NIOConnectionError:
    error.connectionErrors.last.map { reason(of: $0.error) } ?? "the host name is unknown"
  default: "\(error)"
  }
}

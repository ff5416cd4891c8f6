import Foundation
import Logging
import PeerCore
import PeerDiscovery
import Testing

@testable import PeerSession

/// Runs `body` with its own directory, which is removed afterwards.
func withScratchDirectory<Result>(_ body: (String) async throws -> Result) async throws -> Result {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent(
    "whiteboard-\(UInt64.random(in: .min ... .max))"
  )
  defer { try? FileManager.default.removeItem(at: url) }
  return try await body(url.path)
}

/// Runs `body` with a transport on loopback, on a free port.
func withPeer<Result: Sendable>(
  _ name: String,
  identity: PeerIdentity = .ephemeral(),
  configure: @escaping @Sendable (inout TransportConfiguration) -> Void = { _ in },
  _ body: @escaping @Sendable (PeerTransport) async throws -> Result
) async throws -> Result {
  try await withScratchDirectory { directory in
    var logger = Logger(label: name)
    logger.logLevel = .critical
    var configuration = TransportConfiguration(
      identity: identity,
      displayName: name,
      inboxDirectory: directory + "/inbox",
      logger: logger
    )
    configuration.listen = PeerAddress(host: "127.0.0.1", port: 0)
    // On a busy machine, a step may take a long time.
    configuration.stepTimeout = .seconds(60)
    configure(&configuration)
    return try await PeerTransport.withTransport(configuration, body)
  }
}

extension PeerTransport {
  var loopback: PeerAddress { PeerAddress(host: "127.0.0.1", port: port) }

  func join(
    _ session: SessionID,
    of host: PeerTransport,
    at address: PeerAddress? = nil,
    code: JoinCode? = nil,
    timeout: Duration = .seconds(20),
    redialLimit: Duration = .zero
  ) async throws -> Session {
    var request = JoinRequest(
      session: session,
      addresses: [address ?? host.loopback],
      peer: host.peerID,
      trust: .pinnedByLink,
      code: code
    )
    request.timeout = timeout
    request.redialLimit = redialLimit
    return try await join(request) { _ in true }
  }
}

/// Collects the events of a session, so that a test can wait for the expected events.
actor EventLog {
  private var events: [SessionEvent] = []
  private struct Waiter {
    let id: Int
    let condition: ([SessionEvent]) -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }
  private var waiters: [Waiter] = []
  private var lastWaiter = 0
  private(set) var isFinished = false

  /// Reads `session` until it ends; run it in a task group.
  func follow(_ session: Session) async {
    for await event in session.events { add(event) }
    isFinished = true
    wake()
  }

  private func add(_ event: SessionEvent) {
    events.append(event)
    wake()
  }

  private func wake() {
    let all = events
    let ready = waiters.filter { isFinished || $0.condition(all) }
    waiters.removeAll { isFinished || $0.condition(all) }
    for waiter in ready { waiter.continuation.resume() }
  }

  /// Waits until `condition` holds for all events so far, the session has ended, or the task is canceled.
  func wait(until condition: @escaping @Sendable ([SessionEvent]) -> Bool) async {
    if isFinished || condition(events) || Task.isCancelled { return }
    lastWaiter += 1
    let id = lastWaiter
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiters.append(Waiter(id: id, condition: condition, continuation: $0)) }
    } onCancel: {
      Task { await giveUp(id) }
    }
  }

  private func giveUp(_ id: Int) {
    guard let index = waiters.firstIndex(where: { $0.id == id }) else { return }
    waiters.remove(at: index).continuation.resume()
  }

  /// Waits for the first event for which `pick` returns a value, and returns that value.
  func first<Value: Sendable>(_ pick: @escaping @Sendable (SessionEvent) -> Value?) async throws -> Value {
    await wait { $0.contains { pick($0) != nil } }
    return try #require(events.lazy.compactMap(pick).first)
  }

  var all: [SessionEvent] { events }

  var messages: [[UInt8]] { events.compactMap { if case .message(let bytes, _) = $0 { bytes } else { nil } } }

  func waitForMessages(_ count: Int) async {
    await wait { events in events.count(where: { if case .message = $0 { true } else { false } }) >= count }
  }

  func waitForPeers(_ count: Int) async {
    await wait { events in
      var peers = 0
      for event in events {
        switch event {
        case .peerJoined: peers += 1
        case .peerLeft: peers -= 1
        default: break
        }
      }
      return peers >= count
    }
  }
}

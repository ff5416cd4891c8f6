import PeerCore
import PeerSession

/// Moves a hosted board to a relay, so that members can use the board while the host is offline. Confined to the actor
/// of its board.
struct HostMove {
  private static let pauses: [Duration] = [.milliseconds(500), .seconds(1), .seconds(2), .seconds(5), .seconds(15)]

  /// The errors of a relay that is offline, restarts, or is not ready yet.
  private static let temporaryErrors: [SessionError.Code] = [.unreachable, .timedOut, .shuttingDown, .busy]

  /// The time in which the session may reconnect to a relay.
  private static let grace = Duration.seconds(3)

  let runtime: BoardRuntime
  let discovery: BoardDiscovery
  let board: BoardSession
  let localPeer: PeerID
  let carrier: BoardConfiguration.Carrier

  /// Keeps the board at a relay. A relay that returns with its key receives the board from the session. A relay that
  /// lost its data returns with another key, so this function moves the board again.
  nonisolated(nonsending) func run() async {
    defer { checkIsolation(#isolation) }
    var former: PeerID?
    while runtime.ending == nil {
      guard let relay = await move(from: former) else { return }
      former = relay
      _ = await runtime.wait { !isReached(relay) }
      // The session itself reconnects to a relay that was unreachable for a moment.
      _ = await runtime.wait(timeout: Self.grace) { isReached(relay) }
    }
  }

  private func isReached(_ peer: PeerID) -> Bool { runtime.call { $0.members.isReached(peer) } }

  /// Tries until a relay accepts the board. Returns nil if the configured relay refuses the board, or the board closes.
  /// After a relay accepts the board, the session keeps the relay up to date, even if one of the programs restarts.
  private nonisolated(nonsending) func move(from former: PeerID?) async -> PeerID? {
    defer { checkIsolation(#isolation) }
    var failures = 0
    var isReported = false
    while runtime.ending == nil {
      if let former, isReached(former) { return former }
      // The name and the code may have changed since the last attempt.
      let terms = CarryTerms(name: board.name, admission: board.policy)
      for candidate in relays {
        do throws(SessionError) {
          let relay = try await board.session.carry(by: candidate.addresses, relay: candidate.peer, terms: terms)
          if relay != former { await moved(to: relay, from: former, at: candidate.addresses) }
          return relay
        } catch {
          if error.code == .sessionEnded || error.code == .cancelled { return nil }
          // A relay that the configuration names would refuse the board again, so do not retry.
          let isFinal = carrier != .nearby && !Self.temporaryErrors.contains(error.code)
          if former != nil, error.code == .wrongPeer {
            reportChangedKey(error)
          } else if isFinal || !isReported {
            report(error, isAway: former != nil, isFinal: isFinal)
          }
          isReported = true
          if isFinal { return nil }
        }
      }
      if !isReported, carrier == .nearby, failures == 3 {
        isReported = true
        let message =
          "No relay was found nearby. The board is only on this computer until a relay is found. To name a relay, use "
          + "--relay HOST:PORT."
        if former == nil { failed(WhiteboardError(.unreachable, message), endsWaits: true) }
        runtime.emit(.warning(.init(code: "no-relay", message: message)))
      }
      let pause = Self.pauses[min(failures, Self.pauses.count - 1)]
      failures += 1
      _ = await runtime.wait(timeout: pause) { former.map { isReached($0) } ?? false }
    }
    return nil
  }

  private var relays: [(peer: PeerID?, addresses: [PeerAddress])] {
    switch carrier {
    case .at(let address, let peer): [(peer, [PeerAddress(host: address.host, port: address.port)])]
    case .nearby: discovery.nearby.relays.map { (PeerID(claimed: $0.announcement.peer), $0.addresses) }
    }
  }

  private nonisolated(nonsending) func moved(to relay: PeerID, from former: PeerID?, at addresses: [PeerAddress]) async
  {
    defer { checkIsolation(#isolation) }
    // The relay gets its rights from the open board, so wait until the board is open.
    _ = await runtime.wait { runtime.call { $0.board != nil } }
    board.move = .carried(by: relay)
    runtime.changed()
    let link = addresses.first.flatMap { HostPort(host: $0.host, port: $0.port) }.map {
      BoardLink(address: $0, board: board.session.id.text, peer: relay.text, code: board.code?.words ?? []).text
    }
    if let former {
      board.session.giveUp(former)
      let address = addresses.first?.description ?? "that address"
      runtime.emit(
        .warning(
          .init(
            code: "relay-replaced",
            message: "The relay that had the board is gone, and another relay is at \(address). The "
              + "former relay may have lost its data. The board was moved to the new relay. Share the new link."
          )
        )
      )
    }
    let name = runtime.call { sharedBoard in
      sharedBoard.board?.roles.admit(relay: relay)
      return sharedBoard.members.name(of: relay)
    }
    runtime.emit(.carried(.init(relay: relay.text, name: name, link: link ?? "")))
  }

  private func report(_ error: SessionError, isAway: Bool, isFinal: Bool) {
    let reason = UntrustedText(error.message).escaped()
    let message =
      isAway
      ? "The relay does not have the board at the moment: \(reason) Until it has the board again, "
        + "others can join only while a member is online."
      : "The relay did not accept the board: \(reason) This peer's id, for the relay's allow setting, "
        + "is \(localPeer.text)."
    if !isAway {
      let code = error.code == .notCarried ? .notAllowed : WhiteboardError(error).code
      failed(WhiteboardError(code, message), endsWaits: isFinal)
    }
    runtime.emit(.warning(.init(code: "not-carried", message: message)))
  }

  private func failed(_ error: WhiteboardError, endsWaits: Bool) {
    board.move = .failed(error, endsWaits: endsWaits)
    runtime.changed()
  }

  private func reportChangedKey(_ error: SessionError) {
    let message =
      "The relay no longer has the board: \(UntrustedText(error.message).escaped()) The relay may have lost "
      + "its data. The board was not moved to the new relay, because the relay setting contains the former relay's id. "
      + "If the new relay is yours, put its id into the relay setting, and host the board again."
    runtime.emit(.warning(.init(code: "not-carried", message: message)))
  }
}

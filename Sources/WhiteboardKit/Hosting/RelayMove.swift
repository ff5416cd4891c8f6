import PeerCore
import PeerSession

/// The move of a hosted board to a relay, so that members can use it while the host is offline.
///
/// Confined to the actor of its board.
struct RelayMove {
  /// The delays between attempts.
  private static let pauses: [Duration] = [
    .milliseconds(500), .seconds(1), .seconds(2), .seconds(5), .seconds(15),
  ]

  let runtime: BoardRuntime
  let discovery: BoardDiscovery
  let board: BoardSession
  /// The local peer.
  let localPeer: PeerID
  /// The relays to ask.
  let carrier: BoardConfiguration.Carrier

  /// Asks relays until one accepts the board, or the configured relay refuses it.
  ///
  /// After that, the session keeps the relay up to date, even if either program restarts.
  nonisolated(nonsending) func run() async {
    var failures = 0
    var isReported = false
    while runtime.ending == nil {
      // The name and the code may have changed since the last attempt.
      let terms = CarryTerms(name: board.name, admission: board.policy)
      for candidate in relays {
        do throws(SessionError) {
          let relay = try await board.session.carry(
            by: candidate.addresses,
            relay: candidate.peer,
            terms: terms
          )
          await moved(to: relay, at: candidate.addresses)
          return
        } catch {
          if error.code == .sessionEnded || error.code == .cancelled { return }
          // A relay that the configuration names would refuse the board again, so do not retry.
          let isFinal = carrier != .nearby && error.code != .unreachable && error.code != .timedOut
          if isFinal || !isReported { report(error) }
          isReported = true
          if isFinal { return }
        }
      }
      if !isReported, carrier == .nearby, failures == 3 {
        isReported = true
        runtime.emit(
          .warning(
            .init(
              code: "no-relay",
              message: "No relay was found nearby. The board is only on this computer until one is "
                + "found. To name a relay, use --relay HOST:PORT."
            )
          )
        )
      }
      let pause = Self.pauses[min(failures, Self.pauses.count - 1)]
      failures += 1
      _ = await runtime.wait(timeout: pause) { runtime.ending != nil }
    }
  }

  /// The relay that the configuration names, or all announced relays that accept boards.
  private var relays: [(peer: PeerID?, addresses: [PeerAddress])] {
    switch carrier {
    case .at(let address, let peer):
      [(peer, [PeerAddress(host: address.host, port: address.port)])]
    case .nearby:
      discovery.nearby.relays.map { (PeerID(claimed: $0.announcement.peer), $0.addresses) }
    }
  }

  private nonisolated(nonsending) func moved(to relay: PeerID, at addresses: [PeerAddress]) async {
    // The relay gets its rights from the open board, so wait until the board is open.
    _ = await runtime.wait { runtime.call { $0.board != nil } }
    board.isCarried = true
    let link = addresses.first.flatMap { HostPort(host: $0.host, port: $0.port) }.map {
      BoardLink(
        address: $0,
        board: board.session.id.text,
        peer: relay.text,
        code: board.code?.words ?? []
      ).text
    }
    let name = runtime.call { sharedBoard in
      sharedBoard.board?.roles.admit(relay: relay)
      return sharedBoard.members.name(of: relay)
    }
    runtime.emit(.carried(.init(relay: relay.text, name: name, link: link ?? "")))
  }

  private func report(_ error: SessionError) {
    runtime.emit(
      .warning(
        .init(
          code: "not-carried",
          message: "The relay did not accept the board: \(UntrustedText(error.message).escaped())"
            + " This peer's id, for the relay's allow setting, is \(localPeer.text)."
        )
      )
    )
  }
}

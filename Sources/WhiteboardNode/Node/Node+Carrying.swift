import PeerDiscovery
import PeerSession
import WhiteboardRendering

/// A board of ours moves to a relay, and lives on there when we are away.
extension Node {
  /// How long to wait before a relay is asked again that could not be reached.
  private static let carryPauses: [Duration] = [
    .milliseconds(500), .seconds(1), .seconds(2), .seconds(5), .seconds(15),
  ]

  /// Has a relay carry the session, trying until one does or says no.
  ///
  /// The session itself keeps up with the relay from then on, also over restarts on either side.
  func moveToRelay(
    _ carrier: NodeConfiguration.Carrier,
    _ session: Session,
    _ policy: AdmissionPolicy
  ) async {
    var failures = 0
    var isTold = false
    while ending == nil {
      // The code may have changed since the last attempt.
      let terms = CarryTerms(name: boardName, admission: code.map { .code($0) } ?? policy)
      for candidate in await relays(carrier) {
        do throws(SessionError) {
          let relay = try await session.carry(
            by: candidate.addresses,
            relay: candidate.peer,
            terms: terms
          )
          carried(by: relay, at: candidate.addresses, session)
          return
        } catch {
          if error.code == .sessionEnded || error.code == .cancelled { return }
          // One that is told by its address, and says no, will say no again.
          let isFinal = carrier != .nearby && error.code != .unreachable && error.code != .timedOut
          if isFinal || !isTold { tellNotCarried(error) }
          isTold = true
          if isFinal { return }
        }
      }
      if !isTold, carrier == .nearby, failures == 3 {
        isTold = true
        emit(
          .warning(
            .init(
              code: "no-relay",
              message: "No relay is found nearby yet; the board is here alone until one is. "
                + "--relay HOST:PORT names one."
            )
          )
        )
      }
      let pause = Self.carryPauses[min(failures, Self.carryPauses.count - 1)]
      failures += 1
      _ = await wait(timeout: pause) { self.ending != nil }
    }
  }

  /// Returns the possible relays: the named one, or all announced relays that accept boards.
  private func relays(
    _ carrier: NodeConfiguration.Carrier
  ) async -> [(peer: PeerID?, addresses: [PeerAddress])] {
    switch carrier {
    case .at(let place, let peer):
      return [(peer, [PeerAddress(host: place.host, port: place.port)])]
    case .nearby:
      return nearby.relays.compactMap { relay in
        guard let peer = PeerID(bytes: relay.announcement.peer.bytes) else { return nil }
        let addresses = relay.endpoints.map { PeerAddress(host: $0.host, port: Int($0.port)) }
        return (peer, addresses)
      }
    }
  }

  private func carried(
    by relay: PeerID,
    at addresses: [PeerAddress],
    _ session: Session
  ) {
    board?.roles.admit(relay: relay)
    let words = code.map { $0.text.split(separator: "-").map(String.init) } ?? []
    let link = addresses.first.flatMap { HostPort(host: $0.host, port: $0.port) }.map {
      BoardLink(address: $0, board: session.id.text, peer: relay.text, code: words).text
    }
    emit(
      .carried(
        .init(
          relay: relay.text,
          name: members.name(of: relay),
          link: link ?? ""
        )
      )
    )
  }

  /// Returns the amount that this node forwarded as a relay of the session.
  package func relayTally() async -> RelayTally { await session?.relayTally() ?? RelayTally() }

  private func tellNotCarried(_ error: SessionError) {
    emit(
      .warning(
        .init(
          code: "not-carried",
          message: "The relay does not have the board: \(TerminalText.cleaned(error.message))"
            + " This peer's id, for the relay's allow setting, is \(configuration.identity.peerID.text)."
        )
      )
    )
  }
}

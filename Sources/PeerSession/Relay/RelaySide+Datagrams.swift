import PeerWire

// Datagrams through a relay. Every hop drops datagrams rather than queuing them (RLY-10).
extension RelaySide {
  func sendDatagram(_ bytes: [UInt8], to peers: [PeerID]) {
    var routes: [PeerID: RouteSet] = [:]
    for peer in peers {
      guard let route = session.entries[peer]?.relayed?.route else { continue }
      routes[route.relay, default: RouteSet()].insert(route.number)
    }
    for (relay, routes) in routes {
      session.entries[relay]?.datagrams?.send(RelayMessage.send(routes).encoded(bytes), isRelays: true)
    }
  }

  /// Handles a datagram between a member and a relay.
  ///
  /// An invalid one is dropped.
  func receivedDatagram(_ bytes: [UInt8], _ sender: PeerID) {
    var offset = 0
    guard let message = try? RelayMessage.read(from: bytes.span, payloadAt: &offset) else { return }
    switch message {
    case .send(let routes) where opensRoutes:
      let targets = table.targets(of: routes, from: sender)
      guard mayPass(bytes.count, copies: max(1, targets.count), from: sender) else { return }
      for target in targets {
        // If too many messages wait for a member, the datagram is dropped.
        guard queues[target.peer]?.dataBytes ?? 0 <= Limits.framePayload else { continue }
        session.entries[target.peer]?.datagrams?.send(
          RelayMessage.from(target.route).encoded(bytes[offset...]),
          isRelays: true
        )
      }
      session.transport.flushDatagrams()
    case .from(let number):
      guard !session.reading.isApplicationBehind, let peer = peer(at: number, of: sender) else { return }
      session.emit(.datagram(Array(bytes[offset...]), from: peer), bytes: bytes.count - offset)
    default: break
    }
  }
}

import NIOCore
import PeerWire

// What a relay does for the members that it carries to each other.
extension RelaySide {
  /// Takes a member's message.
  func pass(
    _ message: RelayMessage,
    _ payload: ArraySlice<UInt8>,
    _ entry: PeerEntry
  ) throws {
    let sender = entry.id
    switch message {
    case .reach(let peer, let incarnation):
      guard let other = PeerID(bytes: peer), let known = SessionIncarnation(bytes: incarnation)
      else { return }
      perform(try table.reach(from: sender, to: other, known))
    case .unreach(let peer, let end):
      guard let other = PeerID(bytes: peer) else { return }
      perform(table.unreach(from: sender, to: other, end))
    case .free(let route): try table.free(route, of: sender)
    case .send(let routes):
      for target in table.targets(of: routes, from: sender) {
        queues[target.peer, default: RelayQueue()]
          .append(data: RelayMessage.from(target.route).encoded(payload))
        drain(target.peer)
      }
    default: break
    }
  }

  /// Says to members what the table decided.
  func perform(_ actions: [RouteTable.Action]) {
    for action in actions {
      switch action {
      case .open(let peer, let route, let other):
        guard let member = session.entries[other]?.member else { continue }
        tell(peer, RelayMessage.route(route).encoded(member.encoded()))
      case .close(let peer, let route, let end):
        tell(peer, RelayMessage.unroute(route, end).encoded())
      case .correct(let peer, let other):
        guard let member = session.entries[other]?.member else { continue }
        session.entries[peer]?.link?
          .send(.members, Control.Members(members: [member]).encoded())
      }
    }
  }

  private func tell(_ peer: PeerID, _ message: [UInt8]) {
    queues[peer, default: RelayQueue()].append(control: message)
    drain(peer)
  }

  /// Moves what waits for a member into its outbox, as far as there is room.
  func drain(_ peer: PeerID) {
    guard let outbox = session.entries[peer]?.delivery?.outbox else {
      queues[peer] = nil
      return
    }
    while let message = queues[peer]?.first {
      let sequence = try? outbox.appendNow(
        message,
        acknowledgeAtOnce: false,
        isRelays: true,
        hasWaited: true
      )
      guard sequence != nil else { return }
      queues[peer]?.removeFirst()
    }
  }
}

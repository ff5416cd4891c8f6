import PeerTestKit
import Whiteboard
import WhiteboardSync

extension ReplicaWorld {
  /// Advances the time and delivers messages that are due.
  ///
  /// Messages of a link keep their order. Datagrams and answers may overtake them and each other.
  package func step(_ milliseconds: UInt64) {
    uptime += milliseconds
    for link in packets.keys.sorted(by: { ($0.from, $0.to) < ($1.from, $1.to) }) { deliver(on: link) }
    for number in nodes.indices {
      finishSignatures(number)
      tick(number)
    }
  }

  /// Ticks a replica with pending deadlines, and sometimes a replica without deadlines, which must do nothing.
  private func tick(_ number: Int) {
    let replica = nodes[number].replica
    let isDue = replica.nextDeadline.map { uptime >= $0 } ?? false
    guard isDue || uptime % 2 == 0 else { return }
    let actions = replica.tick(now: now(number))
    if !isDue, !actions.isEmpty { complaints.append("a tick before its time does \(actions[0])") }
    for action in actions { carryOut(action, number) }
    if let next = replica.nextDeadline, next <= uptime { complaints.append("a deadline is still due after a tick") }
  }

  private func deliver(on link: Link) {
    var waiting: [Packet] = []
    var isBlocked = false
    let queue = packets[link] ?? []
    packets[link] = []
    for packet in queue {
      var keepsOrder = false
      if case .message = packet.kind { keepsOrder = true }
      guard packet.at <= uptime, !(keepsOrder && isBlocked) else {
        if keepsOrder { isBlocked = true }
        waiting.append(packet)
        continue
      }
      guard connected.contains(link) else { return }
      delivered += 1
      tally[.delivered] += 1
      let node = nodes[link.to]
      let member = nodes[link.from].member
      switch packet.kind {
      case .message: carryOut(node.replica.received(packet.bytes, from: member, now: now(link.to)), link.to)
      case .datagram:
        let actions = node.replica.receivedDatagram(packet.bytes, from: member, now: now(link.to))
        carryOut(actions, link.to)
      case .answer(let name): deliver(packet.bytes, name, on: link)
      }
    }
    packets[link] = waiting + (packets[link] ?? [])
  }

  private func deliver(_ answer: [UInt8], _ name: ResourceDTO, on link: Link) {
    // The name of a resource must decode to its description.
    if (try? ResourceDTO(name: name.name)) != name || name.byteCount != answer.count {
      complaints.append("the name of an answer does not describe it")
    }
    guard let request = name.request else { return }
    let (node, sender) = (nodes[link.to], nodes[link.from])
    let sent = sender.replica.answerSent(request: request, to: node.member, now: now(link.from))
    carryOut(sent, link.from)
    guard node.replica.expectsAnswer(name, from: sender.member) else { return }
    let actions: [ReplicaAction]
    if random.chance(weather.failures) {
      actions = node.replica.answerFailed(request: request, from: sender.member, now: now(link.to))
    } else {
      actions = node.replica.receivedAnswer(answer, request: request, from: sender.member, now: now(link.to))
      tally[.answers] += 1
    }
    carryOut(actions, link.to)
  }

  /// Performs one random step of a busy room.
  package func happen() {
    if random.chance(50) { edit(random.below(nodes.count)) }
    if random.chance(weather.cuts) {
      let (one, other) = (random.below(nodes.count), random.below(nodes.count))
      disconnect(one, other)
    }
    if random.chance(weather.mends) { connect(random.below(nodes.count), random.below(nodes.count)) }
    if random.below(1000) < weather.crashes { crash(random.below(nodes.count)) }
    if random.below(1000) < 4 { compact(random.below(nodes.count)) }
    if weather.lies > 0, random.below(1000) < weather.lies { beHostile() }
    if weather.partitions > 0, random.below(1000) < weather.partitions { fallApart() }
    if weather.revocations > 0, random.below(1000) < weather.revocations { changeRights() }
    if let partition, uptime > partition.until { self.partition = nil }
    if weather.newcomers > 0, nodes.count < 6, random.below(1000) < weather.newcomers {
      addNode(nodes.count)
      tally[.newcomers] += 1
    }
    step(UInt64(1 + random.below(30)))
  }

  /// Advances the time until every replica reports that it is synced, at most a minute.
  package func settle() -> Bool {
    for _ in 0..<2400 {
      step(25)
      if isSettled { return true }
    }
    return false
  }

  /// Advances the time until no signature and no message is pending, and all assets have arrived; at most five minutes.
  ///
  /// Before that, a node can know a revocation that another node is still verifying.
  func settleSignatures() -> Bool {
    for _ in 0..<12_000 {
      if hasNoPendingSignature, hasAllAssets, isSettled { return true }
      step(25)
    }
    return false
  }

  private var hasNoPendingSignature: Bool {
    nodes.allSatisfy { $0.signatures.isEmpty }
      && packets.values.joined().allSatisfy { if case .message = $0.kind { false } else { true } }
  }

  private var isSettled: Bool {
    let isAcquainted = nodes.indices.allSatisfy { number in
      nodes.indices.allSatisfy { other in
        !isConnected(number, other) || nodes[number].replica.role(of: nodes[other].member) != nil
      }
    }
    guard isAcquainted else { return false }
    let agreeing = agreeing
    let members = agreeing.map { nodes[$0].member }
    let isSynced = agreeing.allSatisfy { number in
      let replica = nodes[number].replica
      guard agreeing.count < nodes.count else { return replica.isSynced(now: now(number)) }
      return members.allSatisfy { member in
        replica.role(of: member) == nil || replica.isSynced(with: member, now: now(number))
      }
    }
    return isSynced
      && Set(agreeing.map { Oracle.dump(nodes[$0].replica.board.state, withSelections: !isBetrayed && !isRevoked) })
        .count == 1
  }

  /// The nodes that must agree at the end: all except a viewer with operations that no other node has.
  ///
  /// No node asks a viewer for operations, because a viewer vouches for nothing.
  var agreeing: [Int] {
    nodes.indices.filter { number in
      let replica = nodes[number].replica
      return replica.role.mayWrite || nodes[0].replica.board.state.context.isSuperset(of: replica.board.state.context)
    }
  }

  /// Whether every node that shows a photo has its bytes, if any node has them.
  package var hasAllAssets: Bool {
    let stored = nodes.reduce(into: Set<AssetID>()) { $0.formUnion($1.stored) }
    return nodes.allSatisfy { node in
      node.replica.board.snapshots.allSatisfy { snapshot in
        snapshot.asset.map { !stored.contains($0.id) || node.stored.contains($0.id) } ?? true
      }
    }
  }

  /// Advances the time until all assets have arrived, at most some minutes. A node waits before it asks again a member
  /// that failed.
  package func settleAssets() -> Bool {
    for _ in 0..<600 {
      if hasAllAssets { return true }
      step(500)
    }
    return hasAllAssets
  }
}

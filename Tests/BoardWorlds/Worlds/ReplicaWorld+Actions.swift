import PeerTestKit
import Whiteboard
import WhiteboardSync

extension ReplicaWorld {
  /// Executes the actions that an input of a replica returned.
  package func carryOut(_ actions: [ReplicaAction], _ number: Int) {
    for action in actions { carryOut(action, number) }
  }

  func carryOut(_ action: ReplicaAction, _ number: Int) {
    switch action {
    case .sign(let request): begin(.sign(request), number)
    case .verify(let request): begin(.verify(request), number)
    case .send(let bytes, let members): for member in members { post(bytes, number, member, .message) }
    case .sendDatagram(let bytes, let members): for member in members { post(bytes, number, member, .datagram) }
    case .sendAnswer(let answer, let member):
      guard let (bytes, name) = answer.encoded() else { return complaints.append("an answer is too large") }
      post(bytes, number, member, .answer(name))
    case .record(let change):
      nodes[number].document.append(change)
      checkStored(change, number)
      if case .batch(let encoded) = change { note(encoded) }
    case .diverged(let member, _):
      nodes[number].divergences += 1
      guard !isBetrayed, !isRevoked, let other = index(of: member) else { return }
      let states = [nodes[number], nodes[other]].map { $0.replica.board.state }
      complaints.append("I1: \(number) differs from \(other): \(Oracle.difference(states[0], states[1]))")
    case .objectAdded(let snapshot, _):
      if nodes[number].view.objects[snapshot.id] != nil { complaints.append("added twice") }
      nodes[number].view.objects[snapshot.id] = snapshot
    case .objectChanged(let snapshot, _):
      if nodes[number].view.objects[snapshot.id] == nil { complaints.append("changed before it was added") }
      nodes[number].view.objects[snapshot.id] = snapshot
    case .objectRemoved(let id, _):
      nodes[number].view.chat[id] = nil
      nodes[number].view.objects[id] = nil
      nodes[number].view.holders[id] = nil
    case .selected(let id, let holder): nodes[number].view.holders[id] = holder
    case .chat(let line, _):
      if nodes[number].view.chat[line.id] != nil { complaints.append("a chat line was reported twice") }
      nodes[number].view.chat[line.id] = line
    case .sendAsset(let id, let dto, let member):
      if !nodes[number].stored.contains(id) { complaints.append("sends an asset that it does not have") }
      carryAsset(id, dto, from: number, to: member)
    case .clock(let report): checkClock(report, number)
    case .protocolViolation(let member, let error):
      if index(of: member) == nil { caught.append(error) } else { violations.append(error) }
    case .unrecorded(let member):
      if index(of: member) != nil { complaints.append("BRD-37: an honest answer lacks a record") }
    case .role(let role):
      nodes[number].role = role
      if role == .viewer { nodes[number].strokes = [] }
    case .memberRole, .selectionLost, .preview, .presence, .wantAsset, .data, .caughtUp, .profile, .full,
      .photosLeftOut, .deletedUnseen:
      break
    }
  }

  /// Checks a clock report against the true skew, allowing for the delay of datagrams (SYN-43).
  private func checkClock(_ report: ClockReport, _ number: Int) {
    tally[.clockReports] += 1
    nodes[number].clockReports.append(report)
    guard report.finding == .differs, let other = index(of: report.member) else { return }
    let difference = nodes[other].skew - nodes[number].skew
    if !(difference - 1000...difference).contains(report.difference) {
      complaints.append("SYN-43: a clock is \(difference) ahead, not \(report.difference)")
    }
  }

  private func post(_ bytes: [UInt8], _ from: Int, _ member: MemberID, _ kind: Packet.Kind) {
    guard let to = index(of: member), isConnected(from, to) else { return }
    if case .datagram = kind { guard !random.chance(weather.loss) else { return } }
    let at = uptime + UInt64(1 + random.below(60))
    packets[Link(from: from, to: to), default: []].append(Packet(at: at, bytes: bytes, kind: kind))
  }

  private func carryAsset(_ id: AssetID, _ dto: ResourceDTO, from: Int, to member: MemberID) {
    guard let to = index(of: member) else { return }
    // The name of a resource must decode to its description.
    if (try? ResourceDTO(name: dto.name)) != dto { complaints.append("a resource name decodes to something else") }
    carryOut(nodes[from].replica.assetSent(id, to: member, now: now(from)), from)
    guard !nodes[to].replica.expectedAsset(id, from: nodes[from].member).isEmpty else { return }
    if random.chance(25) {
      let sender = nodes[from].member
      carryOut(nodes[to].replica.assetFailed(id, from: sender, now: now(to)), to)
    } else {
      nodes[to].stored.insert(id)
      nodes[to].deliveries[id, default: 0] += 1
      carryOut(nodes[to].replica.assetStored(id, now: now(to)), to)
    }
  }

  /// Records a new batch, and checks that no dot is used twice (I5).
  private func note(_ encoded: EncodedBatch) {
    let batch = encoded.batch
    let dot = batch.dot(at: 0)
    if let bytes = known[dot] {
      if bytes != encoded.bytes, !isBetrayed { complaints.append("I5: \(dot) was assigned twice") }
      return
    }
    known[dot] = encoded.bytes
    tally[.batches] += 1
    for (index, operation) in batch.operations.enumerated() {
      tally[.operations] += 1
      let time = batch.time.rawValue + UInt64(index)
      if !oracle.issued(operation, time, batch.dot(at: index)), !isBetrayed {
        complaints.append("I5: \(batch.dot(at: index)) was assigned twice")
      }
    }
  }
}

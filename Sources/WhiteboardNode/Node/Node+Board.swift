import Logging
import PeerSession
import Whiteboard
import WhiteboardSync

extension Node {
  /// Makes edits to the board, and does and tells what follows from them.
  func change<Result, Failure: Error>(
    _ body: (Board) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let replica else { return nil }
    let result = try replica.change(now: now, body)
    carryOutActions()
    return result
  }

  /// Does what the replica asks for, in order.
  func carryOutActions() {
    guard let replica else { return }
    for action in replica.takeActions() {
      carryOut(action)
    }
  }

  private func carryOut(_ action: ReplicaAction) {
    switch action {
    case .send(let bytes, let recipients):
      for peer in peers(recipients) {
        queues[peer]?.append(bytes)
      }
    case .sendDatagram(let bytes, let recipients):
      datagramSource.yield(Datagram(bytes: bytes, peers: peers(recipients)))
    case .objectAdded(let snapshot, let member):
      shown[snapshot.id] = snapshot
      emit(
        .objectAdded(
          .init(
            id: snapshot.id.description,
            object: description(snapshot),
            by: author(member)
          )
        )
      )
    case .objectChanged(let snapshot, let member):
      objectChanged(snapshot, by: member)
    case .objectRemoved(let id, let member):
      shown[id] = nil
      emit(.objectRemoved(.init(id: id.description, by: author(member))))
    case .selected(let id, let member):
      emit(
        .selected(
          .init(
            id: id.description,
            peer: member?.description,
            name: member.flatMap(displayName)
          )
        )
      )
    case .selectionLost(let id, let winner):
      emit(
        .selected(
          .init(
            id: id.description,
            peer: winner.description,
            name: displayName(winner),
            lostByUs: true
          )
        )
      )
    case .chat(let line, _):
      emit(
        .chat(
          .init(
            id: line.id.description,
            peer: line.author.description,
            name: line.name ?? "",
            text: line.text,
            at: Timestamp.text(milliseconds: line.sentAt)
          )
        )
      )
    case .preview, .presence:
      // What moves on a screen; lines tell what stays.
      break
    case .wantAsset(let reference, let member):
      configuration.logger.debug(
        "asking for a photo",
        metadata: ["asset": "\(reference.id)", "peer": "\(member.description.prefix(8))"]
      )
    case .sendAsset(let id, let name, let member):
      sendAsset(id, name, to: member)
    case .sendAnswer(let bytes, let name, let member):
      sendAnswer(bytes, name, to: member)
    case .record:
      // Without a document nothing is kept.
      break
    case .profile:
      // The name that shows is the one of the handshake, which is bound to the key.
      break
    case .diverged(let member, _):
      diverged(member)
    case .data(let bytes, let member, let isReliable):
      received(bytes, from: member, isReliable: isReliable)
    case .caughtUp(let member):
      configuration.logger.debug(
        "caught up",
        metadata: ["peer": "\(member.description.prefix(8))"]
      )
    case .protocolViolation(let member, let error):
      violated(member, error)
    }
  }

  private func objectChanged(_ snapshot: ObjectSnapshot, by member: MemberID?) {
    let old = shown.updateValue(snapshot, forKey: snapshot.id)
    guard let old else {
      emit(
        .objectAdded(
          .init(
            id: snapshot.id.description,
            object: description(snapshot),
            by: author(member)
          )
        )
      )
      return
    }
    let keys = NodeEvent.ObjectDescription.changedKeys(old, snapshot)
    guard !keys.isEmpty else { return }
    emit(
      .objectChanged(
        .init(
          id: snapshot.id.description,
          changed: keys,
          object: description(snapshot),
          by: author(member)
        )
      )
    )
  }

  private func received(_ bytes: [UInt8], from member: MemberID, isReliable: Bool) {
    guard let peer = PeerID(bytes: member.bytes) else { return }
    emit(
      .data(
        .init(
          from: peer.text,
          name: members[peer]?.name ?? "",
          reliable: isReliable,
          size: bytes.count,
          base64: Base64.encode(bytes),
          text: String(validating: bytes, as: UTF8.self)
        )
      )
    )
  }

  private func diverged(_ member: MemberID) {
    guard let peer = PeerID(bytes: member.bytes) else { return }
    emit(
      .warning(
        .init(
          code: "diverged",
          message: "The board here and at \(name(of: peer)) were not the same though both had seen "
            + "the same changes; they are being made the same again."
        )
      )
    )
  }

  /// A peer that breaks the rules of the board costs itself its place.
  private func violated(_ member: MemberID, _ error: ReplicaError) {
    guard let peer = PeerID(bytes: member.bytes), let session else { return }
    emit(
      .warning(
        .init(
          code: error.code,
          message: "\(name(of: peer)) sent what a board does not take, and is disconnected."
        )
      )
    )
    spawn { _ in try? await session.reject(peer, breaking: error.code) }
  }

  // MARK: - Describing

  /// The object as events tell it.
  func description(_ snapshot: ObjectSnapshot) -> NodeEvent.ObjectDescription {
    NodeEvent.ObjectDescription(snapshot, path: snapshot.asset.flatMap { assetPaths[$0.id] })
  }

  /// Who brought a change; we, where it was made here.
  private func author(_ member: MemberID?) -> String? {
    (member ?? replica?.board.member)?.description
  }

  private func displayName(_ member: MemberID) -> String? {
    if member == replica?.board.member {
      return configuration.displayName
    }
    return PeerID(bytes: member.bytes).flatMap { members[$0]?.name }
  }

  private func peers(_ members: [MemberID]) -> [PeerID] {
    members.compactMap { PeerID(bytes: $0.bytes) }
  }
}

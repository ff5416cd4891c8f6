import Logging
import PeerSession
import Whiteboard
import WhiteboardExport
import WhiteboardRendering
import WhiteboardSync

extension Node {
  /// Makes edits to the board, and does and tells what follows from them.
  func change<Result, Failure: Error>(
    _ body: (Board) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let replica else { return nil }
    let result = try replica.change(now: now, body)
    performActions()
    return result
  }

  /// Does what the replica asks for, in order.
  func performActions() {
    guard let replica else { return }
    for action in replica.takeActions() {
      carryOut(action)
    }
    if replica.board.takeSettingsChange() {
      tellSettings(replica.board.settings)
    }
    planTime()
    changed()
  }

  private func tellSettings(_ settings: BoardSettings) {
    let new = NodeEvent.SettingsDescription(settings)
    let keys = NodeEvent.SettingsDescription.changedKeys(shownSettings, new)
    shownSettings = new
    if !keys.isEmpty {
      emit(.settingChanged(.init(changed: keys, settings: new)))
    }
    if keys.contains("title") { spawn { node in await node.storeTitle() } }
  }

  private func carryOut(_ action: ReplicaAction) {
    switch action {
    case .sign, .verify:
      preconditionFailure("the author has a local key, and the replica a verifier")
    case .send(let bytes, let recipients):
      outbox.send(bytes, to: peers(recipients))
    case .sendDatagram(let bytes, let recipients):
      outbox.sendDatagram(bytes, to: peers(recipients))
    case .objectAdded(let snapshot, let member):
      shown[snapshot.id] = snapshot
      shownGames[snapshot.id] = view(snapshot)
      show(.shown(snapshot, shownGames[snapshot.id]))
      emit(
        .objectAdded(
          .init(
            id: snapshot.id.description,
            object: description(snapshot),
            by: author(member),
            hidden: hiddenMark(snapshot.id)
          )
        )
      )
    case .objectChanged(let snapshot, let member):
      objectChanged(snapshot, by: member)
    case .objectRemoved(let id, let member):
      shown[id] = nil
      shownGames[id] = nil
      show(.removed(id))
      emit(
        .objectRemoved(
          .init(id: id.description, by: author(member), hidden: hiddenMark(id))
        )
      )
    case .selected(let id, let member):
      if let snapshot = replica?.board.snapshot(id) {
        show(.shown(snapshot, shownGames[id]))
      }
      emit(
        .selected(
          .init(
            id: id.description,
            peer: member?.description,
            name: member.flatMap { members.name(of: $0) }
          )
        )
      )
    case .selectionLost(let id, let winner):
      emit(
        .selected(
          .init(
            id: id.description,
            peer: winner.description,
            name: members.name(of: winner),
            lostByUs: true
          )
        )
      )
    case .chat(let line, _):
      if !isHidden(line.id) { emit(.chat(.init(line))) }
    case .preview(let preview):
      // What moves on a screen; lines tell what stays.
      show(.preview(preview))
    case .presence(let member, let presence):
      show(.presence(member, presence))
    case .clock(let report):
      clockCompared(report)
    case .wantAsset(let reference, let member):
      configuration.logger.debug(
        "asking for a photo",
        metadata: ["asset": "\(reference.id)", "peer": "\(member.description.prefix(8))"]
      )
    case .sendAsset(let id, let name, let member):
      transfers.sendAsset(id, name, to: member)
    case .sendAnswer(let bytes, let name, let member):
      transfers.sendAnswer(bytes, name, to: member)
    case .record(let change):
      persistence.record(change)
    case .profile(let member, let name, let icon):
      profileChanged(member, name, icon)
    case .role(let role): roleChanged(role)
    case .memberRole(let member, let role): roleChanged(member, role)
    case .diverged(let member, _):
      diverged(member)
    case .full(let member):
      isFull(for: member)
    case .photosLeftOut(let author): photosLeftOut(of: author)
    case .unrecorded(let member):
      namesUnknownAuthors(member)
    case .data(let bytes, let member, let isReliable):
      received(bytes, from: member, isReliable: isReliable)
    case .caughtUp(let member):
      caughtUp(with: member)
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
    let game = view(snapshot)
    let hasGameChanged = shownGames[snapshot.id] != game
    shownGames[snapshot.id] = game
    show(.shown(snapshot, game))
    guard let old else {
      emit(
        .objectAdded(
          .init(
            id: snapshot.id.description,
            object: description(snapshot),
            by: author(member),
            hidden: hiddenMark(snapshot.id)
          )
        )
      )
      return
    }
    let keys =
      NodeEvent.ObjectDescription.changedKeys(old, snapshot) + (hasGameChanged ? ["game"] : [])
    guard !keys.isEmpty else { return }
    emit(
      .objectChanged(
        .init(
          id: snapshot.id.description,
          changed: keys,
          object: description(snapshot),
          by: author(member),
          hidden: hiddenMark(snapshot.id)
        )
      )
    )
  }

  private func received(_ bytes: ArraySlice<UInt8>, from member: MemberID, isReliable: Bool) {
    guard let peer = PeerID(bytes: member.bytes) else { return }
    // As text, control characters are six times as long, and nobody wants to read them.
    let isText =
      bytes.count <= Self.mostTextBytes
      && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || (9...10).contains($0) || $0 == 13 }
    emit(
      .data(
        .init(
          from: peer.text,
          name: members.name(of: peer),
          reliable: isReliable,
          size: bytes.count,
          base64: Base64Text(bytes),
          text: isText ? String(validating: bytes, as: UTF8.self) : nil
        )
      )
    )
  }

  /// The most bytes of a message that an event also has as text.
  private static let mostTextBytes = 1 << 20

  /// Reports a member's display name if it differs from the name in its handshake.
  ///
  /// The member is still found by the name in its handshake. Changing that name later would bypass
  /// the warning about changed keys.
  private func profileChanged(_ member: MemberID, _ name: String, _ icon: String) {
    guard let peer = PeerID(bytes: member.bytes) else { return }
    let old = members.looks[peer] ?? Members.Look(name: members.name(of: peer), icon: nil)
    let new = Members.Look(name: name, icon: icon.isEmpty ? nil : icon)
    members.looks[peer] = new
    persistence.recordName(name, of: peer.text)
    if old != new {
      emit(.profile(.init(peer: peer.text, name: new.name, icon: new.icon)))
    }
  }

  private func diverged(_ member: MemberID) {
    guard let peer = PeerID(bytes: member.bytes) else { return }
    emit(
      .warning(
        .init(
          code: "diverged",
          message:
            "The board here and at \(members.label(of: peer)) were not the same though both had seen "
            + "the same changes; they are being made the same again."
        )
      )
    )
  }

  private func isFull(for member: MemberID) {
    guard let peer = PeerID(bytes: member.bytes) else { return }
    emit(
      .warning(
        .init(
          code: "board-full",
          message: "The board is full: what \(members.label(of: peer)) added has no room here. "
            + "Purge what is deleted, here or there, and it comes within a minute."
        )
      )
    )
  }

  private func photosLeftOut(of author: MemberID) {
    emit(
      .warning(
        .init(
          code: "photos-left-out",
          message:
            "Some photos of \(members.label(of: author)) are not requested: the photos of one author may have "
            + "\(BoardLimits.photoBytesPerAuthor >> 20) MiB on a board, and all photos "
            + "\(BoardLimits.photoBytesOfBoard >> 30) GiB. If others are purged, they follow within a minute."
        )
      )
    )
  }

  private func namesUnknownAuthors(_ member: MemberID) {
    guard let peer = PeerID(bytes: member.bytes) else { return }
    emit(
      .warning(
        .init(
          code: "unrecorded-authors",
          message:
            "\(members.label(of: peer))'s copy of the board names authors without a signed record, "
            + "so it was not merged. If an earlier version saved that copy, \(members.label(of: peer)) "
            + "can repair it by closing the board and opening it again with this version. "
            + "Otherwise \(members.label(of: peer)) may be trying to fill the board; remove that peer "
            + "with `kick`."
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
          message:
            "\(members.label(of: peer)) sent what a board does not take, and is disconnected."
        )
      )
    )
    spawn { _ in try? await session.reject(peer, breaking: error.message) }
  }

  // MARK: - Describing

  /// The object as events tell it.
  func description(_ snapshot: ObjectSnapshot) -> NodeEvent.ObjectDescription {
    NodeEvent.ObjectDescription(
      snapshot,
      game: view(snapshot).flatMap { GameDescription($0) { self.members.label(of: $0) } },
      path: snapshot.asset.flatMap { photos.existingPath($0.id) }
    )
  }

  /// The group as answers tell it, or nil where there is none of that id.
  func description(ofGroup id: ObjectID) -> NodeEvent.ObjectDescription? {
    guard let board = replica?.board, board.state.isGroup(id) else { return nil }
    let none = Rectangle(Point(x: 0, y: 0), Point(x: 0, y: 0))
    return NodeEvent.ObjectDescription(
      group: id,
      of: board.members(ofGroup: id).compactMap { board.snapshot($0) },
      within: board.groups(of: id),
      board.bounds(of: [id]) ?? none
    )
  }

  /// The game as we see it, where the object is one.
  private func view(_ snapshot: ObjectSnapshot) -> GameView? {
    guard snapshot.kind == .game, let board = replica?.board else { return nil }
    return board.gameView(snapshot.id, for: board.member)
  }

  /// Who brought a change; we, where it was made here.
  private func author(_ member: MemberID?) -> String? {
    (member ?? replica?.board.member)?.description
  }

  private func peers(_ members: [MemberID]) -> [PeerID] {
    members.compactMap { PeerID(bytes: $0.bytes) }
  }
}

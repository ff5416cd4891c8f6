import Whiteboard

/// Handles the messages, datagrams and answers of members, and rejects messages that violate the protocol. A message
/// waits in its member's inbox if its signatures must be verified first, or if the message is an early batch. Later
/// messages of that member wait behind it. The handler owns no state: it applies what a message contains, or passes it
/// to the part of the replica that owns the state.
struct MessageHandler {
  let replica: Replica

  func accept(_ message: [UInt8], from member: MemberID, _ now: Moment) {
    guard let peer = replica.peers[member] else { return }
    if peer.inbox.isWaiting {
      if !peer.inbox.append(message) { close(member, for: .malformed(.overLimit("unverified messages"))) }
      replica.publishChanges(from: member, now)
    } else {
      handleMessage(message, from: member, VerificationState(), now)
    }
    releaseEarlyBatches(now)
  }

  private func handleInbox(of member: MemberID, _ now: Moment) {
    while let message = replica.peers[member]?.inbox.removeNext() {
      handleMessage(message, from: member, VerificationState(), now)
    }
  }

  /// The member must have no earlier messages waiting. If the signatures are not verified yet, the message waits.
  private func handleMessage(_ bytes: [UInt8], from member: MemberID, _ verification: VerificationState, _ now: Moment)
  {
    handling(of: member, now) { () throws(ReceiveError) in
      if bytes.first == SyncMessage.batchKind {
        // Decode batches in place, because most messages are batches.
        try handleBatch(bytes, at: 1, from: member, now)
      } else if bytes.first == SyncMessage.applicationKind {
        // Do not copy the message, because it can be large.
        replica.actions.append(.data(bytes.dropFirst(), from: member, isReliable: true))
      } else if let message = try receiving({ () throws(CodecError) in try SyncMessage.decode(bytes) }) {
        var verification = verification
        let checked = try receiving { () throws(ReplicaError) in
          try replica.verifier.check(&verification, for: member) { () throws(ReplicaError) -> CheckedMessage in
            try check(message, from: member)
          }
        }
        guard let checked else {
          replica.peers[member]?.inbox.wait(bytes, for: verification)
          return
        }
        try handleChecked(checked, from: member, now)
        replica.requests.sendNext(now)
      }
    }
    replica.publishChanges(from: member, now)
  }

  private func handling(of member: MemberID, _ now: Moment, _ body: () throws(ReceiveError) -> Void) {
    do throws(ReceiveError) { try body() } catch {
      switch error {
      case .violation(let error):
        if error == .viewer { replica.permissions.viewerWasRefused() }
        close(member, for: error)
      case .unrecorded, .boardFull: reportFull(member, now)
      }
    }
  }

  /// Reports that the board has no room for a member's changes. The lack of room is not a protocol violation, because
  /// other members may have filled the board.
  func reportFull(_ member: MemberID, _ now: Moment) {
    guard replica.peers[member]?.beginFullReport(now.uptime) ?? false else { return }
    replica.actions.append(.full(member))
  }

  /// Requests that the session close the link of a member, and ignores further messages on the link.
  func close(_ member: MemberID, for error: ReplicaError) {
    replica.peers[member]?.close()
    replica.requests.remove(member)
    replica.actions.append(.protocolViolation(member, error))
  }

  /// The check has no side effects.
  private func check(_ message: SyncMessage, from member: MemberID) throws(ReplicaError) -> CheckedMessage {
    switch message {
    case .author(let message): return .author(try check(message, from: member), message.head)
    case .head(let head):
      try check(head, from: member)
      return .head(head)
    case .grant(let bytes): return .grant(try replica.permissions.checkGrant(bytes))
    case .revocation(let bytes): return .revocation(try replica.permissions.checkRevocation(bytes))
    case .record(let bytes): return .record(try checkRecord(bytes))
    case .retirement(let bytes): return .retirement(try replica.retirements.check(bytes))
    default: return .unsigned(message)
    }
  }

  private func handleChecked(_ message: CheckedMessage, from member: MemberID, _ now: Moment) throws(ReceiveError) {
    switch message {
    case .author(let record, let head):
      try receiving { () throws(ReplicaError) in try handleIntroduction(record, head, from: member) }
      memberIntroducedItself(member, now)
    case .head(let head): handleHead(head, from: member)
    case .grant(let grant): replica.permissions.receive(grant, now)
    case .revocation(let revocation): replica.permissions.receive(revocation, from: member, now)
    case .record(let record): try receiving { () throws(ReplicaError) in try handleRecordAhead(record, from: member) }
    case .retirement(let retirement): replica.retirements.insert(retirement, from: member, now)
    case .unsigned(let message): try handleUnsigned(message, from: member, now)
    }
  }

  private func handleUnsigned(_ message: SyncMessage, from member: MemberID, _ now: Moment) throws(ReceiveError) {
    switch message {
    case .batch(let bytes): try handleBatch(bytes, at: 0, from: member, now)
    case .request(let request): replica.answerSender.receive(request, from: member, now)
    case .nothingLacking(let number):
      try receiving { () throws(ReplicaError) in try handleNothingLacking(number, from: member, now) }
    case .state(let report): replica.reports.receive(report, from: member, now)
    case .assetRequest(let id): replica.photos.serve(id, to: member)
    case .assetUnavailable(let id): replica.photos.unavailable(id, from: member, now)
    case .profile(let profile):
      replica.peers[member]?.showsPreviews = profile.showsPreviews
      replica.actions.append(.profile(member, name: profile.name, icon: profile.icon))
    case .application(let bytes): replica.actions.append(.data(bytes[...], from: member, isReliable: true))
    case .author, .head, .grant, .revocation, .record, .retirement:
      preconditionFailure("signed messages are handled after their signatures are checked")
    }
  }

  private func memberIntroducedItself(_ member: MemberID, _ now: Moment) {
    replica.presence.membersChanged()
    replica.permissions.updateRole(of: member)
    replica.permissions.sendGrant(to: member, now)
    // Do not ask a viewer. An editor can become a viewer under another incarnation.
    guard let peer = replica.peers[member], peer.mayBeAsked, !peer.isAsked, now.uptime >= peer.askAgain else { return }
    replica.requests.insert(member)
  }

  // MARK: - Datagrams

  func acceptDatagram(_ bytes: [UInt8], from member: MemberID, _ now: Moment) {
    do {
      switch try SyncDatagram.decode(bytes) {
      case .presence(let counter, let shown, let wall)?:
        replica.presence.receive(shown, counter: counter, wall: wall, from: member, now)
      case .preview(let stroke, let first, let points)?:
        replica.strokes.receivePreview(of: stroke, first: first, points, from: member)
      case .application(let bytes)?: replica.actions.append(.data(bytes[...], from: member, isReliable: false))
      case nil: break
      }
    } catch { close(member, for: .malformed(error)) }
    replica.publishChanges(from: member, now)
  }

  // MARK: - Waiting messages

  /// Handles the result of a check for a message or an answer. If this was the last check, the message or answer, and
  /// the messages behind it, are handled.
  func didVerify(_ id: VerificationID, isValid: Bool, _ now: Moment) {
    guard let peer = replica.peers[id.member] else { return }
    if let (message, verification) = peer.inbox.didVerify(id, isValid: isValid) {
      handleMessage(message, from: id.member, verification, now)
      handleInbox(of: id.member, now)
      releaseEarlyBatches(now)
    } else if peer.unverifiedAnswer?.verification.didVerify(id, isValid: isValid) ?? false {
      handleVerifiedAnswer(of: id.member, now)
    }
  }

  /// Handles the batches that are no longer early or have waited for too long, and the messages behind them. If a batch
  /// has waited for too long, its early purges are left out. If the objects are created later, boards differ until the
  /// repair (SYN-42) removes the objects. Call this function only while an input of the replica is handled, and not
  /// recursively. The function uses a loop, because any number of early batches of a member can be waiting.
  func releaseEarlyBatches(_ now: Moment) {
    var isProgress = replica.peers.states.contains { $0.inbox.earlyBatch != nil }
    while isProgress {
      isProgress = false
      for member in replica.peers.members {
        guard let peer = replica.peers[member], let early = peer.inbox.earlyBatch else { continue }
        let isOverdue = peer.inbox.isOverdue(now.uptime)
        guard isOverdue || !replica.claims.isEarly(early.batch, now) else { continue }
        isProgress = true
        let last = isOverdue ? replica.claims.lastWritten(now) : [:]
        peer.inbox.removeEarlyBatch()
        handling(of: member, now) { () throws(ReceiveError) in
          try applyBatch(early, purgingWithin: last, from: member, now)
        }
        replica.publishChanges(from: member, now)
        handleInbox(of: member, now)
      }
    }
  }
}

private enum CheckedMessage {
  case author(AuthorRecord, SignedHead)
  case head(SignedHead)
  case grant(Grant)
  case revocation(Revocation)
  case record(AuthorRecord)
  case retirement(Retirement)
  case unsigned(SyncMessage)
}

enum ReceiveError: Error {
  case violation(ReplicaError)
  /// The answer refers to incarnations without a record (BRD-37).
  case unrecorded
  /// The board has no room, perhaps because of other members.
  case boardFull
}

/// Functions that throw errors of several types convert them, because Embedded Swift has no untyped errors.
protocol ReceiveReason: Error { var receiveError: ReceiveError { get } }

extension ReplicaError: ReceiveReason { var receiveError: ReceiveError { .violation(self) } }

extension CodecError: ReceiveReason { var receiveError: ReceiveError { .violation(.malformed(self)) } }

extension BoardError: ReceiveReason { var receiveError: ReceiveError { .boardFull } }

@inline(__always) func receiving<Result, Failure: ReceiveReason>(_ body: () throws(Failure) -> Result)
  throws(ReceiveError) -> Result
{ do throws(Failure) { return try body() } catch { throw error.receiveError } }

/// Checks and applies the changes that members send: records, batches and heads (AUT-4 to AUT-8).
extension MessageHandler {
  func check(_ message: AuthorMessage, from member: MemberID) throws(ReplicaError) -> AuthorRecord {
    let record = try AuthorRecord.read(message.record)
    // A known record was already verified.
    if replica.registry[record.incarnation]?.bytes != record.bytes {
      try record.verify(board: replica.author.board, with: replica.verifier)
    }
    guard record.member == member else { throw .forgedAuthor }
    try message.head.verify(by: record, with: replica.verifier)
    return record
  }

  func handleIntroduction(_ record: AuthorRecord, _ head: SignedHead, from member: MemberID) throws(ReplicaError) {
    guard let peer = replica.peers[member] else { return }
    try peer.link.introduce(record, head)
    peer.reader.beginAuthor(record.incarnation, lastSequence: head.sequence)
  }

  /// Applies the next batch of a member. Throws ``ReceiveError``. The error `boardFull` is not a protocol violation by
  /// the member. The batch begins at `offset` in `bytes`. If the batch is early, it waits, and later messages of the
  /// same member wait behind it.
  func handleBatch(_ bytes: [UInt8], at offset: Int, from member: MemberID, _ now: Moment) throws(ReceiveError) {
    guard let peer = replica.peers[member] else { return }
    try receiving { () throws(ReplicaError) in try peer.link.requireWriter() }
    let encoded = try receiving { () throws(CodecError) in try peer.reader.decode(bytes, from: offset) }
    // The batch is part of the chain even if the board has no room for it.
    peer.link.append(encoded.bytes, through: encoded.batch.sequences.upperBound)
    if replica.claims.isEarly(encoded.batch, now) {
      peer.inbox.wait(encoded, since: now.uptime)
    } else {
      try applyBatch(encoded, from: member, now)
    }
  }

  /// Applies a batch that is already in the chain of the link, without purges of objects later than `last` (BRD-39).
  func applyBatch(
    _ encoded: EncodedBatch,
    purgingWithin last: [Incarnation: UInt64] = [:],
    from member: MemberID,
    _ now: Moment
  ) throws(ReceiveError) {
    guard let peer = replica.peers[member] else { return }
    let batch = encoded.batch
    guard replica.permissions.admitsBatch(batch, from: peer.link) else { return }
    let new = try replica.registry.newRecords(for: batch, from: peer.link)
    try receiving { () throws(BoardError) in
      try replica.board.requireShare(for: batch, of: member)
      try replica.board.receive(batch, purgingWithin: last)
    }
    for record in new {
      replica.registry.insertAndStore(record)
      peer.link.forgetAhead(record.incarnation)
    }
    if !new.isEmpty { replica.board.noteSelections(in: batch) }
    replica.actions.record(.batch(encoded))
    peer.report(by: now.uptime + replica.peers.reportDelay)
  }

  func check(_ head: SignedHead, from member: MemberID) throws(ReplicaError) {
    try replica.peers[member]?.link.check(head, with: replica.verifier)
  }

  func handleHead(_ head: SignedHead, from member: MemberID) {
    // Batches that did not fit or were revoked were not stored, so their head is not needed.
    guard let incarnation = replica.peers[member]?.link.record?.incarnation, replica.registry[incarnation] != nil,
      replica.board.state.limits[incarnation].map({ head.sequence <= $0 }) ?? true
    else { return }
    replica.actions.record(StoredChange(head, of: incarnation))
  }

  func checkRecord(_ bytes: [UInt8]) throws(ReplicaError) -> AuthorRecord {
    let record = try AuthorRecord.read(bytes)
    // A known record was already verified. A different record of the same incarnation is not needed.
    if replica.registry[record.incarnation] == nil {
      try record.verify(board: replica.author.board, with: replica.verifier)
    }
    return record
  }

  func handleRecordAhead(_ record: AuthorRecord, from member: MemberID) throws(ReplicaError) {
    guard replica.registry[record.incarnation] == nil, !replica.board.state.isRetired(record.incarnation) else {
      return
    }
    try replica.peers[member]?.link.keepAhead(record)
  }
}

extension AuthorRecord {
  static func read(_ bytes: [UInt8]) throws(ReplicaError) -> AuthorRecord {
    do { return try AuthorRecord(bytes) } catch { throw .malformed(error) }
  }
}

import Whiteboard

/// Signatures that the owner makes and verifies, which may take any time.
///
/// The messages of a member wait behind the first one that is being verified, and actions wait behind the first
/// one that lacks a signature. So the effect is the same as with a local key, on slower links.
extension Replica {
  // MARK: - Signing

  /// Whether a requested signature is missing, so that actions may wait for it.
  public var isAwaitingSignature: Bool { core.author.isAwaitingSignature }

  /// The owner made the signature that ``ReplicaAction/sign(_:)`` requested.
  ///
  /// The result of an unknown request is ignored.
  /// - Parameters:
  ///   - id: The request.
  ///   - signature: *r* and *s*, 32 bytes each.
  ///   - now: The time.
  public func signed(_ id: SigningID, signature: [UInt8], now: Moment) {
    precondition(signature.count == AuthorRecord.signatureBytes, "a signature has 64 bytes")
    let (wasPending, record) = core.author.didSign(id, signature)
    guard wasPending else { return }
    core.begin(now)
    core.outbox.didSign(id, signature)
    core.publisher.didSign(id, signature)
    core.permissions.didSign(id, signature, now)
    if let record {
      core.registry.replaceOwn(record)
      for member in members { core.answerSender.answerIfDue(member, now) }
    }
    core.finish(now)
  }

  // MARK: - Verifying

  /// Whether messages, answers or a restored grant wait until signatures are verified.
  public var isAwaitingVerification: Bool {
    !messages.restoredGrants.isEmpty || core.peers.states.contains { $0.isAwaitingVerification }
  }

  /// Whether messages or an answer of a member wait until signatures are verified.
  ///
  /// Meanwhile the owner should not read from the member: if 16 MiB of messages wait, the link is closed.
  public func isAwaitingVerification(from member: MemberID) -> Bool {
    core.peers[member]?.isAwaitingVerification ?? false
  }

  /// The owner made the check that ``ReplicaAction/verify(_:)`` requested.
  ///
  /// The result of an unknown request is ignored, such as one for a member that has left. If a member leaves,
  /// its messages that were not verified are lost, as with a lost link.
  public func verified(_ id: VerificationID, isValid: Bool, now: Moment) {
    core.begin(now)
    messages.didVerify(id, isValid: isValid, now)
    core.finish(now)
  }
}

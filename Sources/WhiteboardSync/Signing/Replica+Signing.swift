import Whiteboard

/// Signatures that the owner creates and verifies.
///
/// Both steps may take any amount of time. Messages of a member wait behind the first message that is being verified.
/// Actions wait behind the first action that lacks a signature. The replica therefore behaves as if it had a local key
/// and slower links.
extension Replica {
  // MARK: - Signing

  /// Whether a requested signature is missing.
  ///
  /// Actions may be waiting for it.
  public var isAwaitingSignature: Bool { author.isAwaitingSignature }

  /// Accepts a signature that ``ReplicaAction/sign(_:)`` requested from the owner.
  ///
  /// A signature for an unknown request is ignored.
  /// - Parameters:
  ///   - id: The request.
  ///   - signature: *r* and *s*, 32 bytes each.
  ///   - now: The time.
  /// - Returns: The actions.
  public func signed(_ id: SigningID, signature: [UInt8], now: Moment) -> [ReplicaAction] {
    precondition(signature.count == AuthorRecord.signatureBytes, "a signature has 64 bytes")
    let (wasPending, record) = author.didSign(id, signature)
    guard wasPending else { return [] }
    begin(now)
    actions.didSign(id, signature)
    publisher.didSign(id, signature)
    permissions.didSign(id, signature, now)
    if let record {
      registry.replaceOwn(record)
      for member in members { answerSender.answerIfDue(member, now) }
    }
    return finish(now)
  }

  // MARK: - Verifying

  /// Whether messages, answers or a restored grant wait for the verification of signatures.
  public var isAwaitingVerification: Bool {
    permissions.isAwaitingVerification || peers.states.contains { $0.isAwaitingVerification }
  }

  /// Returns whether messages or an answer of a member wait for the verification of signatures.
  ///
  /// During that time, the owner should not read from the member: if more than 16 MiB of messages wait, the link is
  /// closed.
  public func isAwaitingVerification(from member: MemberID) -> Bool { peers[member]?.isAwaitingVerification ?? false }

  /// Accepts the result of a check that ``ReplicaAction/verify(_:)`` requested.
  ///
  /// The result of an unknown request is ignored, for example if the member has left. If a member leaves, its
  /// unverified messages are discarded, as if its link were lost.
  public func verified(_ id: VerificationID, isValid: Bool, now: Moment) -> [ReplicaAction] {
    begin(now)
    if id.member == author.member {
      permissions.didVerify(id, isValid: isValid, now)
    } else {
      messages.didVerify(id, isValid: isValid, now)
    }
    return finish(now)
  }
}

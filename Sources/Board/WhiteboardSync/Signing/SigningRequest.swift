import Whiteboard

/// The id of a signature that the owner of a replica must create.
public struct SigningID: Hashable, Sendable { let number: UInt64 }

/// Bytes that the owner of a replica must sign with the key of the author.
///
/// The owner answers each request with ``Replica/signed(_:signature:now:)``.
public struct SigningRequest: Hashable, Sendable {
  /// Identifies the request.
  public let id: SigningID
  /// The bytes to sign with ECDSA on P-256 and SHA-256.
  public let bytes: [UInt8]
}

/// A value whose signature may still be missing. Until the signature is created, 64 zero bytes take its place.
struct Signed<Value> {
  let value: Value
  let request: SigningID?

  /// The author must have a local key.
  var complete: Value {
    precondition(request == nil, "the author must have a local key")
    return value
  }
}

/// Signs with a local key, or requests signatures from the owner of the replica.
struct Signer {
  let publicKey: [UInt8]
  /// Signs with the local key, on any thread; nil if there is no local key.
  let signature: (@Sendable ([UInt8]) -> [UInt8])?
  private var lastNumber: UInt64 = 0
  private var newRequests: [SigningRequest] = []
  private var pending: Set<SigningID> = []

  init(_ key: some AuthorKey) {
    signature = { key.signature(of: $0) }
    publicKey = key.publicKey
  }

  init(publicKey: [UInt8]) {
    signature = nil
    self.publicKey = publicKey
  }

  mutating func sign(_ bytes: [UInt8]) -> Signed<[UInt8]> {
    if let signature {
      let signature = signature(bytes)
      precondition(signature.count == AuthorRecord.signatureBytes, "a signature has 64 bytes")
      return Signed(value: signature, request: nil)
    }
    lastNumber += 1
    let id = SigningID(number: lastNumber)
    newRequests.append(SigningRequest(id: id, bytes: bytes))
    pending.insert(id)
    return Signed(value: [UInt8](repeating: 0, count: AuthorRecord.signatureBytes), request: id)
  }

  var isLocal: Bool { signature != nil }

  var isPending: Bool { !pending.isEmpty }

  var hasNewRequests: Bool { !newRequests.isEmpty }

  mutating func removeNewRequests() -> [SigningRequest] {
    guard !newRequests.isEmpty else { return [] }
    defer { newRequests = [] }
    return newRequests
  }

  mutating func didSign(_ id: SigningID) -> Bool { pending.remove(id) != nil }
}

/// Signatures that the owner creates and verifies. Both steps may take any amount of time. Messages of a member wait
/// behind the first message that is being verified. Actions wait behind the first action that lacks a signature. The
/// replica therefore behaves as if it had a local key and slower links.
extension Replica {
  // MARK: - Signing

  /// Whether a requested signature is missing.
  ///
  /// Actions may be waiting for the signature.
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

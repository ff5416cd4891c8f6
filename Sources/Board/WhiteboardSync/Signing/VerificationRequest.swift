import Whiteboard

/// The id of a check that the owner of a replica must make.
public struct VerificationID: Hashable, Sendable {
  let number: UInt64
  let member: MemberID
}

/// A public key or a signature that the owner of a replica must check.
///
/// The owner answers each request with ``Replica/verified(_:isValid:now:)``.
public struct VerificationRequest: Hashable, Sendable {
  /// The key or signature to check.
  public enum Subject: Hashable, Sendable {
    /// Check whether these bytes are a public key: a point on P-256, uncompressed as in SEC 1.
    case key([UInt8])
    /// Check whether the owner of the key signed these bytes, with ECDSA and SHA-256.
    case signature([UInt8], of: [UInt8], by: [UInt8])
  }

  /// Identifies the request.
  public let id: VerificationID
  /// The key or the signature to check.
  public let subject: Subject
}

struct VerificationState {
  private(set) var results: [VerificationRequest.Subject: Bool] = [:]
  private var pending: [VerificationID: VerificationRequest.Subject] = [:]

  var isPending: Bool { !pending.isEmpty }

  mutating func add(_ request: VerificationRequest) { pending[request.id] = request.subject }

  mutating func didVerify(_ id: VerificationID, isValid: Bool) -> Bool {
    guard let subject = pending.removeValue(forKey: id) else { return false }
    results[subject] = isValid
    return true
  }
}

struct UnverifiedAnswer {
  let answer: ReceivedAnswer
  var verification: VerificationState
}

/// The verifier of a replica. If there is no local verifier, a check treats keys and signatures without a result as
/// valid, and collects these keys and signatures. The message then waits for the results, and is checked again. The
/// check therefore has the same result as with a local verifier.
final class ReplicaVerifier: SignatureVerifier {
  private let local: LocalVerifier?
  private let actions: ActionQueue
  private var results: [VerificationRequest.Subject: Bool] = [:]
  /// The keys and signatures in the running check that have no result yet, in order.
  private var missing: [VerificationRequest.Subject] = []
  private var lastNumber: UInt64 = 0

  init(_ local: LocalVerifier?, _ actions: ActionQueue) {
    self.local = local
    self.actions = actions
  }

  var isImmediate: Bool { local != nil }

  /// Checks the signatures in a message of a member. If results are missing, requests them and returns nil. When the
  /// results have arrived, the check must run again, so `body` must have no side effects.
  func check<Checked, Failure: Error>(
    _ verification: inout VerificationState,
    for member: MemberID,
    _ body: () throws(Failure) -> Checked
  ) throws(Failure) -> Checked? {
    guard !isImmediate else { return try body() }
    results = verification.results
    defer { (results, missing) = ([:], []) }
    let result: Result<Checked, Failure>
    do throws(Failure) { result = .success(try body()) } catch { result = .failure(error) }
    guard !missing.isEmpty else { return try result.get() }
    for subject in missing {
      lastNumber += 1
      let id = VerificationID(number: lastNumber, member: member)
      let request = VerificationRequest(id: id, subject: subject)
      verification.add(request)
      actions.request(.verify(request))
    }
    return nil
  }

  func isKey(_ bytes: [UInt8]) -> Bool {
    if let local { return local.isKey(bytes) }
    // Reject most invalid keys without asking the owner.
    guard bytes.count == AuthorRecord.keyBytes, bytes.first == 4 else { return false }
    return result(of: .key(bytes))
  }

  func isValid(_ signature: [UInt8], of bytes: [UInt8], by key: [UInt8]) -> Bool {
    if let local { return local.isValid(signature, bytes, key) }
    return result(of: .signature(signature, of: bytes, by: key))
  }

  private func result(of subject: VerificationRequest.Subject) -> Bool {
    if let result = results[subject] { return result }
    missing.append(subject)
    // Request each result only once.
    results[subject] = true
    return true
  }
}

/// The author on one link, and the heads of the author's chains. Implements AUT-4, AUT-5 and AUT-7.
final class LinkChainVerifier {
  private(set) var record: AuthorRecord?
  var isRevoked = false
  private var chain: BatchChain?
  private var ended: [Incarnation: BatchChain] = [:]
  private let limit: Int
  /// The records that were sent ahead of purges and whose incarnations are not in the local context yet.
  private var ahead: [Incarnation: AuthorRecord] = [:]

  /// Creates the state of a new link, on which at most `limit` incarnations can be introduced.
  init(limit: Int = BoardLimits.incarnations) { self.limit = limit }

  func introduce(_ record: AuthorRecord, _ head: SignedHead) throws(ReplicaError) {
    let next = BatchChain(record.incarnation, sequence: head.sequence, hash: head.hash)
    if head.sequence == 0, next != BatchChain(record.incarnation) { throw .brokenChain }
    if let chain { ended[chain.incarnation] = chain }
    if let known = ended[record.incarnation] {
      guard known == next else { throw .brokenChain }
    } else {
      guard ended.count < limit else { throw .malformed(.overLimit("authors")) }
    }
    self.record = record
    chain = next
  }

  /// Stores a verified record sent ahead of a purge (SYN-48). Throws if there are more than
  /// ``BoardLimits/recordsAhead``.
  func keepAhead(_ record: AuthorRecord) throws(ReplicaError) {
    guard ahead[record.incarnation] != nil || ahead.count < BoardLimits.recordsAhead else {
      throw .malformed(.overLimit("records"))
    }
    ahead[record.incarnation] = record
  }

  func recordAhead(of incarnation: Incarnation) -> AuthorRecord? { ahead[incarnation] }

  func forgetAhead(_ incarnation: Incarnation) { ahead[incarnation] = nil }

  var head: (incarnation: Incarnation, sequence: UInt64)? { chain.map { ($0.incarnation, $0.sequence) } }

  var role: Role? { record.map { isRevoked ? .viewer : $0.role } }

  func requireWriter() throws(ReplicaError) {
    guard let role = record?.role else { throw .noAuthor }
    guard role.mayWrite else { throw .viewer }
  }

  func append(_ batch: [UInt8], through last: UInt64) { chain?.append(batch, through: last) }

  func check(_ head: SignedHead, with verifier: some SignatureVerifier) throws(ReplicaError) {
    guard let record, let chain else { throw .noAuthor }
    guard head.sequence == chain.sequence, head.hash == chain.hash else { throw .brokenChain }
    try head.verify(by: record, with: verifier)
  }
}

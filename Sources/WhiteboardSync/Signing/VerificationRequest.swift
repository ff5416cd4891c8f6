import Whiteboard

/// Identifies a check that the owner of a replica must make.
public struct VerificationID: Hashable, Sendable {
  let number: UInt64
}

/// A public key or a signature that the owner of a replica must check.
///
/// The owner answers each request exactly once with ``Replica/verified(_:isValid:now:)``.
public struct VerificationRequest: Hashable, Sendable {
  /// What must be checked.
  public enum Subject: Hashable, Sendable {
    /// Whether these bytes are a public key: a point on P-256, uncompressed as in SEC 1.
    case key([UInt8])
    /// Whether the owner of the key made this signature of these bytes.
    case signature([UInt8], of: [UInt8], by: [UInt8])
  }

  /// Identifies the request.
  public let id: VerificationID
  /// What must be checked.
  public let subject: Subject
}

/// The results of the checks for one message, and those that are pending.
struct VerificationState {
  private(set) var results: [VerificationRequest.Subject: Bool] = [:]
  private var pending: [VerificationID: VerificationRequest.Subject] = [:]

  /// Whether a result is missing.
  var isPending: Bool { !pending.isEmpty }

  /// The owner received these requests.
  mutating func add(_ requests: [VerificationRequest]) {
    for request in requests { pending[request.id] = request.subject }
  }

  /// The owner answered a request.
  mutating func didVerify(_ id: VerificationID, isValid: Bool) {
    if let subject = pending.removeValue(forKey: id) { results[subject] = isValid }
  }
}

/// A verifier whose results come from the owner of the replica, and later.
///
/// It collects the checks without a result, and meanwhile assumes that they succeed. The caller discards what it
/// has found out that way, waits for the results, and checks the same message again.
final class OwnerVerifier: SignatureVerifier {
  private var results: [VerificationRequest.Subject: Bool] = [:]
  private var missing: [VerificationRequest.Subject] = []
  private var lastNumber: UInt64 = 0
  /// The member whose message each pending check is for.
  private var members: [VerificationID: MemberID] = [:]

  /// Checks with these results.
  /// - Returns: The result of `body`, and the checks without a result; if there are any, the former does not
  ///   count.
  func check<Result>(
    with results: [VerificationRequest.Subject: Bool],
    _ body: () -> Result
  ) -> (result: Result, missing: [VerificationRequest.Subject]) {
    self.results = results
    defer {
      self.results = [:]
      missing = []
    }
    let result = body()
    return (result, missing)
  }

  /// Makes requests for missing results, on behalf of a message of a member.
  func makeRequests(
    for subjects: [VerificationRequest.Subject],
    of member: MemberID
  ) -> [VerificationRequest] {
    subjects.map { subject in
      lastNumber += 1
      let id = VerificationID(number: lastNumber)
      members[id] = member
      return VerificationRequest(id: id, subject: subject)
    }
  }

  /// The owner answered a request.
  /// - Returns: The member whose message the check is for; nil if it has left.
  func didVerify(_ id: VerificationID) -> MemberID? { members.removeValue(forKey: id) }

  /// Drops the requests for a member, which has left or broke a rule.
  func removeRequests(for member: MemberID) {
    members = members.filter { $0.value != member }
  }

  func isKey(_ bytes: [UInt8]) -> Bool {
    // Most invalid keys are recognized without the owner.
    guard bytes.count == AuthorRecord.keyBytes, bytes.first == 4 else { return false }
    return result(of: .key(bytes))
  }

  func isValid(_ signature: [UInt8], of bytes: [UInt8], by key: [UInt8]) -> Bool {
    result(of: .signature(signature, of: bytes, by: key))
  }

  private func result(of subject: VerificationRequest.Subject) -> Bool {
    if let result = results[subject] { return result }
    if !missing.contains(subject) { missing.append(subject) }
    return true
  }
}

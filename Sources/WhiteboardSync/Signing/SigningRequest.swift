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

/// A value whose signature may still be missing.
///
/// Until the signature is filled in, the value contains 64 zero bytes in its place.
struct Signed<Value> {
  let value: Value
  /// The request for the missing signature; nil if the value is complete.
  let request: SigningID?

  /// The value, if its author has a local key and therefore signed it immediately.
  var complete: Value {
    precondition(request == nil, "the author must have a local key")
    return value
  }
}

/// A signer for an author.
///
/// It signs with a local key, or requests signatures from the owner of the replica.
struct Signer {
  let publicKey: [UInt8]
  /// Signs with the local key; nil if the owner signs.
  private let signature: (([UInt8]) -> [UInt8])?
  private var lastNumber: UInt64 = 0
  /// The requests that the owner has not received yet.
  private var newRequests: [SigningRequest] = []
  /// The requests that the owner has not answered yet.
  private var pending: Set<SigningID> = []

  init(_ key: some AuthorKey) {
    signature = { key.signature(of: $0) }
    publicKey = key.publicKey
  }

  /// Creates a signer that requests signatures from the owner of the replica.
  init(publicKey: [UInt8]) {
    signature = nil
    self.publicKey = publicKey
  }

  /// Signs bytes, or returns a placeholder and a request for the signature.
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

  /// Whether the signer has a local key.
  var isLocal: Bool { signature != nil }

  var isPending: Bool { !pending.isEmpty }

  var hasNewRequests: Bool { !newRequests.isEmpty }

  /// Removes and returns the requests that the owner has not received yet.
  mutating func removeNewRequests() -> [SigningRequest] {
    guard !newRequests.isEmpty else { return [] }
    defer { newRequests = [] }
    return newRequests
  }

  /// Records that the owner answered a request; returns whether the request was pending.
  mutating func didSign(_ id: SigningID) -> Bool { pending.remove(id) != nil }
}

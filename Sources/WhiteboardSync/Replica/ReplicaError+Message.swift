import Whiteboard

extension ReplicaError {
  /// A sentence for users that describes the protocol violation.
  public var message: String {
    switch self {
    case .malformed(let error): "A message of the board is malformed (\(error.code))."
    case .unrequestedAnswer: "An answer arrived that was not requested."
    case .noAuthor: "Changes arrived without the signed record of their author."
    case .forgedAuthor: "Changes arrived with the record of another author."
    case .wrongBoard: "A signed record belongs to another board."
    case .wrongKey: "A public key is not valid."
    case .wrongSignature: "A signature is not valid."
    case .brokenChain: "Changes do not continue the author's previous changes."
    case .viewer: "A viewer changed the board."
    case .notOwner: "A record names an owner that does not own the board."
    case .notGranted: "A role or a grant goes beyond what its issuer may give."
    }
  }
}

import PeerCore
import PeerWire

/// The reason why a ticket is rejected. The reason determines the next step of admission (TCK-2).
enum TicketError: Error, Equatable, Sendable {
  /// A signature does not verify; the link is closed with `protocol-error`.
  case invalid
  /// The signatures are valid, but the chain does not end at a peer that may admit others.
  case unknownAdmitter
}

/// A member's signed statement that a peer belongs to the session (5.2). A ticket may include the tickets of the
/// members that it depends on. A peer that knows none of these members can then follow the signatures to the host
/// (TCK-3).
struct Ticket: ControlObject {
  struct Signature: ControlObject {
    var admitter = PeerID.none
    /// The admitter's DER SubjectPublicKeyInfo.
    var key: [UInt8] = []
    /// The ECDSA signature on P-256 with SHA-256, in DER.
    var bytes: [UInt8] = []
    /// The host's signature on the member's right to admit newcomers (TCK-6); `nil` if the member has no such right.
    var right: [UInt8]?

    init() {}

    init(by identity: PeerIdentity, session: SessionID, member: PeerID, givesRight: Bool = false) {
      admitter = identity.peerID
      key = identity.publicKeyDER
      bytes = identity.sign(Ticket.signedBytes(session: session, admitter: admitter, member: member))
      guard givesRight else { return }
      right = identity.sign(Ticket.signedRight(session: session, admitter: admitter, member: member))
    }

    func isValid(session: SessionID, member: PeerID) -> Bool {
      isSigned(bytes, Ticket.signedBytes(session: session, admitter: admitter, member: member))
    }

    func givesRight(session: SessionID, member: PeerID) -> Bool {
      guard let right, isValid(session: session, member: member) else { return false }
      return isSigned(right, Ticket.signedRight(session: session, admitter: admitter, member: member))
    }

    private func isSigned(_ bytes: [UInt8], _ signed: [UInt8]) -> Bool { admitter.hasSigned(signed, bytes, key: key) }
  }

  var signature = Signature()
  /// The signatures that lead from the admitter to the host, one for each admitter in between; the list may be empty.
  var via: [Signature] = []

  var admitter: PeerID { signature.admitter }
  var length: Int { via.count + 1 }

  init() {}

  init(_ signature: Signature, via: [Signature] = []) {
    self.signature = signature
    self.via = via
  }

  /// The new ticket includes the admitter's own ticket if the chain is not too long (TCK-3).
  static func make(
    by identity: PeerIdentity,
    session: SessionID,
    member: PeerID,
    own: Ticket? = nil,
    givesRight: Bool = false
  ) -> Ticket {
    let chain = own.map { [$0.signature] + $0.via } ?? []
    return Ticket(
      Signature(by: identity, session: session, member: member, givesRight: givesRight),
      via: chain.count < Limits.ticketChain ? chain : []
    )
  }

  /// Follows the signatures from `member` to a peer that may admit others (TCK-1, TCK-3), but never through a removed
  /// peer.
  func verify(
    session: SessionID,
    member: PeerID,
    mayAdmit: (PeerID) -> Bool,
    isRemoved: (PeerID) -> Bool = { _ in false }
  ) throws(TicketError) {
    var holder = member
    for signature in [signature] + via {
      guard signature.isValid(session: session, member: holder) else { throw .invalid }
      guard !isRemoved(signature.admitter) else { throw .unknownAdmitter }
      if mayAdmit(signature.admitter) { return }
      holder = signature.admitter
    }
    throw .unknownAdmitter
  }

  static func signedBytes(session: SessionID, admitter: PeerID, member: PeerID) -> [UInt8] {
    Array("whiteboard-p2p ticket 1\0".utf8) + session.bytes + admitter.bytes + member.bytes
  }

  static func signedRight(session: SessionID, admitter: PeerID, member: PeerID) -> [UInt8] {
    Array("whiteboard-p2p admitter 1\0".utf8) + session.bytes + admitter.bytes + member.bytes
  }
}

extension Ticket.Signature {
  mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
    try fields.required("admitter", &admitter, .id)
    try fields.required("key", &key, .key)
    try fields.required("signature", &bytes, .signature)
    try fields.optional("right", &right, .signature)
  }
}

extension Ticket {
  mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
    try signature.list(&fields)
    try fields.optional("via", &via, .list(of: .object, maximum: Limits.ticketChain - 1), unless: [])
  }
}

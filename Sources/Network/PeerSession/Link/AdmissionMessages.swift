import PeerCore
import PeerDiscovery
import PeerWire

// The messages that admit a dialler: proofs, verification words and ACCEPT (3.3, 4).

extension Control {
  /// The first message to an admitted dialler; ACCEPT opens the link (3.3).
  struct Accept: ControlPayload {
    static let frameType = FrameType.accept

    struct Received: Codable, Equatable, Sendable {
      var received: UInt64

      init(received: UInt64) { self.received = received }

      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        received = UInt64(try container.integer(.received, in: 0...maximumControlInteger))
      }
    }

    var host: PeerID
    /// The maximum number of peers in the session, including both ends.
    var maximum: Int
    /// The members; at most 256, see ``fitting(_:)``.
    var members: [Member]
    var ticket: Ticket?
    var resume: Received?
    /// The listener's proof in admission by code (4.2).
    var proof: ProofBytes?
    /// The reason why the listener gave up the delivery state that the dialler wants to resume (CLS-3, RSM-6).
    var ended: String?
    /// The session's name, as far as the listener knows it (3.3).
    var name: UntrustedText?
    /// How the listener, as the host, admits newcomers (MEM-17).
    var admission: AdmissionMode?
    /// The host's code; present only if `admission` is `code`.
    var code: JoinCode?

    init(
      host: PeerID,
      maximum: Int,
      members: [Member],
      ticket: Ticket? = nil,
      resume: Received? = nil,
      proof: ProofBytes? = nil
    ) {
      self.host = host
      self.maximum = maximum
      self.members = members
      self.ticket = ticket
      self.resume = resume
      self.proof = proof
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      host = try container.decode(PeerID.self, forKey: .host)
      maximum = try container.integer(.maximum, in: 1...maximumControlInteger)
      members = try container.array(.members, of: Member.self, maximum: Limits.members)
      ticket = try container.decodeIfPresent(Ticket.self, forKey: .ticket)
      resume = try container.decodeIfPresent(Received.self, forKey: .resume)
      proof = try container.decodeIfPresent(ProofBytes.self, forKey: .proof)
      ended = try container.isPresent(.ended) ? container.text(.ended, bytes: 0...64) : nil
      name = try container.isPresent(.name) ? UntrustedText(container.text(.name, bytes: 0...Limits.sessionName)) : nil
      (admission, code) = try container.terms(.admission, .code)
    }

    private enum CodingKeys: String, CodingKey {
      case host
      case maximum
      case members
      case ticket
      case resume
      case proof
      case ended
      case name
      case admission
      case code
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(host, forKey: .host)
      try container.encode(maximum, forKey: .maximum)
      try container.encode(members, forKey: .members)
      try container.encodeIfPresent(ticket, forKey: .ticket)
      try container.encodeIfPresent(resume, forKey: .resume)
      try container.encodeIfPresent(proof, forKey: .proof)
      try container.encodeIfPresent(ended, forKey: .ended)
      try container.encodeIfPresent(name?.raw, forKey: .name)
      try container.encodeIfPresent(admission?.rawValue, forKey: .admission)
      try container.encodeIfPresent(code?.text, forKey: .code)
    }
  }

  /// The dialler's proof that it knows the code (4.2).
  struct CodeProof: ControlPayload {
    static let frameType = FrameType.codeProof
    var proof: ProofBytes
  }

  /// The dialler's commitment to its nonce (4.3).
  struct ShortWordsCommit: ControlPayload {
    static let frameType = FrameType.sasCommit
    var commit: ProofBytes
  }

  /// The listener's nonce (4.3).
  struct ShortWordsNonce: ControlPayload {
    static let frameType = FrameType.sasNonce
    var nonce: ProofBytes
  }

  /// The nonce to which the dialler committed (4.3).
  struct ShortWordsReveal: ControlPayload {
    static let frameType = FrameType.sasReveal
    var nonce: ProofBytes
  }
}

extension Control.Accept {
  /// Returns this payload with as many members as fit in `limit` bytes, and the members that do not fit.
  ///
  /// The sender lists the other members in MEMBERS immediately afterwards (``Control/Members/split(_:)``).
  func fitting(_ limit: Int) -> (accept: Control.Accept, rest: [Control.Member]) {
    var bare = self
    bare.members = []
    var room = limit - bare.encoded().count
    var count = 0
    for member in members.prefix(Limits.members) {
      room -= Control.Members(members: [member]).encoded().count
      guard room >= 0 else { break }
      count += 1
    }
    bare.members = Array(members.prefix(count))
    return (bare, Array(members.dropFirst(count)))
  }
}

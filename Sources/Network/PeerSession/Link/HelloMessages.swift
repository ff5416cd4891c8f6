import PeerCore
import PeerDiscovery
import PeerWire

// The HELLO messages, in which both sides of a link introduce themselves (3.1).

extension Control {
  /// Returns the number of a link whose two HELLOs have these values of `links` (3.1).
  static func linkNumber(after own: Int, _ theirs: Int) -> Int { min(max(own, theirs), maximumControlInteger - 1) + 1 }

  /// The protocol versions that a peer supports, encoded in JSON as `[lowest, highest]`.
  struct VersionRange: Codable, Equatable, Sendable {
    var lowest: Int
    var highest: Int

    init(lowest: Int, highest: Int) {
      self.lowest = lowest
      self.highest = highest
    }

    init(from decoder: any Decoder) throws {
      var container = try decoder.unkeyedContainer()
      do {
        lowest = try container.decode(Int.self)
        highest = try container.decode(Int.self)
        guard container.isAtEnd, 0 <= lowest, lowest <= highest, highest <= maximumControlInteger else {
          throw Self.outOfRange(container)
        }
      } catch let error as DecodingError { throw error } catch { throw Self.outOfRange(container) }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      try container.encode(lowest)
      try container.encode(highest)
    }

    private static func outOfRange(_ container: any UnkeyedDecodingContainer) -> DecodingError {
      .dataCorrupted(.init(codingPath: container.codingPath, debugDescription: "the value is not a range of versions"))
    }

    /// Returns the highest version in both ranges, or `nil` if they have no version in common (HEL-1).
    func common(with other: VersionRange) -> Int? {
      let version = min(highest, other.highest)
      return version >= max(lowest, other.lowest) ? version : nil
    }
  }

  /// The role of a peer in a session; an unknown role is treated as `member`.
  enum Role: String, Codable, Sendable {
    case member
    case relay

    init(from decoder: any Decoder) throws {
      self = Role(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .member
    }
  }

  /// The common part of both directions of HELLO (3.1).
  struct Introduction: Codable, Equatable, Sendable {
    var versions: VersionRange
    var session: SessionID
    /// The display name: 1 to 64 bytes, not verified.
    var name: UntrustedText
    var incarnation: SessionIncarnation
    /// The port, or 0 for a peer that does not listen.
    var port: Int
    /// The addresses as IP literals without scope, best first; at most 16.
    var addresses: [String]
    var role: Role
    /// The number of the last control link with this peer in any incarnation; 0 if there was none (DUP-1).
    var links: Int
    /// The rate limits of a relay for a member (RLY-14).
    var passes: RelayRate?

    init(
      versions: VersionRange = Control.versions,
      session: SessionID,
      name: UntrustedText,
      incarnation: SessionIncarnation,
      port: Int,
      addresses: [String],
      role: Role,
      links: Int,
      passes: RelayRate? = nil
    ) {
      self.versions = versions
      self.session = session
      self.name = name
      self.incarnation = incarnation
      self.port = port
      self.addresses = addresses
      self.role = role
      self.links = links
      self.passes = passes
    }

    private enum CodingKeys: String, CodingKey {
      case versions = "protocol"
      case session
      case name
      case incarnation
      case port
      case addresses
      case role
      case links
      case passes
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      versions = try container.decode(VersionRange.self, forKey: .versions)
      session = try container.decode(SessionID.self, forKey: .session)
      name = UntrustedText(try container.text(.name, bytes: 1...Limits.displayName))
      incarnation = try container.decode(SessionIncarnation.self, forKey: .incarnation)
      port = try container.integer(.port, in: 0...65_535)
      addresses = try container.addresses(.addresses)
      role = try container.decode(Role.self, forKey: .role)
      links = try container.integer(.links, in: 0...maximumControlInteger)
      passes = try container.decodeIfPresent(RelayRate.self, forKey: .passes)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(versions, forKey: .versions)
      try container.encode(session, forKey: .session)
      try container.encode(name.raw, forKey: .name)
      try container.encode(incarnation, forKey: .incarnation)
      try container.encode(port, forKey: .port)
      try container.encode(addresses, forKey: .addresses)
      try container.encode(role, forKey: .role)
      try container.encode(links, forKey: .links)
      try container.encodeIfPresent(passes, forKey: .passes)
    }
  }

  /// The delivery state of an earlier link that the dialler still has (RSM-1).
  struct Resume: Codable, Equatable, Sendable {
    /// The incarnation of the listener whose messages the dialler received.
    var incarnation: SessionIncarnation
    /// The number of the last message part that the dialler received from that incarnation.
    var received: UInt64
    /// The number of the link that began the delivery state (RSM-5).
    var since: Int?

    init(incarnation: SessionIncarnation, received: UInt64, since: Int? = nil) {
      self.incarnation = incarnation
      self.received = received
      self.since = since
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      incarnation = try container.decode(SessionIncarnation.self, forKey: .incarnation)
      received = UInt64(try container.integer(.received, in: 0...maximumControlInteger))
      since = try container.isPresent(.since) ? container.integer(.since, in: 1...maximumControlInteger) : nil
    }
  }

  /// An invitation, with the dialler's timeout and data for the listener's application (3.1).
  struct InvitationRequest: Codable, Equatable, Sendable {
    /// How long a dialler waits by default.
    static let defaultTimeout = Duration.seconds(300)
    /// The allowed range of the timeout, in milliseconds.
    static let milliseconds = 1_000...600_000

    /// How long the dialler waits, clamped to the allowed range.
    let timeout: Duration
    /// The data for the listener's application; at most 1,024 bytes.
    let context: [UInt8]
    /// The pass of the listener's join link (HEL-9).
    let pass: InvitationPass?

    /// Creates a request.
    ///
    /// - Precondition: The context has at most 1,024 bytes.
    init(timeout: Duration = defaultTimeout, context: [UInt8] = [], pass: InvitationPass? = nil) {
      precondition(
        context.count <= Limits.invitationContext,
        "the context of an invitation has at most 1,024 bytes (section 3.1)"
      )
      let lowest = Duration.milliseconds(Self.milliseconds.lowerBound)
      let highest = Duration.milliseconds(Self.milliseconds.upperBound)
      self.timeout = min(max(timeout, lowest), highest)
      self.context = context
      self.pass = pass
    }

    private enum CodingKeys: String, CodingKey {
      case timeout
      case context
      case pass
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      timeout =
        try container.isPresent(.timeout)
        ? .milliseconds(try container.integer(.timeout, in: Self.milliseconds)) : Self.defaultTimeout
      context =
        try container.isPresent(.context) ? try container.base64(.context, maximum: Limits.invitationContext) : []
      pass = try container.decodeIfPresent(InvitationPass.self, forKey: .pass)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      let (seconds, attoseconds) = timeout.components
      try container.encode(Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000), forKey: .timeout)
      if !context.isEmpty { try container.encode(Base64.encode(context), forKey: .context) }
      try container.encodeIfPresent(pass, forKey: .pass)
    }
  }

  struct DiallerHello: ControlPayload {
    static let frameType = FrameType.hello

    var introduction: Introduction
    var resume: Resume?
    /// The reason why the dialler gave up its delivery state with the listener (RSM-6).
    var ended: String?
    var ticket: Ticket?
    var invitation: InvitationRequest?
    /// For a relay: the request to relay the session (11.1).
    var carry: Carry?

    init(
      introduction: Introduction,
      resume: Resume? = nil,
      ended: String? = nil,
      ticket: Ticket? = nil,
      invitation: InvitationRequest? = nil,
      carry: Carry? = nil
    ) {
      self.introduction = introduction
      self.resume = resume
      self.ended = ended
      self.ticket = ticket
      self.invitation = invitation
      self.carry = carry
    }

    /// Returns whether the dialler wants to resume the delivery state that a listener holds (RSM-2, RSM-5).
    func resumes(deliveryOf dialler: SessionIncarnation, since: Int, at listener: SessionIncarnation) -> Bool {
      guard let resume else { return false }
      return introduction.incarnation == dialler && resume.incarnation == listener && resume.since ?? since == since
    }

    private enum CodingKeys: String, CodingKey {
      case resume
      case ended
      case ticket
      case invitation
      case carry
    }

    init(from decoder: any Decoder) throws {
      introduction = try Introduction(from: decoder)
      let container = try decoder.container(keyedBy: CodingKeys.self)
      resume = try container.decodeIfPresent(Resume.self, forKey: .resume)
      ended = try container.isPresent(.ended) ? container.text(.ended, bytes: 0...64) : nil
      ticket = try container.decodeIfPresent(Ticket.self, forKey: .ticket)
      invitation = try container.decodeIfPresent(InvitationRequest.self, forKey: .invitation)
      carry = try container.decodeIfPresent(Carry.self, forKey: .carry)
    }

    func encode(to encoder: any Encoder) throws {
      try introduction.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encodeIfPresent(resume, forKey: .resume)
      try container.encodeIfPresent(ended, forKey: .ended)
      try container.encodeIfPresent(ticket, forKey: .ticket)
      try container.encodeIfPresent(invitation, forKey: .invitation)
      try container.encodeIfPresent(carry, forKey: .carry)
    }
  }

  /// The step that admits the dialler (3.1).
  enum AdmissionStep: String, Codable, Sendable {
    case none
    case code
    case ask
  }

  struct ListenerHello: ControlPayload {
    static let frameType = FrameType.hello

    var introduction: Introduction
    var admission: AdmissionStep
    /// The listener's proof that it belongs to the session (MEM-8).
    var ticket: Ticket?

    init(introduction: Introduction, admission: AdmissionStep, ticket: Ticket? = nil) {
      self.introduction = introduction
      self.admission = admission
      self.ticket = ticket
    }

    private enum CodingKeys: String, CodingKey {
      case admission
      case ticket
    }

    init(from decoder: any Decoder) throws {
      introduction = try Introduction(from: decoder)
      let container = try decoder.container(keyedBy: CodingKeys.self)
      admission = try container.decode(AdmissionStep.self, forKey: .admission)
      ticket = try container.decodeIfPresent(Ticket.self, forKey: .ticket)
    }

    func encode(to encoder: any Encoder) throws {
      try introduction.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(admission, forKey: .admission)
      try container.encodeIfPresent(ticket, forKey: .ticket)
    }
  }
}

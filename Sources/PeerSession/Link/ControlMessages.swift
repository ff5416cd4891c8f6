import PeerDiscovery
import PeerWire

/// The JSON payloads of `Protocol/session.md`, one type for each.
enum Control {
  /// The lowest and highest version this program speaks (HEL-1).
  static let versions = VersionRange(lowest: 1, highest: 1)
  /// Bytes in the `message` of CLOSE and in other explanations (3.6).
  static let explanation = 512
}

extension Control {
  /// The versions of the protocol a peer speaks, on the wire `[lowest, highest]`.
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
        guard container.isAtEnd, 0 <= lowest, lowest <= highest, highest <= maximumControlInteger
        else { throw Self.outOfRange(container) }
      } catch let error as DecodingError {
        throw error
      } catch {
        throw Self.outOfRange(container)
      }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      try container.encode(lowest)
      try container.encode(highest)
    }

    private static func outOfRange(_ container: any UnkeyedDecodingContainer) -> DecodingError {
      .dataCorrupted(
        .init(codingPath: container.codingPath, debugDescription: "not a range of versions")
      )
    }

    /// The highest version in both ranges, or `nil` (HEL-1).
    func common(with other: VersionRange) -> Int? {
      let version = min(highest, other.highest)
      return version >= max(lowest, other.lowest) ? version : nil
    }
  }

  /// What a peer is in a session; one that this version does not know is a member.
  enum Role: String, Codable, Sendable {
    case member
    case relay

    init(from decoder: any Decoder) throws {
      self = Role(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .member
    }
  }

  /// What both directions of HELLO say (3.1).
  struct Introduction: Codable, Equatable, Sendable {
    var versions: VersionRange
    var session: SessionID
    /// 1 to 64 bytes; proves nothing.
    var name: UntrustedText
    var incarnation: SessionIncarnation
    /// 0 for a peer that does not listen.
    var port: Int
    /// IP literals without scope, best first; at most 16.
    var addresses: [String]
    var role: Role
    /// The number of the last control link with this peer, whatever its incarnation; 0 for none
    /// (DUP-1).
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

  /// What a dialler with delivery state of an earlier link says (RSM-1).
  struct Resume: Codable, Equatable, Sendable {
    /// The incarnation of the listener whose receive state it still holds.
    var incarnation: SessionIncarnation
    /// The highest message sequence number taken from it.
    var received: UInt64
    /// The number of the link with which the delivery state began (RSM-5).
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
      since =
        try container.isPresent(.since)
        ? container.integer(.since, in: 1...maximumControlInteger) : nil
    }
  }

  /// How long a dialler waits for a person, and what its application says to the other's (3.1).
  struct InvitationRequest: Codable, Equatable, Sendable {
    /// The time that a dialler waits if it names none.
    static let defaultTimeout = Duration.seconds(300)
    /// The times that are allowed, in milliseconds.
    static let milliseconds = 1_000...600_000

    /// Brought into the range that is allowed.
    let timeout: Duration
    /// At most 1,024 bytes.
    let context: [UInt8]
    /// The pass of the listener's join link (HEL-9).
    let pass: InvitationPass?

    /// Creates a request; a longer context than 1,024 bytes is a mistake of the caller.
    init(
      timeout: Duration = defaultTimeout,
      context: [UInt8] = [],
      pass: InvitationPass? = nil
    ) {
      precondition(
        context.count <= Limits.invitationContext,
        "a context has at most 1,024 bytes (3.1)"
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
        ? .milliseconds(try container.integer(.timeout, in: Self.milliseconds))
        : Self.defaultTimeout
      context =
        try container.isPresent(.context)
        ? try container.base64(.context, maximum: Limits.invitationContext) : []
      pass = try container.decodeIfPresent(InvitationPass.self, forKey: .pass)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      let (seconds, attoseconds) = timeout.components
      try container.encode(
        Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000),
        forKey: .timeout
      )
      if !context.isEmpty { try container.encode(Base64.encode(context), forKey: .context) }
      try container.encodeIfPresent(pass, forKey: .pass)
    }
  }

  /// HELLO as the dialler sends it.
  struct DiallerHello: ControlPayload {
    static let frameType = FrameType.hello

    var introduction: Introduction
    var resume: Resume?
    /// The reason why the dialler gave up its delivery state with the listener (RSM-6).
    var ended: String?
    var ticket: Ticket?
    var invitation: InvitationRequest?
    /// To a relay that is to carry the session (11.1).
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

    /// Whether the dialler means delivery state that a listener holds (RSM-2, RSM-5).
    ///
    /// - Parameters:
    ///   - dialler: The dialler's incarnation of that state.
    ///   - since: The number of the link with which it began.
    ///   - listener: The listener's incarnation.
    /// - Returns: Whether the listener resumes it.
    func resumes(
      deliveryOf dialler: SessionIncarnation,
      since: Int,
      at listener: SessionIncarnation
    ) -> Bool {
      guard let resume else { return false }
      return introduction.incarnation == dialler && resume.incarnation == listener
        && resume.since ?? since == since
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

  /// What the dialler must do to be admitted (3.1).
  enum AdmissionStep: String, Codable, Sendable {
    case none
    case code
    case ask
  }

  /// HELLO as the listener sends it.
  struct ListenerHello: ControlPayload {
    static let frameType = FrameType.hello

    var introduction: Introduction
    var admission: AdmissionStep
    /// Proves that the listener belongs to the session (MEM-8).
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

  /// The admitted dialler's first news: the link is open (3.3).
  struct Accept: ControlPayload {
    static let frameType = FrameType.accept

    /// What the listener still holds of the dialler's deliveries (RSM-2).
    struct Received: Codable, Equatable, Sendable {
      var received: UInt64

      init(received: UInt64) { self.received = received }

      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        received = UInt64(try container.integer(.received, in: 0...maximumControlInteger))
      }
    }

    /// Who made the session.
    var host: PeerID
    /// How many peers it holds, both ends counted.
    var maximum: Int
    /// At most 256; see ``fitting(_:)``.
    var members: [Member]
    var ticket: Ticket?
    var resume: Received?
    /// The listener's proof in admission by code (4.2).
    var proof: Bytes32?
    /// The reason why the listener gave up the delivery state that the dialler wants to resume
    /// (CLS-3, RSM-6).
    var ended: String?
    /// The name of the session, as the listener knows it (3.3).
    var name: UntrustedText?

    init(
      host: PeerID,
      maximum: Int,
      members: [Member],
      ticket: Ticket? = nil,
      resume: Received? = nil,
      proof: Bytes32? = nil
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
      proof = try container.decodeIfPresent(Bytes32.self, forKey: .proof)
      ended = try container.isPresent(.ended) ? container.text(.ended, bytes: 0...64) : nil
      name =
        try container.isPresent(.name)
        ? UntrustedText(container.text(.name, bytes: 0...Limits.sessionName)) : nil
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
    }
  }

  /// The last frame of a link that is closed on purpose (3.6).
  struct Close: ControlPayload {
    static let frameType = FrameType.close

    /// A code that this version does not know has become `internal-error`.
    var code: CloseCode
    var message: UntrustedText

    /// Creates a payload, cutting `message` to 512 bytes between characters.
    init(_ code: CloseCode, _ message: String) {
      self.code = code
      self.message = .explanation(message)
    }

    private enum CodingKeys: String, CodingKey {
      case code
      case message
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      code = CloseCode(received: try container.decode(String.self, forKey: .code))
      message = UntrustedText(try container.text(.message, bytes: 0...Control.explanation))
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(code.rawValue, forKey: .code)
      try container.encode(message.raw, forKey: .message)
    }
  }

  /// The dialler's proof that it knows the code (4.2).
  struct CodeProof: ControlPayload {
    static let frameType = FrameType.codeProof
    var proof: Bytes32
  }

  /// The dialler's commitment to its nonce (4.3).
  struct ShortWordsCommit: ControlPayload {
    static let frameType = FrameType.sasCommit
    var commit: Bytes32
  }

  /// The listener's nonce (4.3).
  struct ShortWordsNonce: ControlPayload {
    static let frameType = FrameType.sasNonce
    var nonce: Bytes32
  }

  /// The nonce that the dialler had committed to (4.3).
  struct ShortWordsReveal: ControlPayload {
    static let frameType = FrameType.sasReveal
    var nonce: Bytes32
  }
}

extension Control {
  /// One peer of a session, as another tells of it (5.1); alone, what follows ROUTE (11.2).
  struct Member: ControlPayload {
    static let frameType = FrameType.message

    var peer: PeerID
    /// 1 to 64 bytes; proves nothing.
    var name: UntrustedText
    var incarnation: SessionIncarnation
    var port: Int
    var addresses: [String]
    var role: Role

    init(
      peer: PeerID,
      name: UntrustedText,
      incarnation: SessionIncarnation,
      port: Int,
      addresses: [String],
      role: Role
    ) {
      self.peer = peer
      self.name = name
      self.incarnation = incarnation
      self.port = port
      self.addresses = addresses
      self.role = role
    }

    /// The member that `peer`'s own HELLO describes.
    init(peer: PeerID, _ introduction: Introduction) {
      self.init(
        peer: peer,
        name: introduction.name,
        incarnation: introduction.incarnation,
        port: introduction.port,
        addresses: introduction.addresses,
        role: introduction.role
      )
    }

    private enum CodingKeys: String, CodingKey {
      case peer
      case name
      case incarnation
      case port
      case addresses
      case role
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      peer = try container.decode(PeerID.self, forKey: .peer)
      name = UntrustedText(try container.text(.name, bytes: 1...Limits.displayName))
      incarnation = try container.decode(SessionIncarnation.self, forKey: .incarnation)
      port = try container.integer(.port, in: 0...65_535)
      addresses = try container.addresses(.addresses)
      role = try container.decode(Role.self, forKey: .role)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(peer, forKey: .peer)
      try container.encode(name.raw, forKey: .name)
      try container.encode(incarnation, forKey: .incarnation)
      try container.encode(port, forKey: .port)
      try container.encode(addresses, forKey: .addresses)
      try container.encode(role, forKey: .role)
    }
  }

  /// Members the receiver may not know yet (MEM-1).
  struct Members: ControlPayload {
    static let frameType = FrameType.members

    /// At most 256; see ``split(_:)``.
    var members: [Member]
    /// A ticket for the receiver (TCK-4).
    var ticket: Ticket?

    init(members: [Member], ticket: Ticket? = nil) {
      self.members = members
      self.ticket = ticket
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      members = try container.array(.members, of: Member.self, maximum: Limits.members)
      ticket = try container.decodeIfPresent(Ticket.self, forKey: .ticket)
    }
  }

  /// The host's order to drop a peer (MEM-3).
  struct Kick: ControlPayload, Equatable {
    static let frameType = FrameType.kick

    var peer: PeerID
    var reason: UntrustedText
    /// The host's signature, with which the order counts on every link (MEM-11).
    var signature: KickSignature?

    /// Creates an order, cutting `reason` to 512 bytes between characters.
    init(peer: PeerID, reason: String, signature: KickSignature? = nil) {
      self.peer = peer
      self.reason = .explanation(reason)
      self.signature = signature
    }

    private enum CodingKeys: String, CodingKey {
      case peer
      case reason
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      peer = try container.decode(PeerID.self, forKey: .peer)
      reason = UntrustedText(try container.text(.reason, bytes: 0...Control.explanation))
      let signed = try decoder.container(keyedBy: KickSignature.CodingKeys.self)
      if try signed.isPresent(.key) || signed.isPresent(.signature) {
        signature = try KickSignature(from: decoder)
      }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(peer, forKey: .peer)
      try container.encode(reason.raw, forKey: .reason)
      try signature?.encode(to: encoder)
    }
  }

  /// Where the sender can be reached from now on (MEM-4).
  struct Addresses: ControlPayload {
    static let frameType = FrameType.addresses

    var port: Int
    var addresses: [String]

    init(port: Int, addresses: [String]) {
      self.port = port
      self.addresses = addresses
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      port = try container.integer(.port, in: 0...65_535)
      addresses = try container.addresses(.addresses)
    }
  }
}

extension Control.Accept {
  /// This payload with as many members as fit in `limit` bytes, and the members that do not.
  ///
  /// The sender tells the rest in MEMBERS right after (``Control/Members/split(_:)``).
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

extension Control.Members {
  /// As many payloads as it takes for each to fit in a frame.
  static func split(_ members: [Control.Member]) -> [Control.Members] {
    var result: [Control.Members] = []
    var room = 0
    for member in members {
      // Counts the braces again for each member: an upper bound, and simple.
      let size = Control.Members(members: [member]).encoded().count
      if room < size || result.last?.members.count == Limits.members {
        result.append(Control.Members(members: []))
        room = Limits.framePayload - 16
      }
      result[result.count - 1].members.append(member)
      room -= size
    }
    return result
  }
}

extension String {
  /// The longest prefix of whole characters that takes at most `limit` bytes.
  func prefix(bytes limit: Int) -> String {
    guard utf8.count > limit else { return self }
    var result = ""
    var room = limit
    for scalar in unicodeScalars {
      room -= UTF8.width(scalar)
      guard room >= 0 else { break }
      result.unicodeScalars.append(scalar)
    }
    return result
  }
}

extension UntrustedText {
  /// Words of ours for people there, as the protocol takes them: at most 512 bytes, without NUL.
  static func explanation(_ words: String) -> UntrustedText {
    UntrustedText(words.filter { $0 != "\0" }.prefix(bytes: Control.explanation))
  }

  /// Words of the other side for people here, made harmless and whole.
  var explanation: String { displayed(width: Control.explanation) }

  /// The name of a session as the protocol takes it: at most 128 bytes, without NUL.
  static func sessionName(_ name: String) -> UntrustedText {
    UntrustedText(name.filter { $0 != "\0" }.prefix(bytes: Limits.sessionName))
  }
}

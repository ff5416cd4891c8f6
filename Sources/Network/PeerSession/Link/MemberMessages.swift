import PeerCore
import PeerDiscovery
import PeerWire

// The messages about the members of a session (5).

extension Control {
  /// One peer of a session, as another peer describes it (5.1).
  ///
  /// A ROUTE message has the same payload (11.2).
  struct Member: ControlPayload {
    static let frameType = FrameType.message

    var peer: PeerID
    /// The display name: 1 to 64 bytes, not verified.
    var name: UntrustedText
    var incarnation: SessionIncarnation
    var port: Int
    var addresses: [String]
    var role: Role
    /// Whether the peer joined from a browser, through the sender or another relay (WEB-56).
    var isGuest = false

    init(peer: PeerID, name: UntrustedText, incarnation: SessionIncarnation, port: Int, addresses: [String], role: Role)
    {
      self.peer = peer
      self.name = name
      self.incarnation = incarnation
      self.port = port
      self.addresses = addresses
      self.role = role
    }

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
      case guest
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      peer = try container.decode(PeerID.self, forKey: .peer)
      name = UntrustedText(try container.text(.name, bytes: 1...Limits.displayName))
      incarnation = try container.decode(SessionIncarnation.self, forKey: .incarnation)
      port = try container.integer(.port, in: 0...65_535)
      addresses = try container.addresses(.addresses)
      role = try container.decode(Role.self, forKey: .role)
      isGuest = try container.decodeIfPresent(Bool.self, forKey: .guest) ?? false
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(peer, forKey: .peer)
      try container.encode(name.raw, forKey: .name)
      try container.encode(incarnation, forKey: .incarnation)
      try container.encode(port, forKey: .port)
      try container.encode(addresses, forKey: .addresses)
      try container.encode(role, forKey: .role)
      if isGuest { try container.encode(true, forKey: .guest) }
    }
  }

  /// Members that the receiver might not know yet (MEM-1).
  struct Members: ControlPayload {
    static let frameType = FrameType.members

    /// The members; at most 256, see ``split(_:)``.
    var members: [Member]
    /// A ticket for the receiver (TCK-4).
    var ticket: Ticket?
    /// How the host admits newcomers (MEM-17); `nil` if the sender does not say so, or names an unknown mode.
    var admission: AdmissionMode?
    /// The host's code; present only if `admission` is `code`.
    var code: JoinCode?

    init(members: [Member], ticket: Ticket? = nil) {
      self.members = members
      self.ticket = ticket
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      members = try container.array(.members, of: Member.self, maximum: Limits.members)
      ticket = try container.decodeIfPresent(Ticket.self, forKey: .ticket)
      (admission, code) = try container.terms(.admission, .code)
    }

    private enum CodingKeys: String, CodingKey {
      case members
      case ticket
      case admission
      case code
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(members, forKey: .members)
      try container.encodeIfPresent(ticket, forKey: .ticket)
      try container.encodeIfPresent(admission?.rawValue, forKey: .admission)
      try container.encodeIfPresent(code?.text, forKey: .code)
    }
  }

  /// An admission mode, as the host names it to members (MEM-17).
  enum AdmissionMode: String, Sendable {
    case ask
    case code
    case known
    case anyone
  }

  /// The host's order to remove a peer (MEM-3).
  struct Kick: ControlPayload, Equatable {
    static let frameType = FrameType.kick

    var peer: PeerID
    var reason: UntrustedText
    /// The host's signature, with which the order is valid on every link (MEM-11).
    var signature: KickSignature?

    /// Creates an order; `reason` is truncated to 512 bytes at a character boundary.
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
      if try signed.isPresent(.key) || signed.isPresent(.signature) { signature = try KickSignature(from: decoder) }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(peer, forKey: .peer)
      try container.encode(reason.raw, forKey: .reason)
      try signature?.encode(to: encoder)
    }
  }

  /// The sender's new addresses (MEM-4).
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

extension KeyedDecodingContainer {
  /// Reads the host's mode and code (MEM-17); an unknown mode is ignored.
  func terms(_ admission: Key, _ code: Key) throws -> (Control.AdmissionMode?, JoinCode?) {
    let mode = try decodeIfPresent(String.self, forKey: admission).flatMap(Control.AdmissionMode.init(rawValue:))
    guard try isPresent(code) else { return (mode, nil) }
    do { return (mode, try JoinCode(words: try text(code, bytes: 1...256))) } catch is JoinCodeError {
      throw outOfRange(code)
    }
  }
}

extension Control.Members {
  /// Splits members into payloads that each fit in a frame.
  static func split(_ members: [Control.Member]) -> [Control.Members] {
    var result: [Control.Members] = []
    var room = 0
    for member in members {
      // The size includes the enclosing braces once for each member, so it is an upper bound.
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

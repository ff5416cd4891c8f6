import FoundationEssentials
import PeerCore
import PeerDiscovery
import PeerWire

/// A record of a session's membership that lets a program return after a restart (MEM-7).
///
/// ``Session/membership`` delivers a record whenever the membership changes. The program stores the record and, after a
/// restart, passes it to ``PeerTransport/host(_:admission:name:membership:)`` or ``JoinRequest/membership``. A record
/// contains addresses of other members, and the local peer's ticket. The ticket admits only the local peer.
public struct MembershipRecord: Equatable, Sendable {
  /// A peer that proved that it belongs to the session.
  public struct Member: Equatable, Sendable {
    /// The peer.
    public var peer: PeerID
    /// The member's display name, which is not verified.
    public var name: UntrustedText
    /// The member's known addresses, best first; at most 16.
    public var addresses: [PeerAddress]
    /// Whether the member is a relay.
    public var isRelay: Bool
    /// Whether the member joined from a browser, so that only its browser link admits it (WEB-56).
    public var isGuest = false
    /// The peer that admitted the member; `nil` if unknown.
    ///
    /// This is the signer of the member's ticket, or the local peer (MEM-13). Other peers do not accept it as proof.
    public var admittedBy: PeerID?

    /// Creates the entry of a member.
    public init(peer: PeerID, name: UntrustedText, addresses: [PeerAddress] = [], isRelay: Bool = false) {
      self.peer = peer
      self.name = name
      self.addresses = addresses
      self.isRelay = isRelay
    }
  }

  /// The peer that created the session.
  public var host: PeerID
  /// The members, those met most recently last; at most 256.
  public var members: [Member]
  /// The peers that the host removed, at most 1,024: first the guests, then all others, each the earliest removal
  /// first.
  public var removed: [PeerID]
  var removedGuests = 0
  /// The host's reasons for the removals; a peer that was removed without a reason is absent.
  public var reasons: [PeerID: UntrustedText] = [:]
  /// The host's known signatures on the removals.
  var signatures: [PeerID: KickSignature] = [:]
  /// The relays that showed the host's RELAY-GRANT.
  public internal(set) var relays: [PeerID] = []
  /// The local peer's proof that it belongs to the session.
  var ticket: Ticket?

  /// Creates the record of a session that no other peer has joined yet.
  public init(host: PeerID) {
    self.host = host
    members = []
    removed = []
  }

  /// Returns the members that a peer admitted, directly or through other members.
  ///
  /// - Parameter peer: The peer.
  /// - Returns: The members, in breadth-first order, without the host and the peer itself.
  public func members(admittedBy peer: PeerID) -> [PeerID] {
    var found: [PeerID] = []
    var seen: Set<PeerID> = [peer, host]
    var next: [PeerID] = [peer]
    while !next.isEmpty {
      let admitters = Set(next)
      next = members.filter { member in member.admittedBy.map(admitters.contains) == true && !seen.contains(member.peer)
      }.map(\.peer)
      seen.formUnion(next)
      found += next
    }
    return found
  }
}

extension MembershipRecord: Codable {
  /// The maximum number of bytes that ``init(json:)`` reads.
  private static let maximumBytes = 8 << 20

  private enum CodingKeys: String, CodingKey {
    case version
    case host
    case members
    case removed
    case removedGuests
    case reasons
    case signatures
    case relays
    case ticket
  }

  /// Reads a record from the output of ``json``.
  ///
  /// - Returns: `nil` if the text is not a record, or if a later release wrote it.
  public init?(json text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count <= Self.maximumBytes, (try? JSONReader.check(bytes)) != nil,
      let record = try? JSONDecoder().decode(Self.self, from: Data(bytes))
    else { return nil }
    self = record
  }

  /// The record as one JSON object.
  public var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(self) else {
      preconditionFailure("a record contains only strings, numbers and arrays of them")
    }
    return String(decoding: data, as: UTF8.self)
  }

  /// Reads a record.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    _ = try container.integer(.version, in: 1...1)
    host = try container.decode(PeerID.self, forKey: .host)
    members = try container.array(.members, of: Member.self, maximum: Limits.members)
    removed = try container.array(.removed, of: PeerID.self, maximum: Limits.removedPeers)
    if try container.isPresent(.removedGuests) {
      removedGuests = try container.integer(.removedGuests, in: 0...removed.count)
    }
    let reasons = try container.decodeIfPresent([String: String].self, forKey: .reasons) ?? [:]
    for (text, reason) in reasons {
      guard let peer = PeerID(text: text), removed.contains(peer) else { continue }
      self.reasons[peer] = .explanation(reason)
    }
    let signatures = try container.decodeIfPresent([String: KickSignature].self, forKey: .signatures) ?? [:]
    for (text, signature) in signatures {
      guard let peer = PeerID(text: text), removed.contains(peer) else { continue }
      self.signatures[peer] = signature
    }
    relays = try container.isPresent(.relays) ? container.array(.relays, of: PeerID.self, maximum: Limits.members) : []
    ticket = try container.decodeIfPresent(Ticket.self, forKey: .ticket)
  }

  /// Writes the record.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(1, forKey: .version)
    try container.encode(host, forKey: .host)
    try container.encode(members, forKey: .members)
    try container.encode(removed, forKey: .removed)
    if removedGuests > 0 { try container.encode(removedGuests, forKey: .removedGuests) }
    if !reasons.isEmpty {
      let texts = reasons.map { ($0.key.text, $0.value.raw) }
      try container.encode(Dictionary(texts) { first, _ in first }, forKey: .reasons)
    }
    if !signatures.isEmpty {
      let texts = signatures.map { ($0.key.text, $0.value) }
      try container.encode(Dictionary(texts) { first, _ in first }, forKey: .signatures)
    }
    if !relays.isEmpty { try container.encode(relays, forKey: .relays) }
    try container.encodeIfPresent(ticket, forKey: .ticket)
  }
}

extension MembershipRecord.Member: Codable {
  private enum CodingKeys: String, CodingKey {
    case peer
    case name
    case addresses
    case role
    case guest
    case admittedBy
  }

  /// Decodes an entry, ignoring malformed addresses.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    peer = try container.decode(PeerID.self, forKey: .peer)
    name = UntrustedText(try container.text(.name, bytes: 0...Limits.displayName))
    let texts = try container.array(.addresses, of: String.self, maximum: Limits.addresses)
    addresses = texts.compactMap { PeerAddress($0) }
    isRelay = try container.decode(Control.Role.self, forKey: .role) == .relay
    isGuest = try container.decodeIfPresent(Bool.self, forKey: .guest) ?? false
    admittedBy = try container.decodeIfPresent(PeerID.self, forKey: .admittedBy)
  }

  /// Writes the entry.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(peer, forKey: .peer)
    try container.encode(name.raw, forKey: .name)
    try container.encode(addresses.map(\.description), forKey: .addresses)
    try container.encode(isRelay ? Control.Role.relay : .member, forKey: .role)
    if isGuest { try container.encode(true, forKey: .guest) }
    try container.encodeIfPresent(admittedBy, forKey: .admittedBy)
  }
}

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
    /// The value is the signer of the member's ticket, or the local peer (MEM-13). Other peers do not accept this value
    /// as proof.
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
  /// The members, at most 256; the most recently met members come last.
  public var members: [Member]
  /// The peers that the host removed, at most 1,024: the guests first, then all others; in each group, the earliest
  /// removal comes first.
  public var removed: [PeerID]
  var removedGuests = 0
  /// The host's reasons for the removals; a peer that was removed without a reason is absent.
  public var reasons: [PeerID: UntrustedText] = [:]
  var signatures: [PeerID: KickSignature] = [:]
  /// The relays that showed the host's RELAY-GRANT.
  public internal(set) var relays: [PeerID] = []
  var ticket: Ticket?
  /// The topology that the host chose, or that a relay of the session named (RLY-18); `nil` if neither did.
  public internal(set) var topology: SessionTopology?

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

extension MembershipRecord: ControlObject {
  private static let maximumBytes = 8 << 20

  /// Reads a record from the output of ``json``.
  ///
  /// - Returns: `nil` if the text is not a record, or if a later release wrote it.
  public init?(json text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count <= Self.maximumBytes, let record = try? Self.decode(bytes) else { return nil }
    self = record
  }

  init() { self.init(host: .none) }

  /// The record as one JSON object.
  public var json: String { String(decoding: encoded(), as: UTF8.self) }

  mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
    var version = 1
    try fields.required("version", &version, .integer(in: 1...1))
    try fields.required("host", &host, .id)
    try fields.required("members", &members, .list(of: .object, maximum: Limits.members))
    try fields.required("removed", &removed, .list(of: .id, maximum: Limits.removedPeers))
    try fields.optional("removedGuests", &removedGuests, .integer(in: 0...removed.count), unless: 0)
    try fields.optional("reasons", &reasons, .table(of: .string({ .explanation($0) }, { $0.raw })), unless: [:])
    try fields.optional("signatures", &signatures, .table(of: .object), unless: [:])
    try fields.optional("relays", &relays, .list(of: .id, maximum: Limits.members), unless: [])
    try fields.optional("ticket", &ticket, .object)
    try fields.word("topology", &topology)
    guard fields.isReading else { return }
    let removed = Set(removed)
    reasons = reasons.filter { removed.contains($0.key) }
    signatures = signatures.filter { removed.contains($0.key) }
  }
}

extension MembershipRecord.Member: ControlObject {
  init() { self.init(peer: .none, name: UntrustedText("")) }

  /// Reads or writes an entry, ignoring malformed addresses.
  mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
    var texts = addresses.map(\.description)
    var role = isRelay ? Control.Role.relay : .member
    try fields.required("peer", &peer, .id)
    try fields.required("name", &name, .text(0...Limits.displayName))
    try fields.required("addresses", &texts, .list(of: .string({ $0 }, { $0 }), maximum: Limits.addresses))
    try fields.required("role", &role, .word(or: .member))
    try fields.optional("guest", &isGuest, .flag, unless: false)
    try fields.optional("admittedBy", &admittedBy, .id)
    addresses = texts.compactMap { PeerAddress($0) }
    isRelay = role == .relay
  }
}

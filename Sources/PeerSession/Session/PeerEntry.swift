import NIOCore
import PeerDiscovery
import PeerWire

/// The delivery state shared with one incarnation of a peer; it outlives links (3.4).
final class Delivery {
  let incarnation: SessionIncarnation
  let outbox: Outbox
  /// The messages that the peer sends.
  var inbox = MessageInbox()
  /// The number of the link that began this state, the same at both ends (RSM-5).
  var since: Int
  /// The number of the last open link that this side dialled; 0 if there is none (DUP-1).
  var lastDialled = 0

  init(incarnation: SessionIncarnation, outbox: Outbox, since: Int) {
    self.incarnation = incarnation
    self.outbox = outbox
    self.since = since
  }

  /// Whether nothing was received or acknowledged yet, so that both sides may start again with the
  /// queued messages (RSM-4).
  var isUntouched: Bool { inbox.received == 0 && outbox.isUntouched }
}

/// The presence of a peer in the session through a relay.
struct RelayedPresence {
  var route: RelayRoute
  let incarnation: SessionIncarnation
  /// The join generation of the peer.
  let joinGeneration: UInt64
  /// Counts the messages sent to the peer, and those that it confirmed.
  let ledger = RouteLedger()
}

/// Everything a session knows of one other peer.
///
/// Confined to the session's event loop.
final class PeerEntry {
  let id: PeerID
  /// Its latest introduction.
  var member: Control.Member
  /// Present while the peer is in the session: from `peerJoined` to `peerLeft`.
  var delivery: Delivery?
  var state = PeerState.connecting
  /// The relayed route; present instead of `delivery` while the peer is in the session through a
  /// relay (11).
  var relayed: RelayedPresence?
  /// The basis on which the peer was admitted here.
  var admission: PeerAdmission?
  /// Since when there is neither a link nor a route (RLY-6).
  var apartSince = NIODeadline.now()
  /// Whether its last route ended because too much waited; then a new route is not requested at
  /// once.
  var wasOverrun = false
  /// The last number that the peer acknowledged to this relay, and since when it stalls (RLY-12).
  var stuck: (acknowledged: UInt64, since: NIODeadline)?
  /// The incarnation and the reason of the last delivery state that this side gave up.
  var gaveUp: (incarnation: SessionIncarnation, code: String)?
  /// Whether it is a relay of this session, because its host says so, or because it is the host
  /// (RLY-1).
  var isSessionRelay = false
  /// How much it forwards for the local peer, if it is a relay (RLY-14).
  var passes = RelayRate()

  /// The open control link.
  var link: ControlLink?
  /// The number of the last link (`links` in 3.1).
  var linkNumber = 0
  /// The ticket that it showed on that link (TCK-4).
  var shownTicket: Ticket?

  /// The addresses at which it was reached, best first; those from other sources follow.
  var observed: [PeerAddress] = []
  /// Whether a member named the peer, or it was stored.
  ///
  /// A peer that only discovery reported must prove its membership when it is dialled (MEM-8). If
  /// members may not admit, only the word of the host or a relay counts.
  var isVouched = false
  /// The member that named the peer first; nil if this peer met it otherwise.
  var namedBy: PeerID?
  /// The signed removals that this link carried, in either direction (MEM-11).
  var knownRemovals: Set<PeerID> = []
  /// Whether more signed removals wait until the link is writable.
  var owesRemovals = false
  /// Whether it refused the session's code, which is then not offered again (ADM-3).
  var hasRefusedCode = false

  /// The acknowledgements that are due on the open link (MSG-4).
  var acknowledgements = AcknowledgementBatch()
  var datagrams: DatagramLink?

  init(id: PeerID, member: Control.Member) {
    self.id = id
    self.member = member
  }

  /// The reason why this side gave up delivery state that the peer may still hold (RSM-6).
  ///
  /// `nil` once both sides use newer state.
  var unreportedEnd: String? { delivery?.isUntouched ?? true ? gaveUp?.code : nil }

  /// Whether it is in the session.
  var isJoined: Bool { delivery != nil || relayed != nil }

  /// The peer's entry in the membership record and in messages to other members.
  var stored: MembershipRecord.Member {
    MembershipRecord.Member(
      peer: id,
      name: member.name,
      addresses: Array(addresses.prefix(Limits.addresses)),
      isRelay: member.role == .relay
    )
  }

  /// All addresses worth dialling, best first.
  var addresses: [PeerAddress] {
    var result = observed
    if member.port > 0 {
      for host in member.addresses {
        let address = PeerAddress(host: host, port: member.port)
        if !result.contains(address) { result.append(address) }
      }
    }
    return Array(result.prefix(2 * Limits.addresses))
  }

  /// Remembers an address at which it was reached, before all others (MEM-5).
  func remember(_ address: PeerAddress) {
    observed.removeAll { $0 == address }
    observed.insert(address, at: 0)
    observed = Array(observed.prefix(Limits.addresses))
  }

  /// The peer as the application sees it.
  var peer: Peer {
    Peer(
      id: id,
      name: member.name,
      incarnation: member.incarnation,
      isRelay: member.role == .relay,
      relay: relayed?.route.relay,
      address: link?.remote ?? observed.first,
      admission: admission,
      joinGeneration: delivery?.outbox.joinGeneration ?? relayed?.joinGeneration ?? 0
    )
  }
}

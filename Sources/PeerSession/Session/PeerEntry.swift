import NIOCore
import PeerDiscovery
import PeerWire

/// What is owed to and expected from one incarnation of a peer; it outlives links (3.4).
final class Delivery {
  let incarnation: SessionIncarnation
  let outbox: Outbox
  var assembler = MessageAssembler()
  /// The message under way, when it came in parts.
  var partial: [UInt8] = []
  /// Whether that one is between a member and a relay (11.2).
  var isPartialRelays = false
  /// The number of the link with which it began, the same at both ends (RSM-5).
  var since: Int
  /// The number of the last link that we dialled for it and that opened, 0 for none (DUP-1).
  var lastDialled = 0

  init(incarnation: SessionIncarnation, outbox: Outbox, since: Int) {
    self.incarnation = incarnation
    self.outbox = outbox
    self.since = since
  }

  /// Whether nothing has come of it yet, so that both sides may begin anew with what is queued (RSM-4).
  var isUntouched: Bool { assembler.received == 0 && outbox.isUntouched }
}

/// A peer's being in the session by way of a relay.
struct RelayedWay {
  var route: RelayRoute
  let incarnation: SessionIncarnation
  /// Which of all the times it is that somebody came into the session.
  let joining: UInt64
  /// How many messages were sent to it, and how many of them it confirmed.
  let ledger = RouteLedger()
}

/// Everything a session knows of one other peer.
///
/// Confined to the session's event loop.
final class PeerEntry {
  let id: PeerID
  /// What it said of itself last.
  var member: Control.Member
  /// Present while the peer is in the session: from `peerJoined` to `peerLeft`.
  var delivery: Delivery?
  var state = PeerState.connecting
  /// Present instead of that while the peer is in the session by way of a relay (11).
  var relayed: RelayedWay?
  /// On what ground it was let in here.
  var admission: PeerAdmission?
  /// Since when there is neither a link nor a route (RLY-6).
  var apartSince = NIODeadline.now()
  /// Whether too much waited on its last route: then it is not asked for at once.
  var wasOverrun = false
  /// What it had acknowledged of what a relay owes it, and since when it acknowledges no more (RLY-12).
  var stuck: (acknowledged: UInt64, since: NIODeadline)?
  /// The delivery state that was given up here last: with which incarnation, and why.
  var gaveUp: (incarnation: SessionIncarnation, code: String)?
  /// Whether it is not read for a moment, since it sends more than we pass on (RLY-14).
  var isThrottled = false
  /// Whether it is a relay of this session: its host says so, or it is the host (RLY-1).
  var isSessionRelay = false
  /// What it passes on for us where it is one (RLY-14).
  var passes = RelayRate()

  /// The open control link.
  var link: ControlLink?
  /// The number of the last link opened (3.1, `links`).
  var linkNumber = 0
  /// What it showed on that link to prove that it belongs to the session (TCK-4).
  var shownTicket: Ticket?
  /// Whether we dialled the last link: who did dials again at once (LIV-3).
  var dialledLast = true
  /// When the link broke.
  var brokenAt: NIODeadline?

  /// Where it was reached, best first; what others said comes behind.
  var observed: [PeerAddress] = []
  /// When it is dialled.
  var plan = DialPlan()
  /// Whether a member named it, or it was stored: one that discovery alone shows must prove itself
  /// when it is dialled (MEM-8).
  var isVouched = false
  /// Whether it refused the session's code, which is then not offered again (ADM-3).
  var hasRefusedCode = false

  // Acknowledgements owed on the open link (MSG-4).
  var unacknowledgedParts = 0
  var unacknowledgedBytes = 0
  var owesAcknowledgement: Bool { unacknowledgedParts > 0 }
  var isAcknowledgementScheduled = false

  var datagrams: DatagramLink?

  init(id: PeerID, member: Control.Member) {
    self.id = id
    self.member = member
  }

  /// Why delivery state was given up here that the peer may still hold (RSM-6).
  ///
  /// `nil` once both use a later one.
  var unreportedEnd: String? { delivery?.isUntouched ?? true ? gaveUp?.code : nil }

  /// Whether it is in the session.
  var isJoined: Bool { delivery != nil || relayed != nil }

  /// Where it is, as others and the store learn it.
  var stored: MembershipRecord.Member {
    MembershipRecord.Member(
      peer: id,
      name: member.name,
      addresses: Array(addresses.prefix(Limits.addresses)),
      isRelay: member.role == .relay
    )
  }

  /// Every address worth dialling, best first.
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

  /// Remembers where it was reached, first in line (MEM-5).
  func remember(_ address: PeerAddress) {
    observed.removeAll { $0 == address }
    observed.insert(address, at: 0)
    observed = Array(observed.prefix(Limits.addresses))
  }

  /// What others and the application see.
  var peer: Peer {
    Peer(
      id: id,
      name: member.name,
      incarnation: member.incarnation,
      isRelay: member.role == .relay,
      relay: relayed?.route.relay,
      address: link?.remote ?? observed.first,
      admission: admission,
      joining: delivery?.outbox.joining ?? relayed?.joining ?? 0
    )
  }
}

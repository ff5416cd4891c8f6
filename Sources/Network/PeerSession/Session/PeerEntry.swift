import NIOCore
import PeerDiscovery
import PeerWire

/// The delivery state shared with one incarnation of a peer, across links (3.4).
final class Delivery {
  let incarnation: SessionIncarnation
  let outbox: Outbox
  var inbox = MessageInbox()
  /// The number of the link that began this state, the same at both ends (RSM-5).
  var since: Int
  /// The number of the last open link that this side dialed; 0 if there is none (DUP-1).
  var lastDialled = 0

  init(incarnation: SessionIncarnation, outbox: Outbox, since: Int) {
    self.incarnation = incarnation
    self.outbox = outbox
    self.since = since
  }

  /// Whether no message was received or acknowledged yet. If so, both sides may start over with the queued messages
  /// (RSM-4).
  var isUntouched: Bool { inbox.received == 0 && outbox.isUntouched }
}

struct RelayedPresence {
  var route: RelayRoute
  let incarnation: SessionIncarnation
  let joinGeneration: UInt64
  let ledger = RouteLedger()
}

/// Confined to the session's event loop.
final class PeerEntry {
  let id: PeerID
  var member: Control.Member { didSet { if member.incarnation != oldValue.incarnation { announcers = [:] } } }
  /// The delivery state; present while the peer is in the session, from `peerJoined` to `peerLeft`.
  var delivery: Delivery?
  var state = PeerState.connecting
  /// The relayed route; present instead of `delivery` while the peer is in the session through a relay (11).
  var relayed: RelayedPresence?
  var admission: PeerAdmission?
  var guestKey: GuestKey?
  /// When the peer's last link or route ended (RLY-6).
  var apartSince = NIODeadline.now()
  /// Whether the last route ended because too many bytes were queued; if so, a new route is not requested immediately.
  var wasOverrun = false
  /// The last part number that the peer acknowledged to this relay, and the time of its last change (RLY-12).
  var stuck: (acknowledged: UInt64, since: NIODeadline)?
  /// The incarnation of the last delivery state that this side gave up, and the reason.
  var gaveUp: (incarnation: SessionIncarnation, code: String)?
  /// Whether the peer is a relay of this session, by the host's grant or as the host itself (RLY-1).
  var isSessionRelay = false
  /// Whether the peer is a bridge: a member that opens routes between its peers (RLY-15).
  var isBridge = false
  var offersRoutes = false
  var bridgeAsked: NIODeadline?
  /// The rate at which the peer forwards the local peer's data, if the peer opens routes (RLY-14).
  var passes = RelayRate()

  var link: ControlLink?
  /// The number of the last link (`links` in 3.1).
  var linkNumber = 0
  /// The ticket that the peer showed on the open link (TCK-4).
  var shownTicket: Ticket?
  /// Whether the ticket shows that the host lets the peer admit newcomers (TCK-6).
  var hasRight = false

  /// The addresses at which the peer was reached, best first; addresses from other sources come after them.
  var observed: [PeerAddress] = []
  /// Whether a member or the stored membership named the peer. A peer that only discovery reported must prove its
  /// membership when it is dialed (MEM-8). If members are not allowed to admit peers, the host or a relay must have
  /// named the peer.
  var isVouched = false
  /// The member that named the peer first; `nil` if the local peer met the peer in another way.
  var namedBy: PeerID?
  /// The members that announced this process of the peer, and when.
  private var announcers: [PeerID: NIODeadline] = [:]
  /// The signed removals that were sent or received on the open link (MEM-11).
  var knownRemovals: Set<PeerID> = []
  var owesRemovals = false
  var former = FormerIncarnations()
  var hasReportedCopy = false
  /// Whether the peer refused the session's code; if so, the code is not offered again (ADM-3).
  var hasRefusedCode = false

  var acknowledgements = AcknowledgementBatch()
  var datagrams: DatagramLink?

  init(id: PeerID, member: Control.Member) {
    self.id = id
    self.member = member
  }

  /// The reason why this side gave up a delivery state that the peer may still hold (RSM-6); `nil` once both sides use
  /// newer state.
  var unreportedEnd: String? { delivery?.isUntouched ?? true ? gaveUp?.code : nil }

  func announced(by member: PeerID, now: NIODeadline) {
    if announcers.count >= Limits.members { announcers = announcers.filter { isRecent($0.value, now) } }
    if announcers.count < Limits.members { announcers[member] = now }
  }

  /// Returns whether a member announced this process of the peer a short time ago, so that it need not hear of the peer.
  func isAnnounced(by announcer: PeerID, now: NIODeadline) -> Bool {
    announcers[announcer].map { isRecent($0, now) } ?? false
  }

  private func isRecent(_ time: NIODeadline, _ now: NIODeadline) -> Bool { now - time < .seconds(10) }

  var opensRoutes: Bool { isSessionRelay || isBridge }

  var isJoined: Bool { delivery != nil || relayed != nil }

  var stored: MembershipRecord.Member {
    var stored = MembershipRecord.Member(
      peer: id,
      name: member.name,
      addresses: Array(addresses.prefix(Limits.addresses)),
      isRelay: member.role == .relay
    )
    stored.isGuest = member.isGuest
    return stored
  }

  var addresses: [PeerAddress] {
    // No member dials a guest, whatever discovery or a member reports (WEB-38).
    if member.isGuest { return [] }
    var result = observed
    if member.port > 0 {
      for host in member.addresses {
        let address = PeerAddress(host: host, port: member.port)
        if !result.contains(address) { result.append(address) }
      }
    }
    return Array(result.prefix(2 * Limits.addresses))
  }

  /// Stores an address at which the peer was reached, at the front of the list (MEM-5).
  func remember(_ address: PeerAddress) {
    observed.removeAll { $0 == address }
    observed.insert(address, at: 0)
    observed = Array(observed.prefix(Limits.addresses))
  }

  var peer: Peer {
    Peer(
      id: id,
      name: member.name,
      incarnation: member.incarnation,
      isRelay: member.role == .relay,
      relay: relayed?.route.relay,
      address: link?.remote ?? observed.first,
      admission: admission,
      guestKey: guestKey,
      joinGeneration: delivery?.outbox.joinGeneration ?? relayed?.joinGeneration ?? 0
    )
  }
}

/// The processes of one peer that another process with the same key replaced (DUP-6). A process that restarted has
/// ended, so it never returns. If a replaced process returns, two processes use the key at the same time.
struct FormerIncarnations: Sendable, Equatable {
  /// How long a replaced process must wait before it may replace the other process.
  static let pause = TimeAmount.seconds(4)
  private static let maximum = 16

  private var replaced: [SessionIncarnation] = []
  private var replacedAt: NIODeadline?

  func contains(_ incarnation: SessionIncarnation) -> Bool { replaced.contains(incarnation) }

  func mayReturn(now: NIODeadline) -> Bool { replacedAt.map { now - $0 >= Self.pause } ?? true }

  mutating func replace(_ old: SessionIncarnation, with new: SessionIncarnation, now: NIODeadline) {
    replaced.removeAll { $0 == new || $0 == old }
    replaced.append(old)
    if replaced.count > Self.maximum { replaced.removeFirst() }
    replacedAt = now
  }
}

/// Counts the received parts that are not acknowledged yet, so that one ACK covers many parts (MSG-4).
struct AcknowledgementBatch {
  /// The longest delay of an ACK. Replicas report received changes after 50 ms, so the ACK usually goes with a report.
  static let delay = TimeAmount.milliseconds(70)
  static let maximumParts = 256
  /// The number of bytes after which ACK is sent immediately.
  static let maximumBytes = 262_144

  private var parts = 0
  private var bytes = 0
  private var timer: Scheduled<Void>?

  var isOwed: Bool { parts > 0 }

  mutating func received(_ byteCount: Int, atOnce: Bool) {
    parts += atOnce ? 1 + Self.maximumParts : 1
    bytes += byteCount
  }

  /// Returns whether an ACK is due now. If an ACK is due later and none is sent before, `send` is called then.
  mutating func readCompleted(on eventLoop: any EventLoop, send: @escaping () -> Void) -> Bool {
    if parts >= Self.maximumParts || bytes >= Self.maximumBytes { return true }
    if isOwed, timer == nil { timer = eventLoop.assumeIsolated().scheduleTask(in: Self.delay, send) }
    return false
  }

  mutating func sent() {
    timer?.cancel()
    self = AcknowledgementBatch()
  }
}

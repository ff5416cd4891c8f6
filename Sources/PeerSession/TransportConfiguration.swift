import Logging
import PeerDiscovery
import PeerWire

/// What a ``PeerTransport`` is made from.
public struct TransportConfiguration: Sendable {
  /// The port that is tried first when none is named.
  public static let defaultPort = 26_273

  /// Our key and certificate.
  public var identity: PeerIdentity
  /// What we call ourselves, 1 to 64 bytes; the initialiser cuts it.
  public var displayName: String
  /// Where to listen.
  ///
  /// `nil` means every address, on the default port or the next free one; port 0 means any free
  /// one.
  public var listen: PeerAddress?
  /// Whether to listen; if not, ``listen`` has no effect, and links come only from local dials.
  public var isListening = true
  /// Whether others may dial us; when not, we tell no port and dial them ourselves.
  public var isDiallable = true
  /// The only interface whose addresses are told to others; `nil` means all.
  ///
  /// It does not bound where we listen; ``listen`` does.
  public var interface: String?
  /// Where received resources land, each under its transfer id.
  ///
  /// Made on first use, with mode 0700.
  public var inboxDirectory: String
  /// The maximum size of the inbox in bytes, including unfinished transfers.
  ///
  /// When the inbox is full, abandoned transfers are removed first; then offers are refused with
  /// `quota`.
  public var inboxQuota = 8 << 30
  /// The share of the quota that one peer may use, in bytes; `nil` means a quarter.
  public var inboxQuotaPerPeer: Int?
  /// The share of the quota that the peers of one session may use, in bytes; `nil` means half.
  public var inboxQuotaPerSession: Int?
  /// The bytes that a received resource leaves free on the disk: 256 MiB, but never more than 2 % of
  /// the disk.
  ///
  /// Offers that would leave less are refused with `diskFull`. Requested resources only have to fit.
  public var inboxDiskReserve = 256 << 20
  /// Returns whether the application requested a resource that a peer of a session offers; `nil`
  /// means that it requests none.
  ///
  /// A requested resource is accepted without ``wantsResource``. Neither the quotas nor the limit of
  /// eight transfers count it together with others, so that offers of a hostile peer cannot keep it
  /// away. It is called as often as ``wantsResource``, and must return at once.
  public var isRequestedResource: (@Sendable (SessionID, ResourceInfo) async -> Bool)?
  /// Returns whether to accept a resource that a peer of a session offers; `nil` accepts all.
  ///
  /// It is called for every offer before any data arrives, and again when the transfer resumes over
  /// another link. The sender waits for the result, two minutes at most (RES-8), and other transfers
  /// go on meanwhile, so it may wait for a person. Its task is cancelled when that time is over or the
  /// offer ends; it must return then. A declined transfer fails at the sender with `declined`; the
  /// receiver gets an event only if the transfer had been accepted before.
  public var wantsResource: (@Sendable (SessionID, ResourceInfo) async -> Bool)?
  /// Returns whether a resource with that name is useful only to the process that receives it;
  /// `nil` means that none is.
  ///
  /// If that process died, the next start removes the unfinished transfer, because nothing can
  /// resume it.
  public var isTemporaryResource: (@Sendable (UntrustedText) -> Bool)?
  /// How long a broken peer is waited for (LIV-4).
  public var lostAfter = Duration.seconds(60)
  /// How many peers a session that we host holds, ourselves counted; a joiner takes the host's number.
  public var maximumPeers = 16
  /// How many bytes may be owed to one peer before `send` suspends; one message of any size fits.
  public var outboxCapacity = 4 << 20
  /// Whether we tell others that we are a relay.
  ///
  /// It counts in sessions that we host, and in those whose host granted it (RLY-1).
  public var isRelay = false
  /// Whether a relay carries the session of a host who asks for it; `nil` carries none.
  ///
  /// Asked for each link that a host opens anew, also for a session that is carried already, whose
  /// admission may then be another. The answer must come within 10 s.
  public var carries: (@Sendable (CarryRequest) async -> CarryAnswer)?
  /// What a relay passes on for each member, and keeps for each.
  public var relayLimits = RelayLimits()
  /// Whether we send no more by a relay than it passes on; one who does not is for tests of relays.
  package var isPaced = true
  /// How long what is sent to a peer may wait for more, so that it is one write (RLY-13).
  ///
  /// A relay of many members sets 16 ms; others have no use for it.
  public var gathers = Duration.zero
  /// Above how many members, ourselves counted, those behind a relay are not dialled (RLY-6).
  public var meshSize = 16
  /// Peers remembered from earlier; `nil` remembers nobody.
  public var peerStore: PeerStore?
  /// The threads to use; `nil` makes some of its own.
  public var threads: TransportThreads?
  /// Where to log; libraries log at `info` and below.
  public var logger: Logger

  /// Creates a configuration with the defaults of `Protocol/session.md`.
  ///
  /// - Parameters:
  ///   - identity: Our key and certificate.
  ///   - displayName: What we call ourselves; an empty name becomes the short form of our key.
  ///   - inboxDirectory: Where received resources land.
  ///   - logger: Where to log; nowhere, unless given.
  public init(
    identity: PeerIdentity,
    displayName: String,
    inboxDirectory: String,
    logger: Logger = Logger(label: "peer-session") { _ in SwiftLogNoOpLogHandler() }
  ) {
    self.identity = identity
    let cut = displayName.filter { $0 != "\0" }.prefix(bytes: Limits.displayName)
    self.displayName = cut.isEmpty ? identity.peerID.short : cut
    self.inboxDirectory = inboxDirectory
    self.logger = logger
  }
}

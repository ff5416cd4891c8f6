import Logging
import PeerCore
import PeerDiscovery
import PeerWire

/// The settings of a ``PeerTransport``.
public struct TransportConfiguration: Sendable {
  /// The port that is tried first if none is given.
  public static let defaultPort = 26_273

  /// The local key and certificate.
  public var identity: PeerIdentity
  /// The local display name, 1 to 64 bytes; the initializer truncates it.
  public var displayName: String
  /// The address to listen on.
  ///
  /// `nil` means every address, on the default port or the next free port. Port 0 means any free port.
  public var listen: PeerAddress?
  /// Whether to listen for connections.
  ///
  /// If false, ``listen`` has no effect, and a link opens only if the local peer dials.
  public var isListening = true
  /// Whether other peers may dial the local peer.
  ///
  /// If false, the local peer announces no port and dials the other peers itself.
  public var isDiallable = true
  /// The only interface on which the transport listens; `nil` means all.
  ///
  /// Other peers receive only the addresses of this interface. Programs on the same machine can connect in any case. If
  /// ``listen`` names an address, the transport listens on that address only.
  public var interface: String?
  /// The directory for received resources, each named by its transfer id.
  ///
  /// The directory is created on first use, with mode 0700.
  public var inboxDirectory: String
  /// The maximum size of the inbox in bytes, including unfinished transfers.
  ///
  /// When the inbox is full, abandoned transfers are removed. If that does not free enough space, offers are refused
  /// with `quota`.
  public var inboxQuota = 8 << 30
  /// The part of the inbox quota that one peer may use, in bytes; `nil` means a quarter.
  public var inboxQuotaPerPeer: Int?
  /// The part of the inbox quota that the peers of one session may use, in bytes; `nil` means half.
  public var inboxQuotaPerSession: Int?
  /// The number of bytes that must stay free on the disk after a resource is received.
  ///
  /// The default is 256 MiB. At most 2 % of the disk is reserved.
  ///
  /// Offers that would leave less space are refused with `diskFull`. The reserve does not apply to requested resources.
  public var inboxDiskReserve = 256 << 20
  /// A closure that returns whether the application requested the resource that a peer offers; `nil` means that the
  /// application never requests resources.
  ///
  /// A requested resource is accepted without calling ``wantsResource``. The quotas and the limit of eight transfers
  /// count requested resources separately, so that a hostile peer cannot block requested resources with its own offers.
  /// The closure is called for every offer and must return immediately.
  public var isRequestedResource: (@Sendable (SessionID, ResourceInfo) async -> Bool)?
  /// A closure that returns whether to accept the resource that a peer offers; `nil` means to accept all.
  ///
  /// The closure is called for every offer before any data arrives, and again when the transfer resumes over another
  /// link. The closure may wait for a user: the sender waits for the result for at most two minutes (RES-8), and other
  /// transfers continue in the meantime. The closure's task is canceled when that time is over or the offer ends, and
  /// the closure must then return.
  ///
  /// A declined transfer fails at the sender with `declined`. The receiver gets an event only if it had accepted the
  /// transfer before.
  public var wantsResource: (@Sendable (SessionID, ResourceInfo) async -> Bool)?
  /// A closure that returns whether a resource with the given name is useful only to the process that receives it;
  /// `nil` means that no resource is temporary.
  ///
  /// If that process ends before the transfer is complete, the next start removes the unfinished transfer, because that
  /// transfer cannot be resumed.
  public var isTemporaryResource: (@Sendable (UntrustedText) -> Bool)?
  /// How long a peer with a broken link stays in the session before the peer is declared lost (LIV-4).
  public var lostAfter = Duration.seconds(60)
  /// The time limit for each step of admission that does not wait for a user (3.2); longer in tests on busy machines.
  package var stepTimeout = AdmissionTimes.step
  /// The maximum number of peers in a session that the local peer hosts, including the local peer; a joiner uses the
  /// host's value.
  public var maximumPeers = 16
  /// The maximum number of peers, instead of ``maximumPeers``, in a star that the local peer hosts.
  public var maximumPeersInStar = 128
  /// The number of unacknowledged bytes to one peer above which `send` suspends.
  ///
  /// If all earlier messages are acknowledged, a message of any size fits.
  public var outboxCapacity = 4 << 20
  /// Whether the local peer calls itself a relay.
  ///
  /// The setting has an effect only in sessions that the local peer hosts, and in sessions whose host issued a grant
  /// (RLY-1).
  public var isRelay = false
  /// Whether the local peer passes on data between members that cannot reach each other (RLY-15).
  public var isBridge = true
  /// The rate at which the local peer passes on the data of one member, if the local peer is not a relay.
  public var bridgeRate = RelayRate(copies: 2_000, bytes: 8 << 20)
  /// A closure that returns whether to relay the session of a host that requests it; `nil` means to relay no session.
  ///
  /// The closure is called for each new link from a host, even if the session is already relayed, because the admission
  /// policy may have changed. The closure must return within 10 s.
  public var carries: (@Sendable (CarryRequest) async -> CarryAnswer)?
  /// The limits on the data that a relay forwards and queues for each member.
  public var relayLimits = RelayLimits()
  /// Whether to limit sending through a relay to the relay's rate; false only in relay tests.
  package var isPaced = true
  /// How long messages to a peer may be delayed to combine them with later messages in one write (RLY-13).
  ///
  /// A relay with many members uses 16 ms; other peers use no delay.
  public var gathers = Duration.zero
  /// The number of members, including the local peer, above which relayed peers are not dialed (RLY-6).
  public var meshSize = 16
  /// The topology of the sessions that the local peer hosts; `nil` means the stored topology of a session, and `mesh`
  /// for a new session.
  ///
  /// A relay uses this topology for sessions whose host chose none (RLY-18).
  public var topology: SessionTopology?
  /// Whether the local peer relays between the members of a star that it hosts; set this to false if a relay does so.
  public var isHub = true
  /// The store of known peers; `nil` to store no peers.
  public var peerStore: PeerStore?
  /// The threads to use; `nil` to let the transport create its own threads.
  public var threads: TransportThreads?
  /// The thread for the links of a transport that creates its own threads; `nil` to create this thread too.
  package var linkThread: LinkThread?
  /// The logger; the library logs at `info` and below.
  public var logger: Logger

  /// Creates a configuration with the defaults of `Protocol/session.md`.
  ///
  /// - Parameters:
  ///   - identity: The local key and certificate.
  ///   - displayName: The local display name; an empty name becomes the short form of the key.
  ///   - inboxDirectory: The directory for received resources.
  ///   - logger: The logger; by default, nothing is logged.
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

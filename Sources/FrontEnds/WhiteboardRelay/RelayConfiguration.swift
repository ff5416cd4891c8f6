import Logging
import PeerDiscovery
import PeerSession
import RelayCluster
import WhiteboardKit

package typealias ClusterConnecting = @Sendable () async throws(ClusterError) -> any ClusterConnection

package struct RelayConfiguration: Sendable {
  package var name: String
  package var identity: PeerIdentity
  package var peerStore: PeerStore
  package var dataDirectory: String
  /// The address to listen on; `nil` means all addresses, on the default port or the next free port.
  package var listen: PeerAddress?
  /// The only network interface on which the relay can be discovered; `nil` means all interfaces.
  package var interface: String?
  /// The gateway by which browsers join the boards; `nil` means that browsers cannot join.
  package var browserGateway: (any BrowserGateway)?
  /// Whether guests can get links on their pages to invite others; `nil` means yes, unless the board has an owner.
  package var guestsInvite: Bool?
  package var discovery: (any Discovery)?
  /// Connects to the cluster of this relay; `nil` means that the relay belongs to no cluster.
  package var cluster: ClusterConnecting?
  package var limits = Limits()
  package var passing = RelayLimits()
  /// The topology of boards whose host chose none; `nil` means a mesh.
  package var topology: SessionTopology?
  /// How long the relay waits for a peer whose link broke (LIV-4).
  package var lostAfter = Duration.seconds(60)
  /// The time limit for each step of admission that does not wait for a user.
  package var stepTimeout = Duration.seconds(5)
  /// The time after which the relay is ready even if boards are still being opened. A peer that dials such a board
  /// waits until the board is open.
  package var openingLimit = Duration.seconds(1)
  package var logger: Logger
  package var metrics = RelayMetrics()

  /// The limits that may change while a relay runs, when the settings are reloaded.
  package struct Limits: Equatable, Sendable {
    package var boards = BoardsTaken.allowList
    /// The hosts that the operator allows. Under ``BoardsTaken/allowList``, boards from other hosts are refused. Under
    /// ``BoardsTaken/any``, stricter limits apply to boards from other hosts.
    package var allowed: [PeerID] = []
    package var maximumBoards = 100
    package var maximumPeople = 128
    package var maximumBoardMegabytes = 1_024
    /// The maximum number of boards from each host that is not in ``allowed``, under ``BoardsTaken/any``.
    package var maximumBoardsPerHost = 8
    /// The maximum number of boards from hosts at one address that are not in ``allowed``, under ``BoardsTaken/any``.
    package var maximumBoardsPerAddress = 16
    /// The number of boards, out of the maximum, that are reserved for the operator and the hosts in ``allowed``, under
    /// ``BoardsTaken/any``; `nil` means a tenth.
    package var reservedBoards: Int?
    package var retention = BoardRetention.auto

    package init() {}
  }

  package init(name: String, identity: PeerIdentity, peerStore: PeerStore, dataDirectory: String, logger: Logger) {
    self.name = name
    self.identity = identity
    self.peerStore = peerStore
    self.dataDirectory = dataDirectory
    self.logger = logger
  }

  /// The socket is in the runtime directory; without a runtime directory, it is in the data directory.
  package static func controlPath(dataDirectory: String, runtimeDirectory: String?) -> String {
    (runtimeDirectory ?? dataDirectory) + "/control.sock"
  }
}

extension RelayConfiguration {
  /// The configuration of the transport, without the closures that the relay sets later.
  var transportConfiguration: TransportConfiguration {
    var transport = TransportConfiguration(
      identity: identity,
      displayName: name,
      inboxDirectory: dataDirectory + "/inbox",
      logger: logger
    )
    transport.listen = listen
    transport.interface = interface
    transport.lostAfter = lostAfter
    transport.stepTimeout = stepTimeout
    transport.peerStore = peerStore
    transport.maximumPeers = limits.maximumPeople
    transport.maximumPeersInStar = limits.maximumPeople
    transport.topology = topology
    transport.isRelay = true
    transport.relayLimits = passing
    // Collecting messages for 16 ms limits the number of writes. For 64 readers, there are at most 64 × 60 writes per
    // second, regardless of how many members write.
    transport.gathers = .milliseconds(16)
    return transport
  }
}

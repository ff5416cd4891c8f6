import Logging
import PeerDiscovery
import PeerSession

/// The configuration of a relay.
package struct RelayConfiguration: Sendable {
  /// The display name of the relay.
  package var name: String
  /// Its key.
  package var identity: PeerIdentity
  /// The peers it remembers.
  package var peerStore: PeerStore
  /// The directory of its boards, keys and files.
  package var dataDirectory: String
  /// The address to listen on; nil means all addresses, on the default port or the next free one.
  package var listen: PeerAddress?
  /// The only interface to be found on; nil means all.
  package var interface: String?
  /// How its boards are announced; nil means not at all.
  package var discovery: (any Discovery)?
  /// The limits that may change while it runs.
  package var limits = Limits()
  /// The limits of forwarding and storing for each member.
  package var passing = RelayLimits()
  /// How long a peer whose link broke is waited for (LIV-4).
  package var lostAfter = Duration.seconds(60)
  /// The logger.
  package var logger: Logger

  /// The limits that may change while a relay runs, when its settings are reloaded.
  package struct Limits: Equatable, Sendable {
    /// Whose boards are taken.
    package var boards = BoardsTaken.allowList
    /// The hosts that are allowed: all others are refused under ``BoardsTaken/allowList``, and
    /// strangers under ``BoardsTaken/any``.
    package var allowed: [PeerID] = []
    /// How many boards there may be.
    package var maximumBoards = 100
    /// How many may be on a board, the relay counted.
    package var maximumPeople = 128
    /// How many megabytes the file of a board may have.
    package var maximumBoardMegabytes = 1_024
    /// How many boards of one host are taken under ``BoardsTaken/any``.
    package var maximumBoardsPerHost = 8
    /// How many boards of hosts at one address are taken under ``BoardsTaken/any``.
    package var maximumBoardsPerAddress = 16
    /// How many of the boards no stranger gets under ``BoardsTaken/any``; nil means a tenth.
    package var reservedBoards: Int?
    /// How long a board that is not pinned stays without a visitor.
    package var retention = BoardRetention.auto

    /// The limits that hold where nobody says.
    package init() {}
  }

  /// Makes a configuration with the defaults.
  package init(
    name: String,
    identity: PeerIdentity,
    peerStore: PeerStore,
    dataDirectory: String,
    logger: Logger
  ) {
    self.name = name
    self.identity = identity
    self.peerStore = peerStore
    self.dataDirectory = dataDirectory
    self.logger = logger
  }

  /// Where the control socket is: in the directory that the system made for it, or with the boards.
  ///
  /// - Parameters:
  ///   - dataDirectory: Where the relay's boards lie.
  ///   - runtimeDirectory: What `RUNTIME_DIRECTORY` says, nil if it is not set.
  /// - Returns: The path.
  package static func controlPath(
    dataDirectory: String,
    runtimeDirectory: String?
  ) -> String {
    (runtimeDirectory ?? dataDirectory) + "/control.sock"
  }
}

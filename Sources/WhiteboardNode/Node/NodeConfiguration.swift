import FoundationEssentials
import Logging
import PeerDiscovery
import PeerSession
import SessionReplay
import Whiteboard
import WhiteboardDocument
import WhiteboardExport

/// What a node is made from.
package struct NodeConfiguration: Sendable {
  /// What the node does first.
  package enum Part: Sendable {
    /// Hosts the board of a name, which is made where there is none yet.
    case host(boardName: String)
    /// Hosts the board of an id, which is called so where it is made.
    case keep(board: SessionID, boardName: String)
    /// Joins a board, waiting that long for it to be found.
    case join(JoinTarget, patience: Duration)
  }

  /// A session that another peer hosts and we carry as its relay.
  package struct RelayHosting: Sendable {
    /// The session where it is open already, as when its host has just asked; nil makes it again.
    package let session: Session?
    /// The host.
    package let host: PeerID
    /// What lets us carry it.
    package let grant: RelayGrant

    /// Describes a session that we carry.
    package init(_ session: Session?, host: PeerID, grant: RelayGrant) {
      self.session = session
      self.host = host
      self.grant = grant
    }
  }

  /// A relay that is to carry the board we host.
  package enum Carrier: Sendable, Equatable {
    /// The one at this address, with this key where it is known.
    case at(HostPort, PeerID?)
    /// Any relay that is found nearby and accepts the board.
    case nearby
  }

  /// What the node does when its input is at its end or a verb fails.
  package enum Script: Sendable, Equatable {
    /// It goes on until it is told to end.
    case none
    /// It waits until everything is everywhere and ends; a failed verb ends it at once, or not
    /// before the end of the input.
    case run(keepsGoing: Bool)
  }

  /// Who is let in.
  package enum Admission: String, Sendable, CaseIterable {
    /// Whom the person here lets in.
    case ask
    /// Who knows the code.
    case code
    /// Who was trusted before.
    case known
    /// Everybody.
    case anyone
  }

  /// What happens to a file that a member offers.
  package enum FilePolicy: Sendable {
    /// A person or a program is asked: ``NodeEvent/resourceOffered(_:)``.
    case ask
    /// It is accepted.
    case accept
    /// It is refused, with a note.
    case refuse
  }

  /// What to do first.
  package var part: Part
  /// What to do at the end of the input.
  package var script = Script.none
  /// Whether a person types the lines, one who may want to quit before what was typed is done.
  package var isTyped = false
  /// What we call ourselves.
  package var displayName: String
  /// Our key.
  package var identity: PeerIdentity
  /// The peers we remember; nil remembers nobody.
  package var peerStore: PeerStore?
  /// Where files go; made, private, where it is missing.
  package var dataDirectory: String
  /// Where the person's name and icon are kept; nil keeps neither.
  package var personalSettings: PersonalSettings?
  /// Whether boards are kept on the disk, so that the board of a name is the same from run to run.
  package var remembersBoards = true
  /// The file of the board to host; nil: the one of its name in the data directory.
  package var boardFile: String?
  /// The file that is made to record a board that is joined: we look on, and change nothing on it; nil: the
  /// board is kept in the data directory.
  package var recordingFile: String?
  /// What of the session's traffic is kept in the document beside the board; nil: nothing.
  package var recordedTraffic: TrafficScope?
  /// The port and the links that several nodes of a process share; nil: the node has its own.
  ///
  /// Whoever made it asks the node of a session what resources it wants: ``Node/wants(_:)``.
  package var transport: PeerTransport?
  /// What lets us serve a board as the relay of another host; nil: it is ours.
  package var carriage: RelayHosting?
  /// The relay that is to carry the board we host; nil: none.
  package var carrier: Carrier?
  /// Whether a board that is made is ours: others write on it as far as we let them.
  package var isOwned = false
  /// What tells such a board from others of ours; nil draws it.
  package var salt: [UInt8]?
  /// Whether we stay when everybody else has left: the board is announced as a relay's.
  package var isRelay = false
  /// Whether each photo has a file of its own besides the board, for events that name it.
  ///
  /// Otherwise a photo is stored in the board only, and has a file while it is read or sent.
  package var keepsPhotoFiles = true
  /// Whether other peers can connect to this one.
  package var isListening = true
  /// Where to listen; nil means any address, on the default port or the next free one.
  package var listen: PeerAddress?
  /// The only interface to be found on; nil means all.
  package var interface: String?
  /// Whether the board is announced: one that is hosted, or was found nearby and lets others in by us.
  package var isAnnounced = true
  /// The admission policy; nil means the default.
  ///
  /// The default is `code` for a host. A joiner uses the code that it holds, or else `known`.
  package var admission: Admission?
  /// The join code; a host that needs a code and has none creates one.
  package var code: JoinCode?
  /// The maximum number of peers on a hosted board, including the local one.
  package var maximumPeers = 16
  /// What happens to files that members offer.
  package var files = FilePolicy.ask
  /// The time after which a peer whose link broke is lost (LIV-4).
  package var lostAfter = Duration.seconds(60)
  /// How long piped commands of a joined peer wait for the board.
  package var catchUpTimeout = Duration.seconds(30)
  /// Whether to use a copy of another peer's board offline, without announcing or searching.
  package var isOffline = false
  /// The time after which a joined member that did not introduce itself counts as one without a
  /// board.
  var introductionTime = Duration.seconds(5)
  /// Runs before the node reads the first event of its session; tests use it to fix the order of
  /// tasks.
  var beforeSessionEvents: (@Sendable (Node) async -> Void)?
  /// What makes pages of pixels and for printers; nil where the program cannot.
  package var pages: (any PageWriter)?
  /// What makes photos of pictures that no board takes; nil where the program cannot.
  package var photos: (any PhotoConverter)?
  /// How boards are announced and found; nil means neither.
  package var discovery: (any Discovery)?
  /// Where to log.
  package var logger: Logger

  /// Makes a configuration with the defaults.
  package init(
    part: Part,
    displayName: String,
    identity: PeerIdentity,
    dataDirectory: String,
    logger: Logger
  ) {
    self.part = part
    self.displayName = PlainText.line(displayName)
    self.identity = identity
    self.dataDirectory = dataDirectory
    self.logger = logger
  }

  var inboxDirectory: String { dataDirectory + "/inbox" }
  var assetsDirectory: String { dataDirectory + "/assets" }
  var answersDirectory: String { dataDirectory + "/answers" }
  var boardsDirectory: String { dataDirectory + "/boards" }

  /// Creates the directories of the node, if they are missing.
  ///
  /// - Throws: ``NodeError`` that names the directory and the reason.
  func createDirectories() throws(NodeError) {
    for directory in [
      dataDirectory, inboxDirectory, assetsDirectory,
      boardsDirectory, answersDirectory,
    ] {
      do {
        try FileManager.default.createDirectory(
          atPath: directory,
          withIntermediateDirectories: true,
          attributes: [.posixPermissions: 0o700]
        )
      } catch {
        throw NodeError(
          .cannotCreate,
          "the directory \(directory) cannot be created: "
            + DiskSurvey.creationFailure(of: directory)
        )
      }
    }
  }
}

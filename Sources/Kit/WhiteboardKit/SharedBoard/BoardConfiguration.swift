import FoundationEssentials
import Logging
import PeerDiscovery
import PeerSession
import SessionReplay
import Whiteboard
import WhiteboardDocument
import WhiteboardRendering
import WhiteboardSync

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

package struct BoardConfiguration: Sendable {
  package enum Part: Sendable {
    /// Creates the board if it does not exist.
    case host(boardName: String)
    /// Creates the board with this name if it does not exist.
    case keep(board: SessionID, boardName: String)
    /// Waits at most `patience` for the announcement of the board.
    case join(JoinTarget, patience: Duration)
  }

  package struct RelayHosting: Sendable {
    /// Set if the host has just moved the session to this relay; nil if the session must be opened again.
    package let session: Session?
    package let host: PeerID
    package let grant: RelayGrant

    package init(_ session: Session?, host: PeerID, grant: RelayGrant) {
      self.session = session
      self.host = host
      self.grant = grant
    }
  }

  package enum Carrier: Sendable, Equatable {
    /// If a key is given, the relay must have this key.
    case at(HostPort, PeerID?)
    case nearby
  }

  package enum Script: Sendable, Equatable {
    /// The board runs until it is requested to close.
    case none
    /// The board closes when all members have received its changes. After a failed command, the board closes
    /// immediately or, if `keepsGoing` is true, at the end of the input.
    case run(keepsGoing: Bool)
  }

  package enum Admission: String, Sendable, CaseIterable {
    case ask, code, known, anyone
  }

  package enum FilePolicy: Sendable {
    case ask, accept, refuse
  }

  package enum FileSenders: String, CaseIterable, Sendable {
    case anyone
    /// See `PeerStore.isTrusted(_:)`.
    case trusted
  }

  package var part: Part
  package var script = Script.none
  /// Whether a user types the commands, so that quitting does not wait for unfinished commands.
  package var isTyped = false
  package var displayName: String
  package var identity: PeerIdentity
  package var peerStore: PeerStore?
  /// The data directory; if it is missing, it is created, and only its owner can access it.
  package var dataDirectory: String
  package var personalSettings: PersonalSettings?
  /// Whether the display name changes if another program stores a new name in the personal settings. False if the user
  /// chose the name for this run.
  package var usesStoredName = true
  /// Whether boards are saved, so that a board with the same name is available in the next run.
  package var remembersBoards = true
  /// The file of the board to host; nil for the file with the board's name in the data directory.
  package var boardFile: String?
  /// Whether to use the members, the join code, a removal and the browser links in a file that another computer or
  /// program wrote (REC-20).
  package var trustsFile = false
  /// The list of board files that several boards of a process share while they are opened.
  package var listing: LibraryListing?
  /// The file that records a joined board without changing it; if nil, the board is saved in the data directory.
  package var recordingFile: String?
  /// The part of the session's traffic that the board's file records; nil for none.
  package var recordedTraffic: TrafficScope?
  /// The transport that several boards of a process share; nil if the board has its own transport. The owner of the
  /// transport must let the session's board decide about resources; see ``SharedBoard/wants(_:)``.
  package var transport: PeerTransport?
  /// The session of another host that this program relays; nil if this program relays no session.
  package var carriage: RelayHosting?
  /// The relays to which a hosted board can move; nil if the board does not move.
  package var carrier: Carrier?
  /// Whether the local user owns a new board, and decides which members can edit it.
  package var isOwned = false
  /// The salt that distinguishes a new board from other boards of the same owner; nil for a random salt.
  package var salt: [UInt8]?
  /// Whether the local peer is a relay, which stays in the session when all other members have left.
  package var isRelay = false
  /// Whether each photo also has a file outside the board, for events that contain the file's path. If false, a photo
  /// is stored only in the board's file, and has its own file only while the photo is read or sent.
  package var keepsPhotoFiles = true
  package var isListening = true
  /// The address on which to listen; nil for all addresses, on the default port or the next free port.
  package var listen: PeerAddress?
  package var interface: String?
  /// Whether to announce the board. A joined board is announced only if it was found nearby and the local peer can
  /// admit others.
  package var isAnnounced = true
  /// The admission policy; nil for the default, which is ``hostAdmission`` for a host. A member admits peers as the
  /// host does, if the host allows this (MEM-17).
  package var admission: Admission?
  /// The policy of a host whose user chose no policy, neither now nor when the board was hosted before
  /// (``HostChoice``). The host may open the board, or join members that have it open.
  package var hostAdmission = Admission.code
  /// Whether members may admit newcomers to a hosted board if the host asks its user; nil means that members may,
  /// unless the board has an owner (TCK-6).
  package var membersAdmit: Bool?
  /// The join code; if it is nil, a host that needs a code creates one.
  package var code: JoinCode?
  /// The maximum number of peers on a hosted board, including the local peer; nil means 16, or 128 in a star.
  package var maximumPeers: Int?
  /// The topology of a hosted board; nil means the board's earlier topology (RLY-18).
  package var topology: SessionTopology?
  package var files = FilePolicy.ask
  /// The members whose files may be accepted. Files of other members are refused, and the user gets a note.
  package var fileSenders = FileSenders.anyone
  /// The folder in which received files are saved under their own names; nil leaves them in the inbox.
  package var saveDirectory: String?
  /// The maximum size of the inbox, in bytes; nil means the default.
  package var inboxQuota: Int?
  /// Answers a request to join; nil if the user answers with commands.
  var answerInvitation: (@Sendable (Invitation) async -> InvitationAnswer)?
  /// Shows the verification words to the user when the local peer joins, and returns the user's answer if the words
  /// must be compared; nil if events show the words and commands answer.
  package var compareWords: (@Sendable (PeerSession.Verification) async -> WordComparison)?
  /// Reads a byte stream that a member opened; nil if events report its bytes.
  var readStream: (@Sendable (PeerStream, SharedBoard) async -> Void)?
  /// The time after which a peer whose link is broken is considered lost (LIV-4).
  package var lostAfter = Duration.seconds(60)
  /// The time limit for each step of admission that does not wait for a user.
  package var stepTimeout = Duration.seconds(5)
  /// The maximum time that piped commands of a joined peer wait for the board's contents.
  package var catchUpTimeout = Duration.seconds(30)
  /// Whether to use a copy of another peer's board offline, without announcing or searching.
  package var isOffline = false
  /// The time after which a new member that sent no introduction is treated as a member without a board.
  var introductionTime = Duration.seconds(5)
  /// Runs before the board reads the first event of its session. Tests use this function to fix the order of tasks.
  var beforeSessionEvents: (@Sendable (SharedBoard) async -> Void)?
  package var pages: (any PageWriter)?
  package var photos: (any PhotoConverter)?
  package var browserGateway: (any BrowserGateway)?
  /// The painter for broadcasts of the board; nil if this program cannot broadcast boards.
  package var framePainter: (any FramePainter)?
  /// The broadcast that starts when the board opens; nil for none.
  package var broadcast: Broadcast.Options?
  /// Serves each broadcast of the board over HTTP until it ends or the task is canceled, and reports the links to the
  /// pictures and the fingerprint of the server's certificate; nil if only members watch the broadcasts.
  package var serveBroadcast:
    (
      @Sendable (Broadcast, _ report: @escaping @Sendable (_ links: [String], _ fingerprint: String?) async -> Void)
        async throws -> Void
    )?
  /// Whether other computers can reach the server of ``serveBroadcast``. Then the local member must have the right to
  /// admit people who view the board (CST-18).
  package var servesBroadcastToOthers = false
  /// Whether browsers can join a hosted board from the start.
  package var servesBrowsers = false
  /// Whether the pages of guests can get links to invite others; nil means that the pages can, unless the board has an
  /// owner.
  package var guestsInvite: Bool?
  package var discovery: (any Discovery)?
  package var logger: Logger

  package init(part: Part, displayName: String, identity: PeerIdentity, dataDirectory: String, logger: Logger) {
    self.part = part
    self.displayName = PlainText.line(displayName)
    self.identity = identity
    self.dataDirectory = dataDirectory
    self.logger = logger
  }

  var inboxDirectory: String { dataDirectory + "/inbox" }
  var assetsDirectory: String { dataDirectory + "/assets" }
  var answersDirectory: String { dataDirectory + "/answers" }
  var boardsDirectory: String { BoardFile.directory(inDataDirectory: dataDirectory) }

  /// Whether a member admits newcomers as the host does (MEM-17). A code that the local user chose for another peer's
  /// board could differ from the board's code.
  var followsHost: Bool {
    if carriage != nil { return true }
    guard case .host = part else { return admission == nil || admission == .code }
    return (admission ?? hostAdmission) == .code
  }

  var boardLibrary: BoardLibrary {
    guard remembersBoards else { return BoardLibrary(directory: boardsDirectory) }
    var seal = DocumentSeal.loadOrCreate(inDirectory: dataDirectory)
    seal.acceptsAll = trustsFile
    return BoardLibrary(directory: boardsDirectory, seal: seal, listing: listing)
  }

  var isSearching: Bool {
    guard case .join(let target, _) = part else { return false }
    switch target {
    case .nearby, .name: return true
    case .link, .address: return false
    }
  }

  /// The configuration of a transport that only this board uses.
  var transportConfiguration: TransportConfiguration {
    var transport = TransportConfiguration(
      identity: identity,
      displayName: displayName,
      inboxDirectory: inboxDirectory,
      logger: logger
    )
    transport.isListening = isListening
    transport.listen = listen
    transport.interface = interface
    if let maximumPeers { (transport.maximumPeers, transport.maximumPeersInStar) = (maximumPeers, maximumPeers) }
    transport.topology = topology
    transport.isHub = carrier == nil
    transport.lostAfter = lostAfter
    transport.stepTimeout = stepTimeout
    if let inboxQuota { transport.inboxQuota = inboxQuota }
    transport.peerStore = peerStore
    return transport
  }

  /// Throws an error that names the directory and the reason.
  func createDirectories() throws(WhiteboardError) {
    for directory in [dataDirectory, inboxDirectory, assetsDirectory, boardsDirectory, answersDirectory] {
      do {
        try FileManager.default.createDirectory(
          atPath: directory,
          withIntermediateDirectories: true,
          attributes: [.posixPermissions: 0o700]
        )
      } catch {
        throw WhiteboardError(
          .cannotCreate,
          "the directory \(directory) cannot be created: " + DiskSurvey.creationFailure(of: directory)
        )
      }
    }
  }
}

/// Checks and converts pictures. A converter needs libraries that not every program contains.
package protocol PhotoConverter: Sendable {
  /// Returns the photo for a JPEG, PNG or WebP; throws if the picture is damaged. If `mayCompress` is true, a large PNG
  /// without transparency becomes a JPEG.
  func photo(of bytes: [UInt8], mayCompress: Bool) throws(ConversionError) -> [UInt8]
}

package struct ConversionError: Error, Hashable, Sendable {
  /// The problem with the file, worded so that it can follow the file's name.
  package let message: String

  package init(_ message: String) { self.message = message }
}

enum SystemTime {
  /// The processor time that the current thread has used, in seconds.
  static var processorTime: Double {
    var time = timespec()
    guard clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 else { return 0 }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// The current time in milliseconds since 1970; zero if the clock shows an earlier time.
  static var milliseconds: UInt64 { Moment.now().wall }

  /// Returns the end of a timeout that begins now, in RFC 3339 format.
  static func deadlineText(_ timeout: Duration) -> String {
    Timestamp.text(milliseconds: milliseconds + UInt64(max(timeout / .milliseconds(1), 0)))
  }
}

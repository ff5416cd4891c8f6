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
    /// If a key is given, the relay must have it.
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
    case ask
    case code
    case known
    case anyone
  }

  package enum FilePolicy: Sendable {
    case ask
    case accept
    case refuse
  }

  package enum FileSenders: String, CaseIterable, Sendable {
    case anyone
    /// See `PeerStore.isTrusted(_:)`.
    case trusted
  }

  package var part: Part
  package var script = Script.none
  /// If a user types the commands, quitting does not wait for unfinished commands.
  package var isTyped = false
  package var displayName: String
  package var identity: PeerIdentity
  /// The peers that were seen in earlier sessions; nil if no peers are remembered.
  package var peerStore: PeerStore?
  /// The directory is created if it is missing; only its owner can access it.
  package var dataDirectory: String
  /// The stored name and icon of the user; nil if they are not stored.
  package var personalSettings: PersonalSettings?
  /// Whether boards are saved, so that a board with the same name is available in the next run.
  package var remembersBoards = true
  /// Nil for the file with the board's name in the data directory.
  package var boardFile: String?
  /// Whether to use the members, the join code, a removal and the browser links in a file that another computer or
  /// program wrote (REC-20).
  package var trustsFile = false
  /// Shared by several boards of a process while they are opened.
  package var listing: LibraryListing?
  /// Records a joined board without changing it; if nil, the board is saved in the data directory.
  package var recordingFile: String?
  /// Nil if the board's file records no traffic.
  package var recordedTraffic: TrafficScope?
  /// Shared by several boards of a process; nil if the board has its own transport. The owner of the transport must let
  /// the session's board decide about resources; see ``SharedBoard/wants(_:)``.
  package var transport: PeerTransport?
  /// Set if this program relays the session of another host.
  package var carriage: RelayHosting?
  /// Nil if a hosted board does not move to a relay.
  package var carrier: Carrier?
  /// Whether the local user owns a new board, and decides which members can edit it.
  package var isOwned = false
  /// Distinguishes a new board from other boards of the same owner; nil for a random salt.
  package var salt: [UInt8]?
  /// A relay stays in the session when all other members have left, and is announced as a relay.
  package var isRelay = false
  /// Whether each photo also has a file outside the board, for events that contain the file's path. If false, a photo
  /// is stored only in the board's file, and has its own file only while the photo is read or sent.
  package var keepsPhotoFiles = true
  package var isListening = true
  /// Nil for all addresses, on the default port or the next free port.
  package var listen: PeerAddress?
  /// Nil to use all interfaces.
  package var interface: String?
  /// A joined board is announced only if it was found nearby and the local peer can admit others.
  package var isAnnounced = true
  /// Nil for the default: ``hostAdmission`` for a host. A member admits peers as the host does, if the host allows this
  /// (MEM-17).
  package var admission: Admission?
  /// The policy of a host whose user chose none, neither now nor when the board was hosted before (``HostChoice``). The
  /// host may open the board, or join members that have it open.
  package var hostAdmission = Admission.code
  /// Whether members may admit newcomers to a hosted board if the host asks its user; nil means that they may unless
  /// the board has an owner (TCK-6).
  package var membersAdmit: Bool?
  /// If the code is nil, a host that needs a code creates one.
  package var code: JoinCode?
  /// Includes the local peer.
  package var maximumPeers = 16
  package var files = FilePolicy.ask
  /// Files of other members are refused, and the user gets a note.
  package var fileSenders = FileSenders.anyone
  /// Received files are saved here under their own names; nil leaves them in the inbox.
  package var saveDirectory: String?
  /// In bytes; nil means the default.
  package var inboxQuota: Int?
  /// Answers a request to join; nil if the user answers with commands.
  var answerInvitation: (@Sendable (Invitation) async -> InvitationAnswer)?
  /// Reads a byte stream that a member opened; nil if events report its bytes.
  var readStream: (@Sendable (PeerStream, SharedBoard) async -> Void)?
  /// A peer is considered lost when its link has been broken for this time (LIV-4).
  package var lostAfter = Duration.seconds(60)
  /// The time limit for each step of admission that does not wait for a user.
  package var stepTimeout = Duration.seconds(5)
  /// The maximum time that piped commands of a joined peer wait for the board's contents.
  package var catchUpTimeout = Duration.seconds(30)
  /// Whether to use a copy of another peer's board offline, without announcing or searching.
  package var isOffline = false
  /// A new member that sends no introduction in this time is treated as a member without a board.
  var introductionTime = Duration.seconds(5)
  /// Runs before the board reads the first event of its session. Tests use this to fix the order of tasks.
  var beforeSessionEvents: (@Sendable (SharedBoard) async -> Void)?
  /// Exports boards to images and documents; nil if the program cannot export.
  package var pages: (any PageWriter)?
  /// Checks photos and converts other pictures to photos; nil if the program cannot do this.
  package var photos: (any PhotoConverter)?
  /// Nil if the program has no gateway for browsers.
  package var browserGateway: (any BrowserGateway)?
  /// Whether browsers can join a hosted board from the start.
  package var servesBrowsers = false
  /// Whether the pages of guests can get links to invite others; nil means that they can unless the board has an owner.
  package var guestsInvite: Bool?
  /// Nil for no announcements and no search.
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

  /// For a transport that only this board uses.
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
    transport.maximumPeers = maximumPeers
    transport.lostAfter = lostAfter
    transport.stepTimeout = stepTimeout
    if let inboxQuota { transport.inboxQuota = inboxQuota }
    transport.peerStore = peerStore
    return transport
  }

  /// The error names the directory and the reason.
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

/// Checks and converts pictures. This needs libraries that not every program contains.
package protocol PhotoConverter: Sendable {
  /// Returns the photo for a JPEG, PNG or WebP; throws if the picture is damaged. If `mayCompress` is true, a large PNG
  /// without transparency becomes a JPEG.
  func photo(of bytes: [UInt8], mayCompress: Bool) throws(ConversionError) -> [UInt8]
}

package struct ConversionError: Error, Hashable, Sendable {
  /// The wording can follow the file's name.
  package let message: String

  package init(_ message: String) { self.message = message }
}

enum SystemTime {
  /// Of the current thread, in seconds.
  static var processorTime: Double {
    var time = timespec()
    guard clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 else { return 0 }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Since 1970; zero if the clock shows an earlier time.
  static var milliseconds: UInt64 { Moment.now().wall }

  /// The timeout begins now; the result is in RFC 3339 format.
  static func deadlineText(_ timeout: Duration) -> String {
    Timestamp.text(milliseconds: milliseconds + UInt64(max(timeout / .milliseconds(1), 0)))
  }
}

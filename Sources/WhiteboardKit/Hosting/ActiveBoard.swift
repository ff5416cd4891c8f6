import Logging
import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// A board that is open in a session, with the components that work on it.
///
/// Performs the actions of the replica. Confined to the actor of its board.
final class ActiveBoard {
  let runtime: BoardRuntime
  let configuration: BoardConfiguration
  let members: Members
  let persistence: Persistence
  let photos: PhotoFiles
  let outbox: Outbox
  let transfers: Transfers
  let publisher: ChangePublisher
  private let answers: CommandAnswers
  private let transport: PeerTransport

  let boardSession: BoardSession
  let replica: Replica
  let authors: Authors
  let reports: BoardReports
  let catchUp: CatchUp
  private(set) lazy var profiles = Profiles(
    runtime,
    configuration.personalSettings,
    replica,
    of: self,
    members: members,
    persistence: persistence
  )
  /// The component that runs the commands that change the board.
  private(set) lazy var editor = BoardEditor(runtime, replica, of: self, members: members, photos: photos)
  private(set) lazy var roles = Roles(runtime, replica, of: self, members: members)
  private(set) lazy var admission = BoardAdmission(
    runtime,
    configuration,
    boardSession,
    replica,
    members: members,
    roles: roles,
    persistence: persistence,
    browsers: browsers
  )
  /// The access of browsers to the board.
  private(set) lazy var browsers = BrowserAccess(
    runtime,
    configuration,
    boardSession,
    replica,
    roles: roles,
    persistence: persistence,
    transport
  )
  private(set) lazy var queries = Queries(
    runtime,
    session,
    replica,
    members: members,
    persistence: persistence,
    reports: reports,
    editor: editor,
    roles: roles
  )
  private(set) lazy var messages = ApplicationMessages(
    runtime,
    session,
    replica,
    of: self,
    members: members,
    outbox: outbox,
    answers: answers
  )
  private(set) lazy var convergence = Convergence(
    runtime,
    configuration,
    session,
    replica,
    of: self,
    members: members,
    outbox: outbox,
    messages: messages
  )
  private(set) lazy var versions = BoardVersions(runtime, persistence: persistence, editor: editor)
  private(set) lazy var files = ImportExport(
    runtime,
    configuration,
    boardSession,
    authors: authors,
    photos: photos,
    editor: editor
  )

  init(
    _ runtime: BoardRuntime,
    _ configuration: BoardConfiguration,
    _ board: BoardSession,
    _ replica: Replica,
    _ transport: PeerTransport,
    members: Members,
    persistence: Persistence,
    photos: PhotoFiles,
    outbox: Outbox,
    transfers: Transfers,
    publisher: ChangePublisher,
    answers: CommandAnswers,
    hiddenAuthors: HiddenAuthors
  ) {
    self.runtime = runtime
    self.configuration = configuration
    self.members = members
    self.persistence = persistence
    self.photos = photos
    self.outbox = outbox
    self.transfers = transfers
    self.publisher = publisher
    self.answers = answers
    boardSession = board
    self.replica = replica
    self.transport = transport
    authors = Authors(board: replica.board, members: members, persistence: persistence)
    reports = BoardReports(
      runtime,
      replica,
      members: members,
      photos: photos,
      hiddenAuthors: hiddenAuthors,
      publisher: publisher
    )
    catchUp = CatchUp(runtime, configuration, board.session, replica, members: members, publisher: publisher)
  }

  var session: Session { boardSession.session }

  /// Whether the session knows that the owner of an owned board is its host.
  private var isHostConfirmed = false

  /// Confirms the owner of an owned board as the host of the session, as soon as the owner is known (MEM-15).
  func confirmHost() {
    guard replica.isOwned, !isHostConfirmed, let owner = replica.owner else { return }
    isHostConfirmed = true
    session.confirm(owner: PeerID(owner))
  }

  /// Stores the title of the board, so that lists and commands can find the board by its title.
  nonisolated(nonsending) func storeTitle() async {
    guard let document = persistence.document, configuration.recordingFile == nil else { return }
    do throws(DocumentError) {
      try await boardSession.storeTitle(reports.settings.title?.raw ?? "", in: document)
    } catch { configuration.logger.warning("The title was not stored.", metadata: ["reason": "\(error.message)"]) }
  }

  /// Hides an author on all boards, or shows it again.
  ///
  /// - Parameters:
  ///   - word: The name or id prefix of the author.
  ///   - isHidden: Whether to hide the author.
  /// - Returns: The number of objects on this board that were hidden or shown.
  /// - Throws: ``CommandError`` if no author matches, or the change cannot be stored.
  nonisolated(nonsending) func setAuthor(_ word: String, isHidden: Bool) async throws(CommandError) -> CommandOutcome {
    let hidden = reports.hiddenAuthors
    let author = try authors.find(word, or: hidden.members)
    guard !isHidden || author != replica.board.member else {
      throw CommandError(.badArgument, "you cannot hide yourself")
    }
    guard hidden.contains(author) != isHidden else {
      return CommandOutcome(count: isHidden ? reports.objectsOfAuthor(author).count : 0)
    }
    try await hidden.set(author, isHidden: isHidden)
    return CommandOutcome(count: reports.setShown(!isHidden, author: author))
  }
}

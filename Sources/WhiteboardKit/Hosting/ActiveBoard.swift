import Logging
import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// A board that is open in a session, with the parts that work on it.
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

  let boardSession: BoardSession
  let replica: Replica
  let authors: Authors
  let reports: BoardReports
  let profiles: Profiles
  let roles: Roles
  let admission: BoardAdmission
  let queries: Queries
  let messages: ApplicationMessages
  let catchUp: CatchUp
  let convergence: Convergence
  let versions: BoardVersions
  let files: ImportExport
  /// The part that runs the commands that change the board.
  let editor: BoardEditor

  init(
    _ runtime: BoardRuntime,
    _ configuration: BoardConfiguration,
    _ board: BoardSession,
    _ replica: Replica,
    members: Members,
    persistence: Persistence,
    photos: PhotoFiles,
    outbox: Outbox,
    transfers: Transfers,
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
    let session = board.session
    boardSession = board
    self.replica = replica
    authors = Authors(board: replica.board, members: members, persistence: persistence)
    reports = BoardReports(
      runtime,
      replica,
      members: members,
      photos: photos,
      hiddenAuthors: hiddenAuthors
    )
    profiles = Profiles(
      runtime,
      configuration.personalSettings,
      replica,
      members: members,
      persistence: persistence
    )
    editor = BoardEditor(runtime, replica, members: members, photos: photos)
    roles = Roles(runtime, replica, members: members)
    admission = BoardAdmission(
      runtime,
      configuration,
      board,
      replica,
      members: members,
      roles: roles,
      persistence: persistence
    )
    queries = Queries(
      runtime,
      session,
      replica,
      members: members,
      persistence: persistence,
      reports: reports,
      editor: editor,
      roles: roles
    )
    messages = ApplicationMessages(
      runtime,
      session,
      replica,
      members: members,
      outbox: outbox,
      answers: answers
    )
    catchUp = CatchUp(runtime, configuration, session, replica, members: members)
    convergence = Convergence(
      runtime,
      configuration,
      session,
      replica,
      members: members,
      outbox: outbox,
      messages: messages
    )
    versions = BoardVersions(runtime, persistence: persistence, editor: editor)
    files = ImportExport(
      runtime,
      configuration,
      board,
      authors: authors,
      photos: photos,
      editor: editor
    )
  }

  var session: Session { boardSession.session }

  /// Stores the title of the board, so that lists and commands can find the board by its title.
  nonisolated(nonsending) func storeTitle() async {
    guard let document = persistence.document, configuration.recordingFile == nil else { return }
    do throws(DocumentError) {
      try await boardSession.storeTitle(reports.settings.title?.raw ?? "", in: document)
    } catch {
      configuration.logger.warning(
        "The title was not stored.",
        metadata: ["reason": "\(error.message)"]
      )
    }
  }

  /// Hides an author on all boards, or shows it again.
  ///
  /// - Parameters:
  ///   - word: The name or id prefix of the author.
  ///   - isHidden: Whether to hide the author.
  /// - Returns: The number of objects of this board that are no longer shown, or are shown again.
  /// - Throws: ``CommandError`` if no author matches, or the change cannot be stored.
  nonisolated(nonsending) func setAuthor(
    _ word: String,
    isHidden: Bool
  ) async throws(CommandError) -> CommandOutcome {
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

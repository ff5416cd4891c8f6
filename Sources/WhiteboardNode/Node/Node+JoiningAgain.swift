import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Joins a board again: the copy on this computer answers the questions of a first join.
extension Node {
  /// What a copy of a board stores for joining the board again.
  struct StoredMember {
    /// The board.
    let board: SessionID
    /// Who belongs to it, with the ticket that admits this peer.
    let membership: MembershipRecord?
    /// The join code with which this peer was admitted; nil if there was none, or it is wrong by now.
    let code: JoinCode?
  }

  /// The most bytes of a board's name.
  private static let nameLimit = 128
  /// The most copies that are looked for at an address.
  private static let copiesLimit = 4

  /// Returns what the library stores for joining a board again; nil if there is no copy.
  func storedMember(of board: SessionID) async -> StoredMember? {
    guard configuration.remembersBoards, configuration.recordingFile == nil else { return nil }
    let library = BoardLibrary(directory: configuration.boardsDirectory)
    guard let file = try? await library.file(of: board.bytes) else { return nil }
    return await storedMember(of: board, inFile: file)
  }

  private func storedMember(of board: SessionID, inFile file: String) async -> StoredMember? {
    guard let document = try? await BoardDocument.open(at: file, mode: .reading) else { return nil }
    let stored = StoredMember(
      board: board,
      membership: await storedMembership(in: document),
      code: (try? await document.code()).flatMap { try? JoinCode(words: $0) }
    )
    try? await document.close()
    return stored
  }

  /// Returns the boards of the library that had a member at an address, those changed most recently first.
  ///
  /// An address says nothing of the board there, but it is likely the one that was there before.
  func storedMembers(at address: PeerAddress) async -> [StoredMember] {
    guard configuration.remembersBoards, configuration.recordingFile == nil else { return [] }
    let library = BoardLibrary(directory: configuration.boardsDirectory)
    var found: [StoredMember] = []
    for summary in (try? await library.list(by: .changed)) ?? [] {
      guard found.count < Self.copiesLimit, let board = summary.board,
        let id = SessionID(bytes: board),
        let stored = await storedMember(of: id, inFile: summary.path),
        let record = stored.membership,
        record.members.contains(where: { $0.addresses.contains(address) })
      else { continue }
      found.append(stored)
    }
    return found
  }

  /// Forgets the stored code of a board, which admits nobody any more.
  func forgetCode(of board: SessionID) async {
    let library = BoardLibrary(directory: configuration.boardsDirectory)
    guard let file = try? await library.file(of: board.bytes),
      let document = try? await BoardDocument.open(at: file, mode: .writing)
    else { return }
    try? await document.forgetCode()
    try? await document.close()
  }

  // MARK: - The name of the board

  /// Gives the board that was joined the name that its host gave it; the start of its id if it has none.
  func takeName(of session: Session) async {
    if boardName.isEmpty {
      let name = session.name.raw
      boardName = name.isEmpty ? session.id.short : name
    } else if session.name.isEmpty {
      // A host that does not say the name in the handshake announced it.
      await session.setName(boardName)
    }
  }

  /// Takes over the name of the board into a document that was made before the name was known.
  ///
  /// - Throws: ``DocumentError`` if the file cannot be written.
  func correctName(
    in document: BoardDocument,
    of session: Session
  ) async throws(DocumentError) {
    guard isProvisional(try await document.name(), session), !isProvisional(boardName, session)
    else { return }
    try await document.rename(to: boardName)
  }

  /// Stores the title of the board, by which lists and commands know it too; it also takes the place of a name that
  /// only stands for one.
  func storeTitle() async {
    guard let document = persistence.document, let session, configuration.recordingFile == nil
    else { return }
    let title = board?.reports.settings.title ?? ""
    do throws(DocumentError) {
      if try await document.title() ?? "" != title { try await document.setTitle(title) }
      guard !title.isEmpty, isProvisional(boardName, session) else { return }
      boardName = Self.name(fromTitle: title)
      try await document.rename(to: boardName)
      await session.setName(boardName)
    } catch {
      configuration.logger.warning(
        "The title was not stored.",
        metadata: ["reason": "\(error.message)"]
      )
    }
  }

  /// Whether a name only stands for one that was not known.
  private func isProvisional(_ name: String, _ session: Session) -> Bool {
    name.isEmpty || name == session.id.short
  }

  /// As much of a title as a name may have.
  private static func name(fromTitle title: String) -> String {
    var name = ""
    for character in title {
      guard name.utf8.count + character.utf8.count <= nameLimit else { break }
      name.append(character)
    }
    return name
  }
}

import Logging
import PeerSession
import WhiteboardDocument

/// Storing the membership with the board, so that it survives a restart (MEM-7).
extension Node {
  /// Returns what a document stores of its board's membership; nil where it stores nothing.
  ///
  /// A record that cannot be read is no reason not to open a board: its members are met again.
  func storedMembership(in document: BoardDocument) async -> MembershipRecord? {
    guard let text = try? await document.membership() else { return nil }
    let record = MembershipRecord(json: text)
    if record == nil {
      configuration.logger.warning("Stored membership is unreadable and was ignored.")
    }
    return record
  }

  /// Returns the stored membership of a board that the node is about to join.
  func storedMembership(of board: SessionID) async -> MembershipRecord? {
    guard configuration.remembersBoards, configuration.recordingFile == nil else { return nil }
    let library = BoardLibrary(directory: configuration.boardsDirectory)
    guard let file = try? await library.file(of: board.bytes),
      let document = try? await BoardDocument.open(at: file, mode: .reading)
    else { return nil }
    let record = await storedMembership(in: document)
    try? await document.close()
    return record
  }

  /// Stores the membership of the session each time that it changes, while the session lasts.
  func storeMembership(of session: Session) async {
    guard !configuration.isOffline else { return }
    for await record in session.membership {
      guard let document, configuration.recordingFile == nil else { continue }
      await storeMembership(record, in: document)
    }
  }

  /// Stores the membership, or reports that it is not on disk and has it stored with whatever is
  /// written next; until then a restart needs the code or a member's ticket.
  func storeMembership(_ record: MembershipRecord, in document: BoardDocument) async {
    unstoredMembership = record
    do throws(DocumentError) {
      try await document.setMembership(record.json, code: code?.text)
      // Another may have come meanwhile.
      guard unstoredMembership == record else { return }
      unstoredMembership = nil
      keeper.membershipFailure = nil
    } catch {
      keeper.membershipFailure = error
      planKeyframe()
      configuration.logger.warning(
        "Membership was not stored.",
        metadata: ["reason": "\(error.message)"]
      )
    }
    tellSaveState()
  }

  /// Tells the session which peers of its board discovery shows by now (MEM-9).
  func reportFoundMembers(to session: Session) {
    for peer in nearby.announcers(of: session.id) { reportFound(peer, to: session) }
  }
}

import Logging
import PeerSession
import WhiteboardDocument

/// Storing the membership with the board, so that it survives a restart (MEM-7).
extension Node {
  /// Returns the membership that a document stores; nil if it stores none.
  ///
  /// An unreadable record is ignored, since the board can be opened without it.
  func storedMembership(in document: BoardDocument) async -> MembershipRecord? {
    guard let text = try? await document.membership() else { return nil }
    let record = MembershipRecord(json: text)
    if record == nil {
      configuration.logger.warning("Stored membership is unreadable and was ignored.")
    }
    return record
  }

  /// Stores the membership of the session whenever it changes, until the session ends.
  func storeMembership(of session: Session) async {
    guard !configuration.isOffline else { return }
    for await record in session.membership where configuration.recordingFile == nil {
      await persistence.storeMembership(record, code: code)
    }
  }

  /// Passes the peers that discovery shows for this board to the session (MEM-9).
  func reportFoundMembers(to session: Session) {
    for peer in nearby.announcers(of: session.id) { reportFound(peer, to: session) }
  }
}

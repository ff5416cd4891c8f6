import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Further codes by which others come in.
extension Node {
  /// Makes a code, and tells it.
  ///
  /// - Parameters:
  ///   - terms: What it lets do, and for how long.
  ///   - request: The mark of the verb that asks.
  /// - Returns: What there is to tell of it.
  /// - Throws: ``CommandError``: why there is none.
  package func invite(
    _ terms: InvitationTerms,
    request: RequestMark? = nil
  ) async throws(CommandError) -> NodeEvent.Invited {
    guard let serving else {
      throw CommandError(.notConnected, "the board is not open")
    }
    let (session, replica) = (serving.board.session, serving.replica)
    guard serving.board.admission == .code else {
      throw CommandError(
        .refused,
        "this board does not let in by a code; host it with --admit code"
      )
    }
    if terms.isView {
      guard replica.isOwned else {
        throw CommandError(
          .refused,
          "on this board every admitted peer can edit; host a new one with --owned for view-only codes"
        )
      }
      guard replica.mayGrant else {
        throw CommandError(.viewer, "only the owner of the board can make view-only codes")
      }
    }
    let made = JoinCode.random()
    do throws(SessionError) {
      try await session.invite(
        made,
        label: terms.isView ? Self.viewLabel : nil,
        for: terms.seconds.map { .seconds($0) }
      )
    } catch {
      throw CommandError(error)
    }
    let end = terms.seconds.map {
      Timestamp.text(milliseconds: SystemTime.milliseconds + UInt64($0) * 1000)
    }
    return NodeEvent.Invited(
      code: made.text,
      role: terms.isView ? "viewer" : replica.isOwned ? "editor" : nil,
      link: serving.link(code: made),
      expires: end,
      request: request
    )
  }
}

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
    guard let session, let replica else {
      throw CommandError(.notConnected, "the board is not open")
    }
    guard admission == .code else {
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
      link: link(code: made),
      expires: end,
      request: request
    )
  }

  /// Makes the codes that other programs of ours ask for, for as long as the board is open.
  func takeInvitations(for board: SessionID) async {
    let directory = configuration.dataDirectory
    let watch = DirectoryWatch(OpenBoardFile.directory(in: directory))
    repeat {
      for (mark, terms) in InvitationRequest.take(about: board.text, inDataDirectory: directory) {
        var answer = InvitationRequest.Answer()
        do throws(CommandError) {
          let invited = try await invite(terms)
          answer.code = invited.code
          answer.role = invited.role
          answer.expires = invited.expires
        } catch {
          answer.refusal = error.message
        }
        InvitationRequest.answer(mark, with: answer, about: board.text, inDataDirectory: directory)
      }
    } while await watch.tick()
  }

  func link(code: JoinCode) -> String {
    guard let ready, var link = try? BoardLink(ready.link) else { return "" }
    link.code = code.text.split(separator: "-").map(String.init)
    return link.text
  }
}

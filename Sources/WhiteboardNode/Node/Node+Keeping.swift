import PeerSession
import Whiteboard
import WhiteboardSync

/// What the node does for the board's file.
extension Node {
  /// Creates the part that owns the board's file.
  func makePersistence() -> Persistence {
    let runtime = runtime
    return Persistence(
      runtime,
      configuration,
      Persistence.Environment(
        authorNames: { runtime.call { $0.authorNames } },
        hostedCode: { runtime.call { $0.hostedCode } },
        photoStored: { id in runtime.call { $0.photos.remove(id) } }
      )
    )
  }

  /// The join code of the board, if the board is hosted here.
  private var hostedCode: Persistence.HostedCode? {
    guard let session, isHosting(session) else { return nil }
    return Persistence.HostedCode(code: code)
  }

  /// Starts the timed work on the board's file, and purges old deletions.
  func lookAfterDocument() {
    persistence.runTimedWork()
    if clock.now >= nextPurge {
      nextPurge = clock.now + .seconds(60)
      purge()
    }
  }

  /// Removes what was deleted long ago (SYN-8); one of those who are here does it for all.
  private func purge() {
    guard configuration.recordingFile == nil, let replica else { return }
    let ids = deletionAges.purgeable(
      on: replica.board,
      at: now.uptime,
      excluding: replica.board.objectsInUndo
    )
    // A viewer leaves this to other members.
    guard replica.members.allSatisfy({ $0 > replica.board.member }) else { return }
    guard !ids.isEmpty else { return }
    // What is not done now is done in a minute.
    _ = try? change { (board) throws(BoardError) in
      for id in ids.prefix(1000) { try board.purge(id) }
    }
  }

  /// The display names of the members that wrote something; the start of the id if none is known.
  private var authorNames: [String] {
    guard let board = replica?.board else { return [] }
    var names: [MemberID: String] = [:]
    for line in board.chat { names[line.author] = line.name }
    return Set(board.authors.values).sorted().map { member in
      members.name(of: member) ?? persistence.names[member.description] ?? names[member]
        ?? member.shortText
    }
  }
}

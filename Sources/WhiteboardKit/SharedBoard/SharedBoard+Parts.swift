import PeerSession
import WhiteboardSync

/// Functions that create the components of the board.
extension SharedBoard {
  /// Creates the component that owns the board's file.
  func makePersistence() -> Persistence {
    let runtime = runtime
    return Persistence(
      runtime,
      configuration,
      Persistence.Environment(
        authorNames: { runtime.call { $0.board?.authors.listed ?? [] } },
        hostedCode: { runtime.call { $0.hostedCode } },
        photoStored: { id in runtime.call { $0.photos.remove(id) } }
      )
    )
  }

  /// The join code of a board that the local peer hosts; nil for other boards.
  private var hostedCode: Persistence.HostedCode? {
    guard let board = phase.board, configuration.isHosting(board.session) else { return nil }
    return Persistence.HostedCode(code: board.code)
  }

  /// Creates the component that sends messages.
  func makeOutbox() -> Outbox {
    let runtime = runtime
    return Outbox(runtime, logger: configuration.logger) { number, receipt in
      runtime.call { $0.board?.messages.accepted(number, receipt) }
    } handleSent: {
      runtime.call { $0.persistence.recordTraffic() }
    }
  }

  /// Creates the component that reads and runs commands.
  func makeCommandRunner() -> CommandRunner {
    CommandRunner(
      runtime,
      configuration,
      hasInput: input != nil,
      members: members,
      answers: answers,
      invitations: invitations,
      localRemoval: localRemoval,
      persistence: persistence,
      outbox: outbox,
      transfers: transfers
    )
  }

  /// Creates the open board and the components that work on it.
  func makeActiveBoard(_ board: BoardSession, _ replica: Replica, _ transport: PeerTransport) -> ActiveBoard {
    ActiveBoard(
      runtime,
      configuration,
      board,
      replica,
      transport,
      members: members,
      persistence: persistence,
      photos: photos,
      outbox: outbox,
      transfers: transfers,
      publisher: publisher,
      answers: answers,
      hiddenAuthors: hiddenAuthors
    )
  }

  /// Creates the component that owns resources and streams.
  func makeTransfers() -> Transfers {
    Transfers(runtime, configuration, members: members, persistence: persistence, photos: photos, publisher: publisher)
  }
}

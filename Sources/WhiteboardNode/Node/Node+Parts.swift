import PeerSession

/// The creation of the node's parts.
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
    guard let board = phase.boardSession, configuration.isHosting(board.session) else { return nil }
    return Persistence.HostedCode(code: board.code)
  }

  /// Creates the part that owns resources and streams.
  func makeTransfers() -> Transfers {
    let runtime = runtime
    return Transfers(
      runtime,
      configuration,
      members: members,
      persistence: persistence,
      photos: photos,
      performActions: { runtime.call { $0.performActions() } }
    )
  }
}

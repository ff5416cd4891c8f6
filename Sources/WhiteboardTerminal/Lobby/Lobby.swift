import PeerDiscovery
import WhiteboardKit

package struct Lobby: Sendable {
  /// A discovery that finds boards on this network.
  package let discovery: any Discovery
  /// The default name of a new board.
  package let suggestion: String
  package let isReachable: @Sendable (_ addresses: [String]) async -> Bool
  /// Whether the settings contain a join code, so that the user need not enter it.
  package let hasCode: Bool
  /// A function that returns the boards that are stored on this computer.
  package let boards: @Sendable () async -> [LobbyClient.OwnBoard]
  /// A function that returns the configuration of the board for a choice; nil if the choice is to quit.
  package let configuration: @Sendable (LobbyClient.Choice) async throws(WhiteboardError) -> BoardConfiguration?

  package init(
    discovery: any Discovery,
    isReachable: @escaping @Sendable ([String]) async -> Bool,
    suggestion: String,
    hasCode: Bool,
    boards: @escaping @Sendable () async -> [LobbyClient.OwnBoard],
    configuration: @escaping @Sendable (LobbyClient.Choice) async throws(WhiteboardError) -> BoardConfiguration?
  ) {
    self.discovery = discovery
    self.isReachable = isReachable
    self.suggestion = suggestion
    self.hasCode = hasCode
    self.boards = boards
    self.configuration = configuration
  }
}

extension LobbyClient.Choice {
  /// Returns the board whose join code the user must enter after an error; nil if a code would not help.
  func targetThatNeedsCode(after error: WhiteboardError) -> String? {
    switch self {
    case _ where error.isRemoval: nil
    // After other refusals, a code does not help, for example if the host declined or the words differ.
    case .join(let target, let code)
    where error.isAboutCode || code != nil && [.notAllowed, .usage].contains(error.code):
      target
    case .rejoin(let board, _) where error.isAboutCode: board
    default: nil
    }
  }
}

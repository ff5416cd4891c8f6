/// The role that the owner of a board gives a member.
public enum BoardRole: String, CaseIterable, Sendable {
  /// A member that can change the board.
  case editor
  /// A member that can only view the board.
  case viewer
}

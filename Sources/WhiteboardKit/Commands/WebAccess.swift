/// A change of the access of browsers to a board.
public enum WebAccess: String, CaseIterable, Equatable, Sendable {
  /// Browsers with a link can join.
  case on
  /// All guests are disconnected, and no browser can join.
  case off
  /// All links end, and the guests that joined with them are removed.
  case revoke
}

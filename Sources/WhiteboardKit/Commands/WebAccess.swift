/// A change to the access that browsers have to a board.
public enum WebAccess: String, CaseIterable, Equatable, Sendable {
  /// Browsers with a browser link can join.
  case on
  /// All guests are disconnected, and no browser can join.
  case off
  /// All browser links are revoked, and the guests that joined with them are removed.
  case revoke
}

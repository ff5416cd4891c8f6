/// What the owner of a board lets somebody be.
package enum BoardRole: String, CaseIterable, Sendable {
  /// Draws and writes.
  case editor
  /// Looks on.
  case viewer
}

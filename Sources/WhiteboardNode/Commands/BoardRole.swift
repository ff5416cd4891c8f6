/// The role that the owner of a board gives a member.
package enum BoardRole: String, CaseIterable, Sendable {
  /// Draws and writes.
  case editor
  /// Looks on.
  case viewer
}

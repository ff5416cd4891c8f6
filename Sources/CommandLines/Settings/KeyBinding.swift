/// The names of the command and the keys are not checked.
///
/// The terminal checks them, and names ``place`` in its error.
package struct KeyBinding: Hashable, Sendable {
  package let command: String
  /// The names of the keys; empty if the command has no key.
  package let keys: [String]
  /// The location of the binding: the file, a colon, and the line number.
  package let place: String

  package init(command: String, keys: [String], place: String) {
    self.command = command
    self.keys = keys
    self.place = place
  }
}

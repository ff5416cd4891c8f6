/// A line of the section `[keys]` of the file of settings: keys that do something else than usual.
///
/// Only its form is known to be right; whoever has the commands and the keys looks up the names, and says
/// with ``place`` where a wrong one stands.
package struct KeyBinding: Hashable, Sendable {
  /// The command of the keys, as the file has it.
  package let command: String
  /// The keys, as the file has them; none where the command is to have no key.
  package let keys: [String]
  /// The origin: the file, a colon, the line.
  package let place: String

  /// Makes a binding.
  package init(command: String, keys: [String], place: String) {
    self.command = command
    self.keys = keys
    self.place = place
  }
}

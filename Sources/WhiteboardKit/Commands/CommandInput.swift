/// An item of input for a node.
package enum CommandInput: Equatable, Sendable {
  /// A command to run.
  case request(CommandRequest)
  /// A line that is no command; the node answers it with this error in its turn.
  case failure(CommandError)
}

/// A source of commands for a node.
package protocol CommandSource: Sendable {
  /// Returns the next item; nil at the end of the input or when the task is canceled.
  ///
  /// - Throws: ``InputError`` if the input cannot be read any further.
  func next() async throws(InputError) -> CommandInput?
}

/// An error of input that cannot be read.
package struct InputError: Error, Equatable, Sendable {
  /// The system's error number.
  package let number: Int32

  /// Creates an error with the system's number.
  package init(number: Int32) { self.number = number }
}

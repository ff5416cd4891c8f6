/// An item of input for a node.
package enum CommandInput: Equatable, Sendable {
  /// A command to run.
  case request(CommandRequest)
  /// An invalid line; the node answers it with this error, in order with the other input.
  case failure(CommandError)
}

/// A source of commands for a node.
package protocol CommandSource: Sendable {
  /// Returns the next item; nil at the end of the input or when the task is canceled.
  ///
  /// - Throws: ``InputError`` if no more input can be read.
  func next() async throws(InputError) -> CommandInput?
}

/// An error of the input from which a source reads.
package struct InputError: Error, Equatable, Sendable {
  /// The system's error number.
  package let number: Int32

  /// Creates an error with the system's error number.
  package init(number: Int32) { self.number = number }
}

/// An item of input for a board.
package enum CommandInput: Equatable, Sendable {
  /// A command to run.
  case request(CommandRequest)
  /// An invalid line. The board answers it with this error, in the order of the input.
  case failure(CommandError)
}

/// A source of commands for a board.
package protocol CommandSource: Sendable {
  /// Returns the next item; nil at the end of the input or when the task is canceled.
  ///
  /// - Throws: ``InputError`` if no more input can be read.
  func nextInput() async throws(InputError) -> CommandInput?
}

/// An error that a source encounters while it reads its input.
package struct InputError: Error, Equatable, Sendable {
  /// The system's error number.
  package let number: Int32

  /// Creates an error with the system's error number.
  package init(number: Int32) { self.number = number }
}

package enum CommandInput: Equatable, Sendable {
  case request(CommandRequest)
  /// An invalid line. The board answers it with this error, in the order of the input.
  case failure(CommandError)
}

package protocol CommandSource: Sendable {
  /// Returns the next item; nil at the end of the input or when the task is canceled; throws if no more input can be
  /// read.
  func nextInput() async throws(InputError) -> CommandInput?
}

package struct InputError: Error, Equatable, Sendable {
  package let number: Int32

  package init(number: Int32) { self.number = number }
}

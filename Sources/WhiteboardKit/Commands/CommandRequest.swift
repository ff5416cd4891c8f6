/// A command with the request id that its answer repeats.
package struct CommandRequest: Equatable, Sendable {
  package let command: Command
  /// The request id that the answer repeats, if any.
  package let request: RequestMark?
  /// The number of the line in a script, from 1; nil outside of scripts.
  package var line: Int?
  /// The caller of ``SharedBoard/perform(_:)`` that gets the result; nil for a command from the input.
  let caller: Int?

  package init(_ command: Command, request: RequestMark? = nil, line: Int? = nil) {
    self.command = command
    self.request = request
    self.line = line
    caller = nil
  }

  init(_ command: Command, caller: Int) {
    self.command = command
    self.caller = caller
    request = nil
  }
}

/// A request id: a value from the caller, which the answer repeats with the same JSON type.
public enum RequestMark: Equatable, Hashable, Sendable {
  /// A string of at most 256 bytes.
  case word(String)
  /// A whole number.
  case number(Int64)
}

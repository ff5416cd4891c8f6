/// A verb with the mark by which its answer will be known.
package struct CommandRequest: Equatable, Sendable {
  /// The command.
  package let command: Command
  /// The request id that the answer repeats, if any.
  package let request: RequestMark?
  /// Which line of a script it stands in, from 1; nil outside of scripts.
  package var line: Int?

  /// Makes a request for a verb.
  package init(_ command: Command, request: RequestMark? = nil, line: Int? = nil) {
    self.command = command
    self.request = request
    self.line = line
  }
}

/// The caller's own mark on a verb, given back in its answer in the form it came in.
package enum RequestMark: Equatable, Hashable, Sendable {
  /// A string of at most 256 bytes.
  case word(String)
  /// A whole number.
  case number(Int64)
}

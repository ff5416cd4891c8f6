extension BoardEvent {
  /// The save state: whether the work on the board is on disk.
  package struct Saving: Encodable, Sendable {
    /// `saved`, `saving`, `not-saved` or `off`.
    package var state: String
    /// The code of the cause, if some work is not saved.
    package var cause: String?
    /// The file and the reason, if some work is not saved.
    package var message: String?
    /// Another file that contains all of the work, if there is one.
    package var copy: String?
    /// The request id of the command that requested the state.
    package var request: RequestMark?

    /// Creates the event for a save state.
    ///
    /// - Parameters:
    ///   - state: The save state.
    ///   - request: The request id of the command that requested the state; nil if no command did.
    init(_ state: SaveState, request: RequestMark? = nil) {
      self.state =
        switch state {
        case .off: "off"
        case .saved: "saved"
        case .saving: "saving"
        case .notSaved: "not-saved"
        }
      cause = state.problem?.cause.rawValue
      message = state.problem?.message
      copy = state.problem?.copy
      self.request = request
      shown = state
    }

    /// The save state, for text output.
    package let shown: SaveState

    private enum CodingKeys: String, CodingKey { case state, cause, message, copy, request }
  }
}

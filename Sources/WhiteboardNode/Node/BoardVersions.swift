import Whiteboard

/// Where the board is kept, and what it was before: what the verbs about versions ask.
package protocol BoardVersions: Sendable {
  /// Gives what has been kept so far a name.
  ///
  /// - Throws: `refused` where the name is taken, or the file cannot be written.
  func checkpoint(_ name: String) async throws(VerbError)

  /// The checkpoints, oldest first.
  func checkpoints() async throws(VerbError) -> [BoardCheckpoint]

  /// The board as it was at a checkpoint.
  ///
  /// - Throws: `noSuchCheckpoint`.
  func state(at name: String) async throws(VerbError) -> BoardState

  /// Writes all that is kept to a new file.
  ///
  /// - Throws: `refused` where the file cannot be made or is there already.
  func save(as file: String) async throws(VerbError)
}

/// A version of the board that has a name.
package struct BoardCheckpoint: Equatable, Sendable {
  /// Its name, free text.
  package let name: String
  /// When it was made, in milliseconds since 1970.
  package let madeAt: UInt64

  /// Makes one.
  package init(name: String, madeAt: UInt64) {
    self.name = name
    self.madeAt = madeAt
  }
}

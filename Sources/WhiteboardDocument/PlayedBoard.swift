/// A board on which what a document holds is played, so that its digests can be compared.
///
/// A document does not interpret batches and states; the caller supplies a board that does.
public protocol PlayedBoard: Sendable {
  /// An empty board of that id; nil if there is no board of that id.
  init?(board: [UInt8])
  /// Takes in who wrote.
  mutating func apply(_ author: StoredAuthor)
  /// Applies one step.
  /// - Throws: Why it cannot be applied; then nothing of it was applied.
  mutating func apply(_ content: DocumentHistory.Step.Content) throws
  /// The digest of the board's contents (SYN-40).
  var digest: [UInt8] { get }
  /// All that is on it, as a keyframe (REC-6).
  var keyframe: [UInt8] { get }
}

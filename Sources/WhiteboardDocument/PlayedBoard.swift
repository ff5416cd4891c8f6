/// A board on which a document is played, so that its digests can be checked.
///
/// A document does not interpret batches and states; the caller supplies a board that does.
public protocol PlayedBoard: Sendable {
  /// Creates an empty board with that id; nil if the id is not valid.
  init?(board: [UInt8])
  /// Adds an author.
  mutating func apply(_ author: StoredAuthor)
  /// Applies one step.
  /// - Throws: An error if the step cannot be applied; then no part of it was applied.
  mutating func apply(_ content: DocumentHistory.Step.Content) throws
  /// The digest of the board's contents (SYN-40).
  var digest: [UInt8] { get }
  /// The board's contents as a keyframe (REC-6).
  var keyframe: [UInt8] { get }
}

/// A board to which a document is applied, so that the document's digests can be checked.
///
/// A document does not interpret batches and states. The caller supplies a board type that interprets them.
public protocol PlayedBoard: Sendable {
  /// Creates an empty board with an id; nil if the id is not valid.
  init?(board: [UInt8])
  /// Returns the id of the board for which an author's record is signed; nil if the record is not valid.
  static func board(of author: StoredAuthor) -> [UInt8]?
  /// Adds the record and head of an author.
  mutating func apply(_ author: StoredAuthor)
  /// Applies one step of a history.
  ///
  /// - Throws: An error if the step cannot be applied. In this case, no part of it was applied.
  mutating func apply(_ content: DocumentHistory.Step.Content) throws
  /// The digest of the board's contents (SYN-40).
  var digest: [UInt8] { get }
  /// The board's contents as a keyframe (REC-6).
  var keyframe: [UInt8] { get }
}

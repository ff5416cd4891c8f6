import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// A board that is used to verify documents (REC-18).
public struct RecordedBoard: PlayedBoard {
  private var board: RestoredBoard

  /// Creates an empty board with an id, or returns `nil` if the id does not have 16 bytes.
  public init?(board: [UInt8]) {
    guard let id = BoardID(bytes: board) else { return nil }
    self.board = RestoredBoard(id)
  }

  /// Returns the id of the board for which an author's record is signed, or `nil` if the record is not valid.
  public static func board(of author: StoredAuthor) -> [UInt8]? {
    guard let record = try? AuthorRecord(author.record), record.incarnation.rawValue == author.incarnation,
      (try? record.verify(board: record.board, with: P256SignatureVerifier())) != nil
    else { return nil }
    return record.board.bytes
  }

  /// Applies the author record of an incarnation.
  public mutating func apply(_ author: StoredAuthor) {
    guard !author.record.isEmpty, let incarnation = Incarnation(exactly: author.incarnation) else { return }
    try? board.apply(.author(author.record, incarnation))
  }

  /// Applies a batch, an answer or a keyframe.
  ///
  /// - Throws: An error if the content is malformed, or does not fit on the board.
  public mutating func apply(_ content: DocumentHistory.Step.Content) throws {
    switch content {
    case .batch(let bytes): try board.apply(.batch(EncodedBatch(decoding: bytes)))
    case .answer(let bytes): try board.apply(.answer(bytes))
    case .keyframe(let bytes): try board.apply(.keyframe(bytes))
    }
  }

  /// The digest of the board.
  public var digest: [UInt8] { board.digest.bytes }

  /// The whole board as a keyframe.
  public var keyframe: [UInt8] { board.keyframe }
}

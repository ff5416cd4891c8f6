/// A board, with methods that edit it.
///
/// Every method that edits the board is one gesture: if it throws, it changes nothing. To combine several calls into
/// one batch and one undo step, make them inside `gesture(_:_:)`.
public final class Board: BoardReplica {
  /// Returns the object with this id, as an instance of the class for its kind; nil if the object is not shown on the
  /// board.
  public func object(_ id: ObjectID) -> WhiteboardObject? {
    guard state.isShown(id), let kind = state.record(id)?.kind else { return nil }
    switch kind {
    case .text: return TextObject(id, on: self)
    case .drawing: return DrawingObject(id, on: self)
    case .photo: return PhotoObject(id, on: self)
    case .game: return GameObject(id, on: self)
    default: return WhiteboardObject(id, on: self)
    }
  }

  /// Returns the object with this id, as an instance of the class for its kind.
  /// - Throws: `unknownObject` if the object is not shown on the board.
  public subscript(id: ObjectID) -> WhiteboardObject {
    get throws(BoardError) {
      guard let object = object(id) else { throw .unknownObject(id) }
      return object
    }
  }

  /// Returns the text object with this id.
  /// - Throws: `unknownObject`, `wrongKind`.
  public func text(_ id: ObjectID) throws(BoardError) -> TextObject {
    guard let text = try self[id] as? TextObject else { throw .wrongKind(id) }
    return text
  }

  /// Returns the game with this id.
  /// - Throws: `unknownObject`, `wrongKind`.
  public func game(_ id: ObjectID) throws(BoardError) -> GameObject {
    guard let game = try self[id] as? GameObject else { throw .wrongKind(id) }
    return game
  }

  /// The objects that are shown on the board, from back to front.
  public var objects: [WhiteboardObject] { objectIDs.compactMap { object($0) } }
}

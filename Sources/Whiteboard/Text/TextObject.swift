/// A text object on the board.
///
/// Its text is edited by character, so that edits of several members are merged (BRD-14).
public final class TextObject: WhiteboardObject {
  /// The object's text, possibly from a peer.
  public var text: String { record.text }

  /// Replaces the visible characters (Unicode scalars) in `range` with `text`.
  /// - Throws: `unknownObject`, `held`, `locked`, `outOfRange`, `tooLong`.
  public func edit(replacing range: Range<Int>, with text: String) throws(BoardError) {
    let text = PlainText.lines(text)
    try board.gesture { () throws(BoardError) in
      try board.requireWritable(id, asKind: .text)
      let tree = TextTree(record)
      try tree.requireRoom(replacing: range, with: text)
      for deletion in tree.deletions(of: range) {
        try board.stage(id, .deletion(board.nextDot()), TextTree.encodeDeletion(deletion))
      }
      if !text.isEmpty { try board.stageRun(text, at: tree.anchor(at: range.lowerBound), of: id) }
    }
  }

  /// Replaces characters as `edit(replacing:with:)` does, while a user types.
  ///
  /// Consecutive edits of the object that are at most one second apart form one undo step, as in text editors. Do not
  /// call this method inside a gesture.
  ///
  /// - Throws: The same errors as `edit(replacing:with:)`.
  public func type(replacing range: Range<Int>, with text: String) throws(BoardError) {
    precondition(!board.isInGesture, "typing must not happen inside a gesture")
    board.history.beginTyping(into: id, at: board.wallClock)
    defer { board.history.endTyping() }
    try edit(replacing: range, with: text)
  }

  /// Changes the text of the object to `text`, replacing only the part that differs.
  ///
  /// Text that other members type before or after that part is kept.
  /// - Throws: The same errors as `edit(replacing:with:)`.
  public func update(text: String) throws(BoardError) {
    try board.requireWritable(id, asKind: .text)
    let difference = TextTree(record).leastEdit(to: PlainText.lines(text))
    try edit(replacing: difference.range, with: difference.words)
  }
}

/// Editing text by character (BRD-14).
extension Board {
  /// Stages the insertion of `text` at an anchor in a text object.
  func stageRun(
    _ text: String,
    at anchor: TextTree.Anchor,
    of id: ObjectID
  ) throws(BoardError) {
    try stage(id, .run(nextDot()), TextTree.encodeRun(text, at: anchor))
  }

  /// Stages the text of a new object, in runs that each fit in one value.
  func stageText(_ text: String, of id: ObjectID) throws(BoardError) {
    let scalars = Array(text.unicodeScalars)
    var anchor = TextTree.Anchor.root
    var start = 0
    while start < scalars.count {
      let end = min(scalars.count, start + BoardLimits.textBytes)
      var run = String.UnicodeScalarView()
      run.append(contentsOf: scalars[start..<end])
      let dot = nextDot()
      try stageRun(String(run), at: anchor, of: id)
      anchor = .right(TextTree.Element(run: dot, offset: end - start - 1))
      start = end
    }
  }

  /// Replaces the visible characters (Unicode scalars) in `range` with `text`.
  /// - Throws: `unknownObject`, `wrongKind`, `held`, `outOfRange`, `tooLong`.
  public func editText(
    _ id: ObjectID,
    replacing range: Range<Int>,
    with text: String
  ) throws(BoardError) {
    let text = PlainText.lines(text)
    try gesture { () throws(BoardError) in
      try requireWritable(id, asKind: .text)
      guard let record = state.record(id) else { throw .unknownObject(id) }
      let tree = TextTree(record)
      let scalars = tree.scalars
      guard range.lowerBound >= 0, range.upperBound <= scalars.count else {
        throw .outOfRange("range")
      }
      let kept = scalars.indices.lazy.filter { !range.contains($0) }
        .reduce(0) { $0 + UTF8.width(scalars[$1]) }
      guard kept + text.utf8.count <= BoardLimits.textBytes,
        tree.elementCount + text.unicodeScalars.count <= BoardLimits.textElements
      else { throw .tooLong("text") }
      for deletion in tree.deletions(of: range) {
        try stage(id, .deletion(nextDot()), TextTree.encodeDeletion(deletion))
      }
      if !text.isEmpty { try stageRun(text, at: tree.anchor(at: range.lowerBound), of: id) }
    }
  }

  /// Replaces characters as `editText(_:replacing:with:)` does, while a user types.
  ///
  /// Consecutive edits of one text that are at most one second apart are one undo step, as in text
  /// editors. Do not call this method inside a gesture.
  ///
  /// - Throws: The same errors as `editText(_:replacing:with:)`.
  public func typeText(
    _ id: ObjectID,
    replacing range: Range<Int>,
    with text: String
  ) throws(BoardError) {
    precondition(!isInGesture, "typeText must not be called inside a gesture")
    history.beginTyping(into: id, at: wallClock)
    defer { history.endTyping() }
    try editText(id, replacing: range, with: text)
  }

  /// Changes the text of an object to `text`, replacing only the part that differs.
  ///
  /// Text that other members type before or after that part is kept.
  /// - Throws: The same errors as `editText(_:replacing:with:)`.
  public func replaceText(_ id: ObjectID, with text: String) throws(BoardError) {
    try requireWritable(id, asKind: .text)
    guard let record = state.record(id) else { throw .unknownObject(id) }
    let edit = TextTree(record).leastEdit(to: PlainText.lines(text))
    try editText(id, replacing: edit.range, with: edit.words)
  }
}

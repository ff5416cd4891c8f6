import PeerCore

/// The chat.
///
/// Its lines are objects that are not shown on the board (BRD-21).
extension Board {
  /// Adds a chat line with the name and icon of a profile.
  /// - Throws: `empty`, `tooLong`, `boardFull`.
  @discardableResult public func say(_ text: String, as profile: Profile) throws(BoardError) -> ObjectID {
    try say(text, name: profile.name, icon: profile.icon.emoji)
  }

  /// Adds a chat line without an icon.
  /// - Throws: `empty`, `tooLong`, `boardFull`.
  @discardableResult public func say(_ text: String, as name: String? = nil) throws(BoardError) -> ObjectID {
    try say(text, name: name, icon: nil)
  }

  private func say(_ text: String, name: String?, icon: String?) throws(BoardError) -> ObjectID {
    let (text, name) = (PlainText.lines(text), name.map(PlainText.line))
    return try gesture { () throws(BoardError) in
      guard !text.isEmpty else { throw .empty }
      guard text.utf8.count <= BoardLimits.chatBytes else { throw .tooLong("chat") }
      guard (name ?? "").utf8.count <= BoardLimits.nameBytes else { throw .tooLong("name") }
      // The new line must sort after every line that its author has seen, even if clocks are wrong (BRD-31). This is
      // impossible after a line that has the last possible time.
      let id = try create(.chat, after: frontier.floorOfChat)
      try stage(id, .chatAuthor, .bytes(member.bytes))
      if let name { try stage(id, .chatName, .text(name)) }
      if let icon { try stage(id, .chatIcon, .text(icon)) }
      try stage(id, .chatText, .text(text))
      try stage(id, .chatTime, .unsigned(wallClock))
      return id
    }
  }
}

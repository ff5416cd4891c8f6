import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Hiding what an author makes from the local user's screen.
extension Node {
  /// The most authors that are hidden at a time.
  static let mostHiddenAuthors = 256

  /// Hides an author, or shows it again, on this and all other boards.
  ///
  /// - Returns: How many objects of this board are no longer shown, or are shown again.
  func hide(author word: String, _ isHidden: Bool) async throws(CommandError) -> CommandOutcome {
    let author = try author(word, or: hiddenAuthors)
    if isHidden {
      guard author != replica?.board.member else {
        throw CommandError(.badArgument, "you cannot hide yourself")
      }
      guard hiddenAuthors.contains(author) || hiddenAuthors.count < Self.mostHiddenAuthors else {
        throw CommandError(
          .refused,
          "you hide \(Self.mostHiddenAuthors) authors, the most that is possible; `unhide` some of them"
        )
      }
    }
    let objects = shown.values.filter { self.author(of: $0.id) == author }
    guard hiddenAuthors.contains(author) != isHidden else {
      return CommandOutcome(count: isHidden ? objects.count : 0)
    }
    var hidden = hiddenAuthors
    if isHidden { hidden.insert(author) } else { hidden.remove(author) }
    if let settings = configuration.personalSettings {
      do throws(DocumentError) {
        try await settings.keep(hiddenAuthors: hidden)
      } catch {
        throw CommandError(error)
      }
    }
    hiddenAuthors = hidden
    for snapshot in objects {
      if isHidden {
        runtime.sink.show(.removed(snapshot.id))
      } else {
        runtime.sink.show(.shown(snapshot, shownGames[snapshot.id]))
      }
    }
    if isHidden { runtime.sink.show(.presence(author, Presence())) }
    if replica?.board.chat.contains(where: { $0.author == author }) ?? false {
      tellChat(request: nil)
    }
    return CommandOutcome(count: objects.count)
  }

  /// Shows a change of the board on the screen, unless its author is hidden.
  func show(_ change: BoardChange) {
    if !hiddenAuthors.isEmpty, let author = author(of: change), hiddenAuthors.contains(author) {
      return
    }
    runtime.sink.show(change)
  }

  /// True for an object of a hidden author, for events.
  func hiddenMark(_ id: ObjectID) -> Bool? { isHidden(id) ? true : nil }

  /// Whether the local user hid the author of an object, on this board or one that is being opened.
  func isHidden(_ id: ObjectID, on board: Board? = nil) -> Bool {
    guard !hiddenAuthors.isEmpty,
      let author = (board ?? replica?.board)?.member(of: id.dot.incarnation)
    else { return false }
    return hiddenAuthors.contains(author)
  }

  private func author(of change: BoardChange) -> MemberID? {
    switch change {
    case .shown(let snapshot, _): author(of: snapshot.id)
    case .preview(let preview): author(of: preview.stroke)
    case .presence(let member, _): member
    case .removed, .photo, .saving: nil
    }
  }

  private func author(of id: ObjectID) -> MemberID? {
    replica?.board.member(of: id.dot.incarnation)
  }
}

extension PersonalSettings {
  /// The authors whose objects and messages the user does not want to see.
  ///
  /// Words that are not peer ids are skipped.
  var hiddenAuthors: Set<MemberID> {
    get throws(DocumentError) {
      let words = try value("hidden")?.split(separator: " ") ?? []
      return Set(words.prefix(Node.mostHiddenAuthors).compactMap { MemberID(String($0)) })
    }
  }

  /// Saves the authors that the user hid.
  func keep(hiddenAuthors: Set<MemberID>) throws(DocumentError) {
    let words = hiddenAuthors.sorted().map(\.description)
    try set("hidden", to: words.isEmpty ? nil : words.joined(separator: " "))
  }
}

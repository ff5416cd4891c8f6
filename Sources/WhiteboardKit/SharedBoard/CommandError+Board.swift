import PeerCore
import Whiteboard

extension CommandError {
  /// Creates the answer to a command that the board refused.
  ///
  /// - Parameters:
  ///   - error: The reason.
  ///   - name: Returns the name of a member, safe to display.
  init(_ error: BoardError, name: (MemberID) -> String) {
    switch error {
    case .unknownObject(let id): self.init(.noSuchObject, "there is no object \(id)")
    case .notDeleted(let id): self.init(.refused, "\(id) is not deleted")
    case .nextToItself(let id): self.init(.badArgument, "\(id) cannot be in front of or behind itself")
    case .held(let id, let member):
      self.init(.held, "\(name(member)) has selected \(id); wait until it is free, or `take` it")
    case .locked(let id): self.init(.locked, "\(id) is locked; `unlock` it first")
    case .unfinished(let id): self.init(.held, "\(id) is still being drawn; wait until it is finished")
    case .wrongKind(let id): self.init(.wrongKind, "the command does not apply to this kind of object: \(id)")
    case .outOfRange(let what): self.init(.badArgument, "\(what) is out of range")
    case .tooLong(let what): self.init(.tooBig, "\(what) is longer than its limit")
    case .empty: self.init(.badArgument, "it is empty")
    case .stackFull: self.init(.refused, "no object fits between these two objects in the stacking order")
    case .tooManyOperations: self.init(.tooBig, "the change is larger than a single step can be")
    case .nothingToUndo(let skipped): self.init(.nothingToUndo, "Nothing to undo." + EventText.skipped(skipped))
    case .nothingToRedo(let skipped): self.init(.nothingToRedo, "Nothing to redo." + EventText.skipped(skipped))
    case .gameRefused(let reason): self.init(.gameRefused, CommandError.words(reason))
    case .viewer: self.init(.viewer, "you can only view this board")
    case .boardFull: self.init(.refused, "the board is full; delete something")
    case .shareUsed:
      self.init(
        .refused,
        "you have reached the most that one author may write on this board; delete some of your objects and `purge` them"
      )
    case .photosUsed:
      self.init(
        .refused,
        "your photos on this board would exceed \(BoardLimits.photoBytesPerAuthor >> 20) MiB, the most that "
          + "one author may have; delete some of them and `purge` them"
      )
    case .clockExhausted:
      self.init(
        .refused,
        "a property has the latest possible timestamp, so it cannot be changed; `unlock` or `take` replaces the "
          + "object with a copy that can be changed"
      )
    }
  }

  private static func words(_ reason: GameError) -> String {
    switch reason {
    case .unknownGame: "this version of the program does not know the game"
    case .malformedSetup: "the setup of this game is invalid, so it cannot be played"
    case .foreignList: "this game was started with a different word list, so it cannot be played here"
    case .unknownLanguage(let tag):
      "there is no word list for the language \(UntrustedText(tag).quoted()); use `set language en`"
    case .malformedMove: "this game does not have that move"
    case .unknownWord(let word): "\(UntrustedText(word).quoted()) is not in the word list"
    case .repeatedWord(let word): "you have guessed \(UntrustedText(word).quoted()) before; try another word"
    case .columnFull: "that column is full"
    case .notYourTurn: "it is the other player's turn"
    case .notAPlayer: "two other members play this game"
    case .gameOver: "the game is over for you"
    case .tooManyMoves: "you have no moves left in this game"
    case .moveInProgress: "one step can contain only one move of a game"
    }
  }
}

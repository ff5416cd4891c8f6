import Whiteboard

/// One thing a person or a script can ask of a node, the same in every mode.
///
/// A value of this type is legal by construction of the parsers: numbers are finite and within the
/// board, names are of a sane length, and a list of objects has at least one. Whether the object,
/// peer or file exists is found out when the verb is carried out.
package enum Command: Equatable, Sendable {
  // MARK: Making

  /// Puts a text on the board with its centre at a point.
  case text(at: BoardPoint, words: String, color: UInt32? = nil, alias: ObjectAlias?)
  /// Draws a line through the points, over the given number of seconds (zero: at once).
  case stroke(points: [BoardPoint], pen: Pen = Pen(), seconds: Double, alias: ObjectAlias?)
  /// Draws on with the line that is being drawn, or begins one.
  case pen(points: [BoardPoint], pen: Pen = Pen(), alias: ObjectAlias?)
  /// Ends the line that is being drawn.
  case lift
  /// Puts a photo from a file on the board with its centre at a point.
  case photo(at: BoardPoint, file: String, alias: ObjectAlias?)
  /// Begins a game; against one other where the game is for two.
  case game(GameName, at: BoardPoint, opponent: String?, alias: ObjectAlias?)
  /// Copies objects.
  case duplicate([ObjectReference], by: BoardPoint, alias: ObjectAlias?)

  // MARK: Changing

  /// Takes exactly these objects in hand.
  case select([ObjectReference])
  /// Lets go of whatever is in hand.
  case deselect
  /// Moves one object's centre, or the common centre of several.
  case move([ObjectReference], Movement)
  /// Sets one object's scale, or scales several about their common center.
  ///
  /// `about` is the place that stays where it is, if it is another than the center.
  case scale(
    [ObjectReference],
    factor: Double,
    about: BoardPoint? = nil,
    keepsLineWidth: Bool = false
  )
  /// Sets one object's angle, or turns several about their common centre; degrees clockwise.
  case rotate([ObjectReference], degrees: Double)
  /// Colours objects, `0xRRGGBBAA`; nil for the colour they have by themselves.
  case color([ObjectReference], UInt32?)
  /// Sets the width of lines.
  case width([ObjectReference], Double)
  /// Moves objects in front of or behind others.
  case order([ObjectReference], StackPlace)
  /// Makes a group of objects.
  case group([ObjectReference], alias: ObjectAlias?)
  /// Ungroups a group.
  case ungroup(ObjectReference)
  /// Locks objects against changes.
  case lock([ObjectReference])
  /// Unlocks objects.
  case unlock([ObjectReference])
  /// Replaces the words of a text.
  case edit(ObjectReference, words: String)
  /// Replaces some characters of a text by words; places count Unicode scalars of what the text is, or
  /// was where that is said: what came since moves them along.
  case insert(ObjectReference, at: Int, words: String, replacing: Int, was: String? = nil)
  /// Erases what of the strokes lies within a distance of a path.
  case erase(points: [BoardPoint], radius: Double)
  /// Deletes objects.
  case delete([ObjectReference])
  /// Brings a deleted object back.
  case undelete(ObjectReference)
  /// Removes a deleted object for good.
  case purge(ObjectReference)
  /// Permanently removes all objects that a member created, deleted or not.
  case purgeAuthor(target: String)
  /// Hides what a member makes from the local user's screen, or shows it again.
  case hide(target: String, isHidden: Bool)
  /// Makes a move in a game.
  case play(ObjectReference, move: String)
  /// Takes back one's last step.
  case undo
  /// Makes the step again that was taken back last.
  case redo
  /// Sets one setting of the board.
  case set(Setting)

  // MARK: People

  /// Shows the others where one points, with a laser or not; nil for nowhere.
  case point(BoardPoint?, isLaser: Bool = false)
  /// Tells the others which part of the board one looks at; nil to tell it no more.
  case view(BoardView?)
  /// Lets a peer in that asked, or says that the words on both screens are the same (ADM-8).
  ///
  /// Where `isAlways`, the peer is admitted without asking from now on.
  case accept(target: String, isAlways: Bool = false)
  /// Turns a peer away that asked, or says that the words differ.
  case decline(target: String, reason: String?)
  /// Disconnects a peer and keeps it out; for the host alone.
  ///
  /// If `withAdmitted`, so it does with every member that the peer admitted. Unless `keepsCode`, a
  /// board with a join code gets a new one.
  case kick(target: String, reason: String?, withAdmitted: Bool = false, keepsCode: Bool = false)
  /// Says what a peer may do on a board that somebody owns.
  case role(target: String, BoardRole)
  /// Makes a further code by which others come in.
  case invite(InvitationTerms)
  /// Stops a transfer, from either side.
  case cancel(target: String, reason: String?)
  /// Leaves the board with a goodbye; the program goes on.
  case leave
  /// Goes on alone with the copy of a board from which the host removed us.
  case `continue`
  /// Changes one's name and icon, or tells them where neither is given.
  case profile(name: String?, icon: IconChange?)
  /// Says something in the chat.
  case say(words: String)
  /// Sends bytes to peers, past the board; none named means all.
  case send(bytes: [UInt8], to: [String], isUnreliable: Bool)
  /// Sends a file as a named resource; none named means all.
  case resource(file: String, name: String, to: [String])
  /// Sends a file through a named byte stream; none named means all.
  case stream(name: String, file: String, to: [String])

  // MARK: Looking

  /// Lists the objects on the board.
  case objects
  /// Tells one object whole, a game as one sees it.
  case show(ObjectReference)
  /// Lists the objects at a place.
  case find(BoardArea)
  /// Tells what was said in the chat.
  case chat
  /// Tells the settings of the board.
  case settings
  /// Lists the peers of the session.
  case peers
  /// Tells the digest of the board.
  case digest

  // MARK: Versions

  /// Saves the current board as a named version.
  case checkpoint(name: String)
  /// Lists the checkpoints.
  case checkpoints
  /// Tells what differs between a checkpoint and another, or the board as it is now.
  case diff(from: String, to: String?)
  /// Makes the board what it was at a checkpoint, by a step that can be taken back.
  case restore(name: String)
  /// Writes the board to another file.
  case saveAs(file: String)
  /// Saves unsaved work, and reports whether everything is saved.
  case save
  /// Writes the board, or what a part of it touches, to a file of the kind that its name says; so many
  /// pixels for each board unit where it is of pixels.
  case export(file: String, region: Rectangle?, scale: Double, isReplacing: Bool)
  /// Puts what is in a file on the board, its middle at a point or where it was.
  case `import`(file: String, at: BoardPoint?)

  /// Keeps copies of objects, for any board.
  case copy([ObjectReference])
  /// Puts on the board what was copied last; nil for where it was.
  case paste(at: BoardPoint?)

  // MARK: Scripts

  /// Waits until a condition holds.
  case wait(WaitCondition, timeout: Double?)
  /// Leaves and ends the program; refused if a user types it and work would be lost.
  case quit
  /// Leaves and ends the program, even if work is lost.
  case quitAnyway
  /// Explains the verbs, or one of them.
  case help(topic: String?)

  /// Whether the verb answers an invitation.
  var answersInvitation: Bool {
    switch self {
    case .accept, .decline: true
    default: false
    }
  }
}

/// What a line is drawn with.
package struct Pen: Equatable, Sendable {
  /// `0xRRGGBBAA`; nil for the colour that lines have by themselves.
  package var color: UInt32?
  /// Board units.
  package var width = 5.0
}

/// What becomes of one's icon.
package enum IconChange: Equatable, Sendable {
  /// One of those there are.
  case to(ProfileIcon)
  /// None.
  case removed

  /// The icon one has then.
  var icon: ProfileIcon? {
    switch self {
    case .to(let icon): icon
    case .removed: nil
    }
  }
}

extension Command {
  /// How far from its path an eraser reaches where nothing else is said, in board units.
  static let eraserRadius = 8.0
}

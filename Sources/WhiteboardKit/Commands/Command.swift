import Whiteboard

/// A command for a board from a user, a script or a program.
///
/// Commands from the parsers have valid values: numbers are finite and within the board, names have a limited length,
/// and a list of objects is not empty. When a command runs, the board checks whether its objects, peers and files
/// exist.
public enum Command: Equatable, Sendable {
  // MARK: Adding objects

  /// Adds a text object with its center at a point.
  case text(at: BoardPoint, words: String, color: UInt32? = nil, alias: ObjectAlias?)
  /// Draws a line through the points over a number of seconds; zero draws it immediately.
  case stroke(points: [BoardPoint], pen: Pen = Pen(), seconds: Double, alias: ObjectAlias?)
  /// Continues the line that is being drawn, or starts one; other members see the line grow.
  case pen(points: [BoardPoint], pen: Pen = Pen(), alias: ObjectAlias?)
  /// Ends the line that is being drawn.
  case lift
  /// Adds a photo from a file with its center at a point.
  case photo(at: BoardPoint, file: String, alias: ObjectAlias?)
  /// Starts a game; `opponent` names the second player of a game for two.
  case game(GameName, at: BoardPoint, opponent: String?, alias: ObjectAlias?)
  /// Copies objects; the copies are moved by the given distance.
  case duplicate([ObjectReference], by: BoardPoint, alias: ObjectAlias?)

  // MARK: Changing objects

  /// Selects the given objects, and deselects all others.
  case select([ObjectReference])
  /// Selects the given objects, even if other members have selected them, and deselects all others.
  case take([ObjectReference])
  /// Clears the selection.
  case deselect
  /// Moves the center of one object, or the common center of several.
  case move([ObjectReference], Movement)
  /// Sets the scale of one object, or scales several objects together.
  ///
  /// `about` is the point that does not move; nil means the center.
  case scale([ObjectReference], factor: Double, about: BoardPoint? = nil, keepsLineWidth: Bool = false)
  /// Sets the angle of one object, or rotates several about their common center, in degrees clockwise.
  case rotate([ObjectReference], degrees: Double)
  /// Sets the color of objects, `0xRRGGBBAA`; nil for their default color.
  case color([ObjectReference], UInt32?)
  /// Sets the width of lines, in board units.
  case width([ObjectReference], Double)
  /// Moves objects in the stack.
  case order([ObjectReference], StackPlace)
  /// Groups objects.
  case group([ObjectReference], alias: ObjectAlias?)
  /// Ungroups the objects of a group.
  case ungroup(ObjectReference)
  /// Locks objects against changes.
  case lock([ObjectReference])
  /// Unlocks objects.
  case unlock([ObjectReference])
  /// Replaces the text of a text object.
  case edit(ObjectReference, words: String)
  /// Replaces a range of characters in a text object.
  ///
  /// The position and the length of the range are measured in Unicode scalars of `was`, or of the current text if `was`
  /// is nil. If the text was changed since `was`, the position is adjusted.
  case insert(ObjectReference, at: Int, words: String, replacing: Int, was: String? = nil)
  /// Erases the parts of strokes that are within a distance of a path, in board units.
  case erase(points: [BoardPoint], radius: Double)
  /// Deletes objects.
  case delete([ObjectReference])
  /// Restores a deleted object.
  case undelete(ObjectReference)
  /// Permanently removes a deleted object.
  case purge(ObjectReference)
  /// Permanently removes all objects that a member created, including deleted ones.
  case purgeAuthor(target: String)
  /// Hides the objects, pointer and chat of a member on the local screen, or shows them again.
  case hide(target: String, isHidden: Bool)
  /// Makes a move in a game.
  case play(ObjectReference, move: String)
  /// Undoes the last step of the local user.
  case undo
  /// Redoes the step that was undone last.
  case redo
  /// Changes a setting of the board.
  case set(Setting)

  // MARK: Members

  /// Shows the local pointer to the other members, optionally as a laser; nil hides it.
  case point(BoardPoint?, isLaser: Bool = false)
  /// Shares the local view of the board with the other members; nil stops sharing it.
  case view(BoardView?)
  /// Admits a peer, confirms that the verification words match (ADM-8), or accepts an offered file.
  ///
  /// If `isAlways` is true, the peer is admitted without asking in the future.
  case accept(target: String, isAlways: Bool = false)
  /// Refuses a peer, reports that the verification words differ, or declines an offered file.
  case decline(target: String, reason: String?)
  /// Disconnects a peer and does not admit it again. Only the host can run this command.
  ///
  /// If `withAdmitted` is true, every member that the peer admitted is removed too. A board with a join code gets a new
  /// code, unless `keepsCode` is true.
  case kick(target: String, reason: String?, withAdmitted: Bool = false, keepsCode: Bool = false)
  /// Sets the role of a peer on an owned board.
  case role(target: String, BoardRole)
  /// Creates an additional join code, or a browser link.
  case invite(InvitationTerms)
  /// Lets browsers join the board, or ends their access.
  case web(WebAccess)
  /// Cancels a transfer, incoming or outgoing.
  case cancel(target: String, reason: String?)
  /// Leaves the board without exiting the program.
  case leave
  /// Allows changes to the local copy of a board from which the host removed this peer.
  case `continue`
  /// Changes the local display name and icon; if both are nil, reports them.
  case profile(name: String?, icon: IconChange?)
  /// Writes a line in the chat.
  case say(words: String)
  /// Sends a message to peers without changing the board; an empty list means all peers.
  case send(bytes: [UInt8], to: [String], isUnreliable: Bool)
  /// Sends a file as a named resource; an empty list means all peers.
  case resource(file: String, name: String, to: [String])
  /// Sends files under their own names, and all files in folders; an empty list of peers means all peers.
  case files([String], to: [String])
  /// Sends a file through a named byte stream; an empty list means all peers.
  case stream(name: String, file: String, to: [String])

  // MARK: Queries

  /// Lists the objects on the board.
  case objects
  /// Reports all properties of an object; reports a game as the local user sees it.
  case show(ObjectReference)
  /// Lists the objects in an area, from front to back.
  case find(BoardArea)
  /// Lists the lines of the chat.
  case chat
  /// Reports the settings of the board.
  case settings
  /// Lists the peers of the session.
  case peers
  /// Reports the digest of the board.
  case digest

  // MARK: Versions and files

  /// Saves the current board as a named version.
  case checkpoint(name: String)
  /// Lists the checkpoints.
  case checkpoints
  /// Reports the differences between a checkpoint and a later one, or the current board if `to` is nil.
  case diff(from: String, to: String?)
  /// Restores the board to its state at a checkpoint, as one undo step.
  case restore(name: String)
  /// Writes the board to another file.
  case saveAs(file: String)
  /// Saves unsaved work, and reports whether everything is saved.
  case save
  /// Writes the board, or the objects that touch a region, to a file.
  ///
  /// The file extension selects the format. `scale` is the number of pixels per board unit in raster formats.
  case export(file: String, region: Rectangle?, scale: Double, isReplacing: Bool)
  /// Adds the contents of a file, centered at a point; nil keeps their positions in the file.
  case `import`(file: String, at: BoardPoint?)

  /// Stores copies of objects, which `paste` can add to any board.
  case copy([ObjectReference])
  /// Adds the objects that were copied last, centered at a point; nil keeps their original positions.
  case paste(at: BoardPoint?)

  // MARK: The program

  /// Waits until a condition holds, or for at most `timeout` seconds.
  case wait(WaitCondition, timeout: Double?)
  /// Leaves the board and exits the program. Fails if a user typed the command and work would be lost.
  case quit
  /// Leaves the board and exits the program, even if work is lost.
  case quitAnyway
  /// Reports the help text, which the command parser supplies.
  case help(text: String)

  /// Whether the command answers a request to join or an offered file.
  var answersInvitation: Bool { name == .accept || name == .decline }
}

/// The color and width of new lines.
public struct Pen: Equatable, Sendable {
  /// The color, `0xRRGGBBAA`; nil for the default color of lines.
  public var color: UInt32?
  /// The width, in board units.
  public var width: Double

  /// Creates a pen.
  ///
  /// - Parameters:
  ///   - color: The color, `0xRRGGBBAA`; nil for the default color of lines.
  ///   - width: The width, in board units.
  public init(color: UInt32? = nil, width: Double = 5) {
    self.color = color
    self.width = width
  }
}

/// A change to the icon in a profile.
public enum IconChange: Equatable, Sendable {
  /// Sets an icon.
  case to(ProfileIcon)
  /// Removes the icon.
  case removed

  /// The icon after the change; nil for none.
  var icon: ProfileIcon? {
    switch self {
    case .to(let icon): icon
    case .removed: nil
    }
  }
}

extension Command {
  /// The default radius of the eraser, in board units.
  public static let eraserRadius = 8.0
}

extension Command {
  /// Returns the command with normalized text, as a parser would return it; throws if a value exceeds its limits, with
  /// the message that a parser would use.
  package func checked() throws(CommandError) -> Command {
    switch self {
    case .text(let at, let words, let color, let alias):
      let words = try CommandLimits.checkedWords(words, what: "the text")
      return .text(at: at, words: words, color: color, alias: alias)
    case .insert(let reference, let at, let words, let replacing, let was):
      return .insert(
        reference,
        at: try CommandLimits.checkedPosition(Int64(at), key: "the position"),
        words: try CommandLimits.checkedWords(words, what: "the text"),
        replacing: try CommandLimits.checkedPosition(Int64(replacing), key: "replacing"),
        was: was
      )
    case .say(let words): return .say(words: try CommandLimits.checkedWords(words, what: "the message"))
    case .photo(_, let file, _), .saveAs(let file), .import(let file, _), .export(let file, _, _, _):
      _ = try CommandLimits.checkedFile(file)
    case .play(_, let move): _ = try CommandLimits.checkedMove(move)
    case .accept(let target, _), .decline(let target, _):
      _ = try CommandLimits.checkedTarget(target, what: "the invitation")
    case .scale(let references, let factor, _, _):
      _ = try CommandLimits.checkedReferences(references)
      _ = try CommandLimits.checkedFactor(factor)
    case .rotate(let references, let degrees):
      _ = try CommandLimits.checkedReferences(references)
      _ = try CommandLimits.checkedDegrees(degrees)
    case .width(let references, let width):
      _ = try CommandLimits.checkedReferences(references)
      _ = try CommandLimits.checkedWidth(width, key: "the width")
    case .duplicate(let references, _, _), .select(let references), .take(let references), .move(let references, _),
      .color(let references, _), .order(let references, _), .group(let references, _), .lock(let references),
      .unlock(let references), .delete(let references), .copy(let references):
      _ = try CommandLimits.checkedReferences(references)
    case .send(let bytes, _, _): _ = try CommandLimits.checkedMessage(bytes)
    case .files(let files, _):
      for file in try CommandLimits.checkedFiles(files) { _ = try CommandLimits.checkedFile(file) }
    case .wait(let condition, let timeout):
      if case .seconds(let seconds) = condition {
        _ = try CommandLimits.checkedSeconds(seconds, key: "the time to wait")
      }
      if let timeout { _ = try CommandLimits.checkedSeconds(timeout, key: "the timeout") }
    default: break
    }
    return self
  }
}

/// The spelling of each verb.
package enum CommandName: String, CaseIterable, Sendable {
  /// Puts a text on the board.
  case text
  /// Draws a line.
  case stroke
  /// Draws on with the line that is being drawn.
  case pen
  /// Ends the line that is being drawn.
  case lift
  /// Puts a photo on the board.
  case photo
  /// Begins a game.
  case game
  /// Copies objects.
  case duplicate
  /// Takes objects in hand.
  case select
  /// Lets go.
  case deselect
  /// Moves objects.
  case move
  /// Sets a scale.
  case scale
  /// Sets an angle.
  case rotate
  /// Sets a colour.
  case color
  /// Sets the width of a line.
  case width
  /// Moves objects to the front or back.
  case order
  /// Makes a group.
  case group
  /// Takes a group apart.
  case ungroup
  /// Locks objects.
  case lock
  /// Unlocks objects.
  case unlock
  /// Replaces the words of a text.
  case edit
  /// Edits a text at a place.
  case insert
  /// Erases parts of strokes.
  case erase
  /// Deletes objects.
  case delete
  /// Brings a deleted object back.
  case undelete
  /// Removes a deleted object for good.
  case purge
  /// Makes a move in a game.
  case play
  /// Takes back a step.
  case undo
  /// Makes a step again.
  case redo
  /// Sets a setting of the board.
  case set
  /// Shows where one points.
  case point
  /// Tells what one looks at.
  case view
  /// Lets a peer in, or says that words are the same.
  case accept
  /// Turns a peer away, or says that words differ.
  case decline
  /// Removes a peer.
  case kick
  /// Hides what a member makes.
  case hide
  /// Shows again what a member makes.
  case unhide
  /// Says what a peer may do.
  case role
  /// Makes a further code.
  case invite
  /// Stops a transfer.
  case cancel
  /// Leaves the board.
  case leave
  /// Goes on alone with one's copy of the board.
  case `continue`
  /// Changes one's name and icon.
  case profile
  /// Writes a line in the chat.
  case say
  /// Sends a message.
  case send
  /// Sends a file.
  case resource
  /// Sends a file through a byte stream.
  case stream
  /// Lists the objects.
  case objects
  /// Tells one object.
  case show
  /// Lists the objects at a place.
  case find
  /// Tells what was said.
  case chat
  /// Tells the settings of the board.
  case settings
  /// Lists the peers.
  case peers
  /// Tells the digest.
  case digest
  /// Names the board as it is now.
  case checkpoint
  /// Lists the checkpoints.
  case checkpoints
  /// Tells what changed.
  case diff
  /// Goes back to a checkpoint.
  case restore
  /// Writes the board to another file.
  case saveAs = "save-as"
  /// Saves unsaved work, and reports whether everything is saved.
  case save
  /// Writes the board to a file of another kind.
  case export
  /// Puts what is in a file on the board.
  case `import`
  /// Keeps copies of objects.
  case copy
  /// Puts on the board what was copied.
  case paste
  /// Waits.
  case wait
  /// Ends the program.
  case quit
  /// Explains the verbs.
  case help

  /// Whether a word of the verb may be a colour, whose `#` begins no comment.
  var takesColor: Bool { self == .color || self == .set }
}

extension Command {
  /// How the verb is spelt in scripts.
  package var name: CommandName {
    switch self {
    case .text: .text
    case .stroke: .stroke
    case .pen: .pen
    case .lift: .lift
    case .point: .point
    case .view: .view
    case .photo: .photo
    case .game: .game
    case .duplicate: .duplicate
    case .select: .select
    case .deselect: .deselect
    case .move: .move
    case .scale: .scale
    case .rotate: .rotate
    case .color: .color
    case .width: .width
    case .order: .order
    case .group: .group
    case .ungroup: .ungroup
    case .lock: .lock
    case .unlock: .unlock
    case .edit: .edit
    case .insert: .insert
    case .erase: .erase
    case .delete: .delete
    case .undelete: .undelete
    case .purge, .purgeAuthor: .purge
    case .play: .play
    case .undo: .undo
    case .redo: .redo
    case .set: .set
    case .accept: .accept
    case .decline: .decline
    case .kick: .kick
    case .hide(_, let isHidden): isHidden ? .hide : .unhide
    case .role: .role
    case .invite: .invite
    case .cancel: .cancel
    case .leave: .leave
    case .continue: .continue
    case .profile: .profile
    case .say: .say
    case .send: .send
    case .resource: .resource
    case .stream: .stream
    case .objects: .objects
    case .show: .show
    case .find: .find
    case .chat: .chat
    case .settings: .settings
    case .peers: .peers
    case .digest: .digest
    case .checkpoint: .checkpoint
    case .checkpoints: .checkpoints
    case .diff: .diff
    case .restore: .restore
    case .saveAs: .saveAs
    case .save: .save
    case .export: .export
    case .import: .import
    case .copy: .copy
    case .paste: .paste
    case .wait: .wait
    case .quit, .quitAnyway: .quit
    case .help: .help
    }
  }
}

extension CommandName {
  /// Whether it changes the board for others too.
  package var changesBoard: Bool {
    switch self {
    case .text, .stroke, .pen, .photo, .game, .duplicate, .move, .scale, .rotate, .color, .width,
      .order, .group, .ungroup, .lock, .unlock, .edit, .insert, .erase, .delete, .undelete, .purge,
      .play, .undo, .redo, .set, .restore, .say, .import, .paste:
      true
    default: false
    }
  }

  /// Whether the verb stores nothing with the board, so that its answer does not depend on saving.
  var changesNothing: Bool {
    switch self {
    case .objects, .show, .find, .chat, .settings, .peers, .digest, .help, .diff, .checkpoints,
      .copy, .export, .save, .saveAs, .wait, .point, .view, .send, .resource, .stream, .cancel,
      .quit, .leave, .hide, .unhide:
      true
    default: false
    }
  }
}

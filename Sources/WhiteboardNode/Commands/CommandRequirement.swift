/// The requirement that a joined peer must meet before a command runs.
enum CommandRequirement: Equatable, Sendable {
  /// No requirement: the command concerns the program or the list of members.
  case nothing
  /// A connected member: the command sends data that is not stored.
  case member
  /// The board of at least one member: the command reads or writes it.
  case board
}

extension CommandName {
  /// The requirement for the command to run, if commands are held.
  ///
  /// This table alone decides which commands run before catch-up is complete.
  var requirement: CommandRequirement {
    switch self {
    case .help, .quit, .leave, .continue, .peers, .accept, .decline, .cancel, .invite, .profile,
      .wait, .save:
      .nothing
    case .send, .resource, .stream, .point, .view, .kick, .role:
      .member
    case .text, .stroke, .pen, .lift, .photo, .game, .duplicate, .select, .deselect, .move, .scale,
      .rotate, .color, .width, .order, .group, .ungroup, .lock, .unlock, .edit, .insert, .erase,
      .delete, .undelete, .purge, .play, .undo, .redo, .set, .say, .objects, .show, .find, .chat,
      .settings, .digest, .checkpoint, .checkpoints, .diff, .restore, .saveAs, .export, .import,
      .copy, .paste, .hide, .unhide:
      .board
    }
  }
}

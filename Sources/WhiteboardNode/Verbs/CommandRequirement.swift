/// What a peer that joined must have before a command runs.
enum CommandRequirement: Equatable, Sendable {
  /// Nothing: the command is about the program or about who is there.
  case nothing
  /// A connected member: the command sends something that is not stored.
  case member
  /// The board, as at least one member has it: the command reads or writes it.
  case board
}

extension VerbName {
  /// What must be there before the command runs, where commands are held.
  ///
  /// This table alone decides which commands run before catch-up is complete.
  var requirement: CommandRequirement {
    switch self {
    case .help, .quit, .leave, .peers, .accept, .decline, .cancel, .invite, .profile, .wait, .save:
      .nothing
    case .send, .resource, .stream, .point, .view, .kick, .role:
      .member
    case .text, .stroke, .pen, .lift, .photo, .game, .duplicate, .select, .deselect, .move, .scale,
      .rotate, .color, .width, .order, .group, .ungroup, .lock, .unlock, .edit, .insert, .erase,
      .delete, .undelete, .purge, .play, .undo, .redo, .set, .say, .objects, .show, .find, .chat,
      .settings, .digest, .checkpoint, .checkpoints, .diff, .restore, .saveAs, .export, .import,
      .copy, .paste:
      .board
    }
  }
}

/// The rules for running a command.
///
/// They depend only on the name of the command.
struct CommandRules: Equatable, Sendable {
  /// The requirement that a joined peer must meet before the command runs.
  enum Requirement: Equatable, Sendable {
    /// There is no requirement, because the command concerns only the program or the list of members.
    case nothing
    /// At least one member must be connected, because the command sends data that is not stored on the board.
    case member
    /// The contents of the board must have arrived from at least one member, because the command reads or changes them.
    case board
  }

  /// The data that a command changes.
  enum Effect: Equatable, Sendable {
    /// The board, for all members; the command waits until the local role is known.
    case changesBoard
    /// Other data, such as the selection, roles, the profile or checkpoints.
    case changesOtherData
    /// No stored data, so the answer does not wait for a save.
    case changesNothing
  }

  /// The requirement that a joined peer must meet before the command runs.
  let requirement: Requirement
  /// The data that the command changes.
  let effect: Effect

  init(requires requirement: Requirement, _ effect: Effect) {
    self.requirement = requirement
    self.effect = effect
  }
}

extension CommandName {
  /// The rules for running the command.
  var rules: CommandRules {
    switch self {
    case .text, .stroke, .pen, .photo, .game, .duplicate, .move, .scale, .rotate, .color, .width, .order, .group,
      .ungroup, .lock, .unlock, .edit, .insert, .erase, .delete, .undelete, .purge, .play, .undo, .redo, .set, .say,
      .restore, .import, .paste:
      CommandRules(requires: .board, .changesBoard)
    case .lift, .select, .take, .deselect, .checkpoint: CommandRules(requires: .board, .changesOtherData)
    case .hide, .unhide, .objects, .show, .find, .chat, .settings, .digest, .checkpoints, .diff, .saveAs, .export,
      .copy:
      CommandRules(requires: .board, .changesNothing)
    case .kick, .role: CommandRules(requires: .member, .changesOtherData)
    case .point, .view, .send, .resource, .stream: CommandRules(requires: .member, .changesNothing)
    case .accept, .decline, .invite, .web, .continue, .profile: CommandRules(requires: .nothing, .changesOtherData)
    case .cancel, .leave, .peers, .save, .wait, .quit, .help: CommandRules(requires: .nothing, .changesNothing)
    }
  }

  /// The requirement that a joined peer must meet before the command runs.
  var requirement: CommandRules.Requirement { rules.requirement }

  /// Whether the command changes the board for all members.
  package var changesBoard: Bool { rules.effect == .changesBoard }

  /// Whether the command changes no stored data, so that its answer does not wait for a save.
  var changesNothing: Bool { rules.effect == .changesNothing }
}

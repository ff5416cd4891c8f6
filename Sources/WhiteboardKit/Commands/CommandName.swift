/// The names of the commands, in the order in which the help lists them.
///
/// The command table has a row for each name.
package enum CommandName: String, CaseIterable, Encodable, Sendable {
  case text
  case stroke
  case pen
  case lift
  case photo
  case game
  case duplicate
  case select
  case take
  case deselect
  case move
  case scale
  case rotate
  case color
  case width
  case order
  case group
  case ungroup
  case lock
  case unlock
  case edit
  case insert
  case erase
  case delete
  case undelete
  case purge
  case play
  case undo
  case redo
  case set
  case point
  case view
  case accept
  case decline
  case kick
  case hide
  case unhide
  case role
  case invite
  case web
  case cancel
  case leave
  case `continue`
  case profile
  case say
  case send
  case resource
  case stream
  case objects
  case show
  case find
  case chat
  case settings
  case peers
  case digest
  case checkpoint
  case checkpoints
  case diff
  case restore
  case saveAs = "save-as"
  case save
  case export
  case `import`
  case copy
  case paste
  case wait
  case quit
  case help
}

extension Command {
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
    case .take: .take
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
    case .web: .web
    case .cancel: .cancel
    case .leave: .leave
    case .continue: .continue
    case .profile: .profile
    case .say: .say
    case .send: .send
    case .resource, .files: .resource
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

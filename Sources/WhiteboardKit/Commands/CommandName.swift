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

extension CommandName {
  private var rules: CommandRules { CommandTable.entry(self).rules }

  var requirement: CommandRules.Requirement { rules.requirement }

  package var changesBoard: Bool { rules.effect == .changesBoard }

  /// Whether the command changes no stored data, so that its answer does not wait for a save.
  var changesNothing: Bool { rules.effect == .changesNothing }

  /// The `#` of a color does not begin a comment.
  var acceptsColor: Bool { CommandTable.entry(self).acceptsColor }
}

import Whiteboard
import WhiteboardKit

/// A command for the selected objects: its key, its words in menus and in the help, its effect and its answers. An
/// entry of this table is all that the terminal needs for such a command.
package struct ObjectCommand: Sendable {
  typealias Hint = (KeyMap.Command, _ effect: String) -> String
  typealias Answer = @Sendable (_ objects: String, Hint) -> String

  /// The name of the command in the settings.
  let name: String
  let keys: [String]
  /// The line of the help; empty if the line of another command includes this command.
  let help: String
  /// The other commands that the line of the help includes.
  let others: [String]
  let menu: String
  /// The messages after a command was run with its key or as typed text.
  let answers: [CommandName: Answer]
  let run: @Sendable (inout Workspace) -> [BoardEffect]

  private init(
    _ name: String,
    _ keys: [String],
    _ help: String = "",
    and others: [String] = [],
    menu: String,
    answers: [CommandName: Answer] = [:],
    run: @escaping @Sendable (inout Workspace) -> [BoardEffect]
  ) {
    self.name = name
    self.keys = keys
    self.help = help
    self.others = others
    self.menu = menu
    self.answers = answers
    self.run = run
  }

  static let delete = ObjectCommand(
    "delete",
    ["x", "delete", "backspace"],
    "delete the selection",
    menu: "delete",
    answers: [
      .delete: { "deleted \($0)" + $1(.undo, "restores them") },
      .clear: { "deleted \($0)" + $1(.undo, "restores them") },
    ]
  ) { $0.changeSelection { .delete($0) } }

  static let duplicate = ObjectCommand(
    "duplicate",
    ["d"],
    "duplicate the selection",
    menu: "duplicate",
    answers: [.duplicate: { (objects, _) in "duplicated \(objects)" }]
  ) { (workspace) in
    if !workspace.scene.selection.isEmpty { workspace.requestToSelect = workspace.requests.nextID }
    return workspace.changeSelection { .duplicate($0, alias: nil) }
  }

  /// If nothing is selected, the client copies the link of the board instead.
  static let copy = ObjectCommand(
    "copy",
    ["y"],
    "copy the selection, to paste it on any board; if nothing is selected, copy the board's link",
    menu: "copy"
  ) { $0.changeSelection { .copy($0) } }

  static let paste = ObjectCommand(
    "paste",
    ["V", "ctrl+v"],
    "paste the copied objects here",
    menu: "paste",
    answers: [.paste: { (objects, _) in "pasted \(objects)" }]
  ) { $0.pasteObjects() }

  static let group = ObjectCommand(
    "group",
    ["g"],
    "group or ungroup the selection",
    and: ["ungroup"],
    menu: "group",
    answers: [.group: { "grouped" + $1(.object(.ungroup), "ungroups") }]
  ) { (workspace) in
    guard workspace.scene.selection.count != 1 else {
      return [.problem("a group needs at least two objects; select more (Ctrl+click adds one)")]
    }
    return workspace.changeSelection { .group($0, alias: nil) }
  }

  static let ungroup = ObjectCommand(
    "ungroup",
    ["G"],
    menu: "ungroup",
    answers: [.ungroup: { (_, _) in "ungrouped" }]
  ) { (workspace) in
    let groups = Set(workspace.scene.selectedSnapshots.compactMap { $0.groups.last })
    guard !groups.isEmpty else { return [.message("the selection contains no group")] }
    return groups.sorted().flatMap { workspace.requests.issue(.ungroup(.id($0))) }
  }

  static let lock: ObjectCommand = ObjectCommand(
    "lock",
    ["L"],
    "lock or unlock the selection",
    menu: "lock or unlock",
    answers: [
      .lock: { "locked \($0)" + $1(.object(.lock), "unlocks") }, .unlock: { (objects, _) in "unlocked \(objects)" },
    ]
  ) { (workspace) in
    let isLocked = workspace.scene.selectedSnapshots.contains { $0.isLocked }
    return workspace.changeSelection { isLocked ? .unlock($0) : .lock($0) }
  }

  static let raise = ObjectCommand(
    "front",
    ["]"],
    "move the selection to the front or to the back",
    and: ["back"],
    menu: "to the front",
    answers: [.order: { (objects, _) in "changed the order of \(objects)" }]
  ) { $0.changeSelection { .order($0, .front) } }

  static let lower = ObjectCommand("back", ["["], menu: "to the back") { $0.changeSelection { .order($0, .back) } }

  /// The commands without keys that place several objects.
  static let arranging: [ObjectCommand] =
    [
      (AlignmentEdge.left, "align left"), (.center, "align centers"), (.right, "align right"), (.top, "align top"),
      (.middle, "align middles"), (.bottom, "align bottom"),
    ].map { edge, words in
      ObjectCommand(
        "align-\(edge.rawValue)",
        [],
        menu: words,
        answers: [.align: { (objects, _) in "aligned \(objects)" }]
      ) { $0.changeSelection { .align($0, edge) } }
    }
    + BoardAxis.allCases.map { axis in
      ObjectCommand(
        "distribute-\(axis.rawValue)",
        [],
        menu: "distribute \(axis.rawValue)",
        answers: [.distribute: { (objects, _) in "distributed \(objects)" }]
      ) { $0.changeSelection { .distribute($0, axis) } }
    }

  /// The commands without keys that mirror the selection.
  static let mirroring = BoardAxis.allCases.map { axis in
    ObjectCommand(
      "flip-\(axis.rawValue)",
      [],
      menu: "mirror \(axis.rawValue)",
      answers: [.flip: { (objects, _) in "mirrored \(objects)" }]
    ) { $0.changeSelection { .flip($0, axis) } }
  }

  /// All commands that have keys, in the order of the help.
  static let all = [delete, duplicate, copy, paste, group, ungroup, lock, raise, lower]

  /// The commands in the menu of the selection.
  static let ofSelection = [duplicate, copy, raise, lower, group, ungroup, lock, delete] + mirroring

  /// Returns nil if the table has no message for the command.
  static func answer(to command: CommandName, _ objects: String, _ hint: Hint) -> String? {
    (all + arranging + mirroring).lazy.compactMap { $0.answers[command] }.first.map { $0(objects, hint) }
  }
}

extension ObjectCommand: Hashable {
  package static func == (left: ObjectCommand, right: ObjectCommand) -> Bool { left.name == right.name }

  package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

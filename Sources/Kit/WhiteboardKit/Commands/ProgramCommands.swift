enum ProgramCommands {
  private static let rules = CommandRules(requires: .nothing, .changesNothing)

  static let leave = CommandSpec(.leave, rules: rules, "leave the board, but stay in the program") {
    (runner, _) async throws(CommandError) in
    .done(await runner.leave())
  }

  static let `continue` = CommandSpec(
    .continue,
    rules: CommandRules(requires: .nothing, .changesOtherData),
    "continue on your own copy of a board from which the host removed you",
    notes: ["Until you use this command, your changes are refused. Your later changes are not sent to other members."]
  ) { (runner, _) async throws(CommandError) in
    .done(try await runner.localRemoval.continueAlone())
  }

  static let wait = CommandSpec(
    .wait,
    rules: rules,
    "wait until there are at least N peers or objects (0: none at all), all boards are equal, or SECONDS have passed",
    notes: [
      "`wait synced` needs another member. If no other member is connected or reconnecting, it waits for one until",
      "timeout= has passed. Without timeout=, it fails; use `wait peers=1` first to wait for a member.",
    ],
    .condition,
    .timeout
  ) { (runner, _, condition, timeout) async throws(CommandError) in
    try await runner.wait(for: condition, timeout: timeout.map { .seconds($0) })
  }

  static let quit = CommandSpec(
    .quit,
    rules: rules,
    "leave the board and end the program; with `anyway`, even if work is not saved",
    .flag("anyway")
  ) { (runner, request, isAnyway) async throws(CommandError) in
    if !isAnyway { try await runner.checkQuit() }
    await runner.quit(request)
    return nil
  }

  static let help = CommandSpec(.help, rules: rules, "explain a command, or list all commands", .help) {
    (runner, request, text) async throws(CommandError) in
    runner.answer(.help(text), to: request)
  }
}

extension Command {
  /// Leaves the board without exiting the program.
  public static let leave = ProgramCommands.leave()

  /// Allows changes to the local copy of a board from which the host removed this peer.
  public static let `continue` = ProgramCommands.continue()

  /// Waits until a condition holds, or for at most `timeout` seconds.
  public static func wait(_ condition: WaitCondition, timeout: Double?) -> Command {
    ProgramCommands.wait(condition, timeout)
  }

  /// Leaves the board and exits the program; fails if a user typed the command and work would be lost.
  public static let quit = ProgramCommands.quit(false)

  /// Leaves the board and exits the program, even if work is lost.
  public static let quitAnyway = ProgramCommands.quit(true)

  /// Reports the help text, which the command parser supplies.
  public static func help(text: String) -> Command { ProgramCommands.help(text) }
}

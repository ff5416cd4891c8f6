import PeerCore
import WhiteboardKit

/// The commands that wait, show help, and leave the board or the program.
enum ProgramCommands {
  static let leave = CommandEntry(.leave, summary: "leave the board, but stay in the program")

  static let `continue` = CommandEntry(
    .continue,
    summary: "continue on your own copy of a board from which the host removed you",
    notes: ["Until you use this command, your changes are refused. Your later changes are not sent to other members."]
  )

  static let wait = CommandEntry(
    .wait,
    arguments: "peers=N|objects=N|synced|SECONDS [timeout=SECONDS]",
    summary:
      "wait until there are at least N peers or objects (0: none at all), all boards are equal, or SECONDS have passed",
    keys: ["peers", "objects", "synced", "seconds", "timeout"],
    words: { arguments throws(CommandError) in
      let timeout = try arguments.removeSeconds("timeout")
      return .wait(try condition(&arguments), timeout: timeout)
    },
    json: { fields throws(CommandError) in .wait(try condition(fields), timeout: try fields.secondsIfAny("timeout")) }
  )

  private static func condition(_ arguments: inout LineArguments) throws(CommandError) -> WaitCondition {
    let word = try arguments.next("a condition, like peers=1")
    if word.text == "synced" { return .synced }
    if let count = word.value(of: "peers") { return .peers(try Self.count(count, key: "peers")) }
    if let count = word.value(of: "objects") { return .objects(try Self.count(count, key: "objects")) }
    guard let seconds = TextCommandParser.number(word.text) else {
      throw CommandError(
        .badArgument,
        "cannot wait for \(UntrustedText(word.text).quoted()); give peers=N, objects=N, synced or SECONDS"
      )
    }
    return .seconds(try CommandLimits.checkedSeconds(seconds, key: "the time to wait"))
  }

  private static func count(_ text: String, key: String) throws(CommandError) -> Int {
    guard let count = Int64(text) else {
      throw CommandError(.badArgument, "\(key)= must be a whole number, like \(key)=2")
    }
    return try CommandLimits.checkedCount(count, key: key)
  }

  private static func condition(_ fields: JSONFields) throws(CommandError) -> WaitCondition {
    guard ["peers", "objects", "synced", "seconds"].filter(fields.has).count == 1 else {
      throw CommandError(.missingArgument, "give one condition: peers, objects, synced or seconds")
    }
    if fields.has("peers") { return .peers(try fields.count("peers")) }
    if fields.has("objects") { return .objects(try fields.count("objects")) }
    if fields.has("synced") {
      guard fields.flag("synced") else {
        throw CommandError(.badArgument, #"to wait for equal boards, write "synced":true"#)
      }
      return .synced
    }
    return .seconds(try CommandLimits.checkedSeconds(fields.number("seconds"), key: "seconds"))
  }

  static let quit = CommandEntry(
    .quit,
    arguments: "[anyway]",
    summary: "leave the board and end the program; with `anyway`, even if work is not saved",
    keys: ["anyway"],
    words: { arguments in arguments.removeFlag("anyway") ? .quitAnyway : .quit },
    json: { fields in fields.flag("anyway") ? .quitAnyway : .quit }
  )

  static let help = CommandEntry(
    .help,
    arguments: "[COMMAND|verbs]",
    summary: "explain one command, or list all",
    keys: ["topic"],
    words: { arguments throws(CommandError) in .help(text: try CommandTable.help(arguments.nextIfAny()?.text)) },
    json: { fields throws(CommandError) in .help(text: try CommandTable.help(fields.stringIfAny("topic"))) }
  )
}

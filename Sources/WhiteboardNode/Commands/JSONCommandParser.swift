import FoundationEssentials
import WhiteboardRendering

/// The JSON form of the verb grammar: `{"verb":"move","id":"last","by":[10,0]}`.
enum JSONCommandParser {
  static func parse(_ line: [UInt8]) throws(CommandError) -> CommandRequest? {
    let fields: JSONFields
    do {
      fields = try JSONDecoder().decode(JSONFields.self, from: Data(line))
    } catch let error as CommandError {
      throw error
    } catch let error as DecodingError {
      throw CommandError(.syntax, describe(error))
    } catch {
      throw CommandError(.syntax, "the line is not JSON")
    }
    let request = fields.request
    guard let word = fields.verb else {
      throw CommandError(
        .missingArgument,
        #"a line of JSON needs "verb", like {"verb":"digest"}"#,
        request: request
      )
    }
    guard let name = CommandName(rawValue: word) else {
      throw CommandParser.unknownCommand(word)
        .answering(verb: TerminalText.cleaned(word, limit: 64), request: request)
    }
    do throws(CommandError) {
      try fields.expectOnly(CommandTable.entry(name).keys)
      return CommandRequest(try verb(name, fields), request: request)
    } catch {
      throw error.answering(verb: name.rawValue, request: request)
    }
  }

  private static func verb(_ name: CommandName, _ fields: JSONFields) throws(CommandError)
    -> Command
  {
    switch name {
    case .text: try text(fields)
    case .stroke: try stroke(fields)
    case .pen: try pen(fields)
    case .lift: .lift
    case .photo: try photo(fields)
    case .game: try game(fields)
    case .duplicate: try duplicate(fields)
    case .select: .select(try fields.references())
    case .deselect: .deselect
    case .move: .move(try fields.references(), try movement(fields))
    case .scale: try scale(fields)
    case .rotate: try rotate(fields)
    case .color: .color(try fields.references(), try CommandParser.color(fields.string("color")))
    case .width: try width(fields)
    case .order: .order(try fields.references(), try place(fields))
    case .group: .group(try fields.references(), alias: try fields.alias())
    case .ungroup: .ungroup(try fields.reference())
    case .lock: .lock(try fields.references())
    case .unlock: .unlock(try fields.references())
    case .edit: .edit(try fields.reference(), words: try fields.words())
    case .insert: try insert(fields)
    case .erase: try erase(fields)
    case .delete: .delete(try fields.references())
    case .undelete: .undelete(try fields.reference())
    case .purge: try purge(fields)
    case .play: try play(fields)
    case .undo: .undo
    case .redo: .redo
    case .set: .set(try setting(fields))
    case .point: try pointer(fields)
    case .view: .view(try view(fields))
    case .accept: .accept(target: try fields.target(), isAlways: try fields.flag("always"))
    case .decline: .decline(target: try fields.target(), reason: try fields.reason())
    case .hide: .hide(target: try fields.target(), isHidden: true)
    case .unhide: .hide(target: try fields.target(), isHidden: false)
    case .kick:
      .kick(
        target: try fields.target(),
        reason: try fields.reason(),
        withAdmitted: try fields.flag("withAdmitted"),
        keepsCode: try fields.flag("keepCode")
      )
    case .invite:
      .invite(
        try CommandParser.terms(
          isView: try fields.flag("view"),
          expires: try fields.stringIfAny("expires")
        )
      )
    case .role:
      .role(target: try fields.target(), try CommandParser.role(fields.string("role")))
    case .cancel: .cancel(target: try fields.target(), reason: try fields.reason())
    case .leave: .leave
    case .continue: .continue
    case .profile: try profile(fields)
    case .say: .say(words: try fields.words())
    case .send: try send(fields)
    case .resource: try resource(fields)
    case .stream: try stream(fields)
    case .objects: .objects
    case .show: .show(try fields.reference())
    case .find: .find(try area(fields))
    case .chat: .chat
    case .settings: .settings
    case .peers: .peers
    case .digest: .digest
    case .checkpoint: .checkpoint(name: try fields.checkpoint("name"))
    case .checkpoints: .checkpoints
    case .diff: try diff(fields)
    case .restore: .restore(name: try fields.checkpoint("name"))
    case .saveAs: .saveAs(file: try fields.file())
    case .save: .save
    case .export: try export(fields)
    case .copy: .copy(try fields.references())
    case .paste: .paste(at: try fields.pointIfAny("at"))
    case .import: .import(file: try fields.file(), at: try fields.pointIfAny("at"))
    case .wait: try wait(fields)
    case .quit: try fields.flag("anyway") ? .quitAnyway : .quit
    case .help: .help(topic: try fields.stringIfAny("topic"))
    }
  }

  private static func describe(_ error: DecodingError) -> String {
    switch error {
    case .dataCorrupted:
      return "the line is not one whole JSON object"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      let key = context.codingPath.first?.stringValue ?? "the line"
      return "\(TerminalText.quoted(key)) is not of the kind it has to be; see `help verbs`"
    case .keyNotFound(let key, _):
      return "\(TerminalText.quoted(key.stringValue)) is missing"
    @unknown default:
      return "the line is not one whole JSON object"
    }
  }
}

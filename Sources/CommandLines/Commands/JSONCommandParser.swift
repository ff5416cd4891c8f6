import FoundationEssentials
import PeerCore
import WhiteboardKit

/// A parser of commands in their JSON form, such as `{"verb":"move","id":"last","by":[10,0]}`.
enum JSONCommandParser {
  static func parse(_ line: [UInt8]) throws(CommandError) -> CommandRequest? {
    let fields: JSONFields
    do { fields = try JSONDecoder().decode(JSONFields.self, from: Data(line)) } catch let error as CommandError {
      throw error
    } catch let error as DecodingError { throw CommandError(.syntax, describe(error)) } catch {
      throw CommandError(.syntax, "the line is not JSON")
    }
    let request = fields.request
    guard let word = fields.verb else {
      throw CommandError(.missingArgument, #"a line of JSON needs "verb", like {"verb":"digest"}"#, request: request)
    }
    guard let name = CommandName(rawValue: word) else {
      throw CommandParser.unknownCommand(word).answering(verb: UntrustedText(word).escaped(limit: 64), request: request)
    }
    let entry = CommandTable.entry(name)
    do throws(CommandError) {
      try fields.expectOnly(entry.keys)
      return CommandRequest(try entry.parseJSON(fields), request: request)
    } catch { throw error.answering(verb: name.rawValue, request: request) }
  }

  private static func describe(_ error: DecodingError) -> String {
    switch error {
    case .dataCorrupted: return "the line is not one complete JSON object"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      let key = context.codingPath.first?.stringValue ?? "the line"
      return "\(UntrustedText(key).quoted()) has a value of the wrong type; see `help verbs`"
    case .keyNotFound(let key, _): return "\(UntrustedText(key.stringValue).quoted()) is missing"
    @unknown default: return "the line is not one complete JSON object"
    }
  }
}

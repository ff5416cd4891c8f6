import WhiteboardKit

/// The commands that list or show the content of the board and the state of the session.
enum QueryCommands {
  static let objects = CommandEntry(.objects, summary: "list the objects on the board")

  static let show = CommandEntry(
    .show,
    summary: "show all properties of an object or group, and the state of a game as you see it",
    object: { .show($0) }
  )

  static let find = CommandEntry(
    .find,
    arguments: "X,Y [X,Y] [inside]",
    summary: "list the objects at a point, or those that touch a rectangle; with `inside`, only those wholly inside it",
    keys: ["at", "to", "inside"],
    words: { arguments throws(CommandError) in
      let isInside = arguments.removeFlag("inside")
      let corner = try arguments.point("the point, as X,Y")
      guard let other = try arguments.pointIfAny() else {
        guard !isInside else { throw CommandError(.missingArgument, "`inside` needs a rectangle; give two corners") }
        return .find(.point(corner))
      }
      return .find(.rectangle(corner, other, isInside: isInside))
    },
    json: { fields throws(CommandError) in
      let corner = try fields.point("at")
      let isInside = fields.flag("inside")
      guard let other = try fields.pointIfAny("to") else {
        guard !isInside else {
          throw CommandError(.missingArgument, #""inside" needs a rectangle; give "at" and "to""#)
        }
        return .find(.point(corner))
      }
      return .find(.rectangle(corner, other, isInside: isInside))
    }
  )

  static let chat = CommandEntry(.chat, summary: "show the chat")

  static let settings = CommandEntry(.settings, summary: "show the settings of the board")

  static let peers = CommandEntry(.peers, summary: "list the peers of the session")

  static let digest = CommandEntry(.digest, summary: "show the digest of the board")
}

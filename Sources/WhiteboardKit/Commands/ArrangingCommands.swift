import PeerCore

/// The commands that select, move, stack, group and lock objects.
enum ArrangingCommands {
  static let select = CommandEntry(.select, summary: "select exactly these objects", objects: { .select($0) })

  static let take = CommandEntry(
    .take,
    summary: "select exactly these objects, even if others have selected them",
    notes: [
      "A member who has selected an object holds it: others cannot change it for up to 60 seconds after that",
      "member's last change of it. `take` ends this at once. The member cannot hold the object again for 4 minutes.",
    ],
    objects: { .take($0) }
  )

  static let deselect = CommandEntry(.deselect, summary: "clear the selection")

  static let move = CommandEntry(
    .move,
    arguments: "ID … X,Y|+DX,DY",
    summary: "move an object, or several objects by their common center, to a point or by a distance",
    keys: ["id", "ids", "to", "by"],
    words: { arguments throws(CommandError) in
      let (references, word) = try arguments.references(before: "the target, as X,Y or +DX,DY")
      guard word.text.utf8.first == UInt8(ascii: "+") else {
        return .move(references, .to(try TextCommandParser.point(word.text)))
      }
      return .move(references, .by(try TextCommandParser.point(word.text.dropFirst())))
    },
    json: { fields throws(CommandError) in
      let references = try fields.references()
      switch (try fields.pointIfAny("to"), try fields.pointIfAny("by")) {
      case (let point?, nil): return .move(references, .to(point))
      case (nil, let distance?): return .move(references, .by(distance))
      case (nil, nil): throw CommandError(.missingArgument, #"give the target: "to":[x,y] or "by":[dx,dy]"#)
      case (_?, _?): throw CommandError(.badArgument, #"give one target: "to" or "by", not both"#)
      }
    }
  )

  static let scale = CommandEntry(
    .scale,
    arguments: "ID … FACTOR [about=X,Y] [line=keep]",
    summary: "set the scale of an object (1 is its original size), or scale several objects about their center",
    notes: [
      "about= is the fixed point of the scaling (default: the center).",
      "With line=keep, the width of lines does not change.",
    ],
    keys: ["id", "ids", "factor", "about", "line"],
    words: { arguments throws(CommandError) in
      let about = try arguments.removePoint("about")
      let line = try arguments.removeValue("line")
      let (references, word) = try arguments.references(before: "the scale, like 1.5")
      return .scale(
        references,
        factor: try CommandLimits.checkedFactor(TextCommandParser.number(word.text) ?? .nan),
        about: about,
        keepsLineWidth: try CommandParser.keepsLineWidth(line)
      )
    },
    json: { fields throws(CommandError) in
      let factor = try CommandLimits.checkedFactor(fields.number("factor"))
      return .scale(
        try fields.references(),
        factor: factor,
        about: try fields.pointIfAny("about"),
        keepsLineWidth: try CommandParser.keepsLineWidth(fields.stringIfAny("line"))
      )
    }
  )

  static let rotate = CommandEntry(
    .rotate,
    arguments: "ID … DEGREES",
    summary: "set the angle of an object, clockwise (0 is upright), or rotate several objects about their center",
    keys: ["id", "ids", "degrees"],
    words: { arguments throws(CommandError) in
      let (references, word) = try arguments.references(before: "the angle in degrees, like 90")
      let degrees = TextCommandParser.number(word.text) ?? .nan
      return .rotate(references, degrees: try CommandLimits.checkedDegrees(degrees))
    },
    json: { fields throws(CommandError) in
      let degrees = try CommandLimits.checkedDegrees(fields.number("degrees"))
      return .rotate(try fields.references(), degrees: degrees)
    }
  )

  static let order = CommandEntry(
    .order,
    arguments: "ID … front|back|forward|backward|above=ID|below=ID",
    summary: "move objects to the front or back, by one step, or next to another object",
    notes: ["Above or below a group means above or below all its objects."],
    keys: ["id", "ids", "place", "above", "below"],
    words: { arguments throws(CommandError) in
      let above = try arguments.removeReference("above")
      let below = try arguments.removeReference("below")
      switch (above, below) {
      case (let other?, nil): return .order(try arguments.references(), .above(other))
      case (nil, let other?): return .order(try arguments.references(), .below(other))
      case (_?, _?): throw CommandError(.badArgument, "give either above= or below=, not both")
      case (nil, nil):
        let (references, word) = try arguments.references(before: "the new position, like front")
        guard let place = StackPlace(word.text) else {
          throw CommandError(
            .badArgument,
            "\(UntrustedText(word.text).quoted()) is not front, back, forward or backward"
          )
        }
        return .order(references, place)
      }
    },
    json: { fields throws(CommandError) in
      let references = try fields.references()
      let word = fields.stringIfAny("place")
      let above = try fields.referenceIfAny("above")
      let below = try fields.referenceIfAny("below")
      switch (word, above, below) {
      case (let word?, nil, nil):
        guard let place = StackPlace(word) else {
          throw CommandError(.badArgument, "place must be front, back, forward or backward")
        }
        return .order(references, place)
      case (nil, let other?, nil): return .order(references, .above(other))
      case (nil, nil, let other?): return .order(references, .below(other))
      case (nil, nil, nil):
        throw CommandError(.missingArgument, #"give the new position: "place":"front", "above":ID or "below":ID"#)
      case (_, _?, _?), (_?, _?, _), (_?, _, _?):
        throw CommandError(.badArgument, #"give one position: "place", "above" or "below""#)
      }
    }
  )

  static let group = CommandEntry(
    .group,
    arguments: "ID … [as=ALIAS]",
    summary: "group objects",
    keys: ["id", "ids", "as"],
    words: { arguments throws(CommandError) in
      let alias = try arguments.removeAlias()
      return .group(try arguments.references(), alias: alias)
    },
    json: { fields throws(CommandError) in .group(try fields.references(), alias: try fields.alias()) }
  )

  static let ungroup = CommandEntry(.ungroup, summary: "ungroup the objects of a group", object: { .ungroup($0) })

  static let lock = CommandEntry(.lock, summary: "lock objects, so that they cannot be changed", objects: { .lock($0) })

  static let unlock = CommandEntry(.unlock, summary: "unlock objects", objects: { .unlock($0) })
}

extension StackPlace {
  /// Creates a position from `front`, `back`, `forward` or `backward`; nil for other words.
  init?(_ word: some StringProtocol) {
    switch word {
    case "front": self = .front
    case "back": self = .back
    case "forward": self = .forward
    case "backward": self = .backward
    default: return nil
    }
  }
}

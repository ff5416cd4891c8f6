enum MemberCommands {
  static let point = CommandEntry(
    .point,
    arguments: "X,Y|none [laser]",
    summary: "show the others where you point; `laser` makes the pointer bright and gives it a trail",
    keys: ["at", "laser"],
    words: { arguments throws(CommandError) in
      let isLaser = arguments.removeFlag("laser")
      let word = try arguments.next("the point, as X,Y, or none")
      guard word.text != "none" else {
        guard !isLaser else { throw CommandParser.laserWithoutPoint }
        return .point(nil)
      }
      return .point(try TextCommandParser.point(word.text), isLaser: isLaser)
    },
    json: { fields throws(CommandError) in
      let isLaser = fields.flag("laser")
      guard let place = try fields.pointIfAny("at") else {
        guard !isLaser else { throw CommandParser.laserWithoutPoint }
        return .point(nil)
      }
      return .point(place, isLaser: isLaser)
    }
  )

  static let view = CommandEntry(
    .view,
    arguments: "X,Y WIDTH HEIGHT|none",
    summary: "show the others which part of the board you see, so that they can follow you",
    notes: ["X,Y is the center. The width and height are in board units, rounded to whole ones."],
    keys: ["at", "width", "height"],
    words: { arguments throws(CommandError) in
      let word = try arguments.next("the center, as X,Y, or none")
      guard word.text != "none" else { return .view(nil) }
      let center = try TextCommandParser.point(word.text)
      let width = TextCommandParser.number(try arguments.next("the width, like 800").text) ?? .nan
      let height = TextCommandParser.number(try arguments.next("the height, like 600").text) ?? .nan
      return .view(
        BoardView(
          center: center,
          width: try CommandLimits.checkedExtent(width, key: "the width"),
          height: try CommandLimits.checkedExtent(height, key: "the height")
        )
      )
    },
    json: { fields throws(CommandError) in
      guard fields.has("at") || fields.has("width") || fields.has("height") else { return .view(nil) }
      return .view(
        BoardView(
          center: try fields.point("at"),
          width: try CommandLimits.checkedExtent(fields.number("width"), key: "width"),
          height: try CommandLimits.checkedExtent(fields.number("height"), key: "height")
        )
      )
    }
  )

  static let accept = CommandEntry(
    .accept,
    arguments: "INVITATION|FILE [always]",
    summary: "admit a peer that asks to join, confirm verification words, or accept an offered file",
    notes: [
      "With `always`, you are not asked again when the peer joins a board that you open with --admit ask.",
      "`kick` or `whiteboard-peer peers forget` revokes this permission.",
      "FILE is the id of the transfer, the name of the file, or the name of the member that offers it.",
    ],
    keys: ["target", "always"],
    words: { arguments throws(CommandError) in
      let isAlways = arguments.removeFlag("always")
      return .accept(target: try arguments.target("the invitation"), isAlways: isAlways)
    },
    json: { fields throws(CommandError) in .accept(target: try fields.target(), isAlways: fields.flag("always")) }
  )

  static let decline = CommandEntry(
    .decline,
    arguments: #"INVITATION|FILE ["WHY"]"#,
    summary: "refuse a peer that asks to join, reject verification words, or decline an offered file",
    keys: ["target", "reason"],
    words: { arguments throws(CommandError) in
      let target = try arguments.target("the invitation")
      return .decline(target: target, reason: try arguments.wordsIfAny("the reason"))
    },
    json: { fields throws(CommandError) in .decline(target: try fields.target(), reason: try fields.reason()) }
  )

  static let kick = CommandEntry(
    .kick,
    arguments: #"[--with-admitted] [--keep-code] PEER ["WHY"]"#,
    summary: "remove a peer from the board, and refuse it from now on",
    notes: [
      "The peer cannot return, even after a restart, and is no longer a known peer. On a board that you own,",
      "later changes by the peer are rejected. --with-admitted also removes the members that the peer admitted,",
      "and the members that they admitted, as far as this program knows. A board with a join code gets a new",
      "code, which is printed. This program, its relay and the connected members then refuse older codes. A",
      "member that is away learns the new code when it returns. The browser links that removed members used admit no",
      "new people. --keep-code keeps the codes and links.",
    ],
    keys: ["target", "reason", "withAdmitted", "keepCode"],
    words: { arguments throws(CommandError) in
      let withAdmitted = arguments.removeFlag("--with-admitted")
      let keepsCode = arguments.removeFlag("--keep-code")
      let target = try arguments.target("the peer")
      return .kick(
        target: target,
        reason: try arguments.wordsIfAny("the reason"),
        withAdmitted: withAdmitted,
        keepsCode: keepsCode
      )
    },
    json: { fields throws(CommandError) in
      .kick(
        target: try fields.target(),
        reason: try fields.reason(),
        withAdmitted: fields.flag("withAdmitted"),
        keepsCode: fields.flag("keepCode")
      )
    }
  )

  static let hide = CommandEntry(
    .hide,
    arguments: "PEER",
    summary: "hide the objects, pointer and chat of a present or former member",
    notes: [
      "The member is hidden only on your screen, but on all boards, even after a restart.",
      "`objects`, exports and JSON events still include the hidden objects.",
    ],
    keys: ["target"],
    words: { arguments throws(CommandError) in .hide(target: try arguments.target("the author"), isHidden: true) },
    json: { fields throws(CommandError) in .hide(target: try fields.target(), isHidden: true) }
  )

  static let unhide = CommandEntry(
    .unhide,
    arguments: "PEER",
    summary: "show the objects, pointer and chat of a hidden member again",
    keys: ["target"],
    words: { arguments throws(CommandError) in .hide(target: try arguments.target("the author"), isHidden: false) },
    json: { fields throws(CommandError) in .hide(target: try fields.target(), isHidden: false) }
  )

  static let role = CommandEntry(
    .role,
    arguments: "PEER editor|viewer",
    summary: "set whether a peer can edit a board that you own",
    notes: [
      "Only for boards created with --owned. If an editor becomes a viewer, its changes that have reached you",
      "stay on the board. Later changes by this member are rejected.",
    ],
    keys: ["target", "role"],
    words: { arguments throws(CommandError) in
      let target = try arguments.target("the peer")
      return .role(target: target, try CommandParser.role(arguments.next("editor or viewer").text))
    },
    json: { fields throws(CommandError) in
      .role(target: try fields.target(), try CommandParser.role(fields.string("role")))
    }
  )

  static let invite = CommandEntry(
    .invite,
    arguments: "[web] [once] [view] [expires=TIME]",
    summary: "create an additional code, or a browser link",
    notes: [
      "`web` creates a browser link; see `help web`. With `view`, people who join with the code or link can only",
      "view the board. TIME is a number and s, m, h or d, at most 30d. A code is valid only while the board is open. So",
      "is a browser link without TIME, unless a relay keeps the board open. A browser link with TIME stays valid if",
      "the board is closed and opened again before the link expires. With `web once`, the link admits one person, and",
      "the address that this person's browser stores admits no other person.",
    ],
    keys: ["web", "once", "view", "expires"],
    words: { arguments throws(CommandError) in
      let expires = try arguments.removeValue("expires")
      let isForBrowsers = arguments.removeFlag("web")
      let isOnce = arguments.removeFlag("once")
      let isView = arguments.removeFlag("view")
      return .invite(
        try CommandParser.terms(isView: isView, isForBrowsers: isForBrowsers, isOnce: isOnce, expires: expires)
      )
    },
    json: { fields throws(CommandError) in
      .invite(
        try CommandParser.terms(
          isView: fields.flag("view"),
          isForBrowsers: fields.flag("web"),
          isOnce: fields.flag("once"),
          expires: fields.stringIfAny("expires")
        )
      )
    }
  )

  static let web = CommandEntry(
    .web,
    arguments: "on|off|revoke",
    summary: "let people join from a browser, or end their access",
    notes: [
      "`on` shows a link that opens the board in any browser on this network, for example on a phone.",
      "`off` disconnects everyone who joined from a browser. Their links work again after `on`.",
      "`revoke` revokes all browser links, and removes everyone who joined with them.",
      "Links without a time limit stop working when the board closes, unless a relay keeps it open. For a link with a",
      "time limit, use `invite web expires=TIME`.",
    ],
    keys: ["state"],
    words: { arguments throws(CommandError) in
      .web(try CommandParser.webAccess(arguments.next("on, off or revoke").text))
    },
    json: { fields throws(CommandError) in .web(try CommandParser.webAccess(fields.string("state"))) }
  )

  static let profile = CommandEntry(
    .profile,
    arguments: "[name=NAME] [icon=ICON|none]",
    summary: "set or show your name and icon (`help profile` lists the icons)",
    notes: ["ICON is none, or one of these, by name or as an emoji:", CommandParser.icons],
    keys: ["name", "icon"],
    words: { arguments throws(CommandError) in
      let name = try arguments.removeValue("name")
      let icon = try arguments.removeValue("icon")
      return .profile(name: try CommandLimits.checkedDisplayName(name), icon: try CommandParser.iconChange(icon))
    },
    json: { fields throws(CommandError) in
      .profile(
        name: try CommandLimits.checkedDisplayName(fields.stringIfAny("name")),
        icon: try CommandParser.iconChange(fields.stringIfAny("icon"))
      )
    }
  )
}

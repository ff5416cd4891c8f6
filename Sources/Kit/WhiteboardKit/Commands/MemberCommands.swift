enum MemberCommands {
  private static let sending = CommandRules(requires: .member, .changesNothing)
  private static let ruling = CommandRules(requires: .member, .changesOtherData)
  private static let local = CommandRules(requires: .nothing, .changesOtherData)

  static let point = CommandSpec(
    .point,
    rules: sending,
    "show the others where you point; `laser` makes the pointer bright and gives it a trail",
    .pointOrNone,
    .flag("laser"),
    check: { (point, isLaser) throws(CommandError) in
      guard point != nil || !isLaser else { throw CommandError(.badArgument, "give the point of the laser, as X,Y") }
    },
    run: { (runner, _, point, isLaser) async throws(CommandError) in
      .done(try runner.board.editor.point(at: point, isLaser: isLaser))
    }
  )

  static let view = CommandSpec(
    .view,
    rules: sending,
    "show the others which part of the board you see, so that they can follow you",
    notes: ["X,Y is the center. The width and height are in board units, rounded to whole ones."],
    .view
  ) { (runner, _, view) async throws(CommandError) in
    .done(try runner.board.editor.show(view))
  }

  static let accept = CommandSpec(
    .accept,
    rules: local,
    "admit a peer that asks to join, confirm verification words, or accept an offered file",
    notes: [
      "With `always`, you are not asked again when the peer joins a board that you open with --admit ask.",
      "`kick` or `whiteboard-peer peers forget` revokes this permission.",
      "FILE is the id of the transfer, the name of the file, or the name of the member that offers it.",
    ],
    .target("INVITATION|FILE", "the invitation"),
    .flag("always")
  ) { (runner, _, target, isAlways) async throws(CommandError) in
    .done(try await runner.accept(target, isAlways: isAlways))
  }

  static let decline = CommandSpec(
    .decline,
    rules: local,
    "refuse a peer that asks to join, reject verification words, or decline an offered file",
    .target("INVITATION|FILE", "the invitation"),
    .reason
  ) { (runner, _, target, reason) async throws(CommandError) in
    .done(try await runner.decline(target, reason: reason ?? ""))
  }

  static let kick = CommandSpec(
    .kick,
    rules: ruling,
    usage: #"[--with-admitted] [--keep-code] PEER ["WHY"]"#,
    "remove a peer from the board, and refuse it from now on",
    notes: [
      "The peer cannot return, even after a restart, and is no longer a known peer. On a board that you own,",
      "later changes by the peer are rejected. --with-admitted also removes the members that the peer admitted,",
      "and the members that they admitted, as far as this program knows. A board with a join code gets a new",
      "code, which is printed. This program, its relay and the connected members then refuse older codes. A",
      "member that is away learns the new code when it returns. The browser links that removed members used admit no",
      "new people. --keep-code keeps the codes and links.",
    ],
    .target("PEER", "the peer"),
    .reason,
    .flag("--with-admitted", "withAdmitted"),
    .flag("--keep-code", "keepCode")
  ) { (runner, request, target, reason, withAdmitted, keepsCode) async throws(CommandError) in
    let invited = try await runner.board.admission.kick(
      target,
      reason: reason ?? "",
      withAdmitted: withAdmitted,
      keepsCode: keepsCode,
      request: request.request
    )
    if let invited { runner.runtime.emit(.invited(invited), answering: request.request) }
    return CommandOutcome()
  }

  static let hide = CommandSpec(
    .hide,
    rules: .reading,
    "hide the objects, pointer and chat of a present or former member",
    notes: [
      "The member is hidden only on your screen, but on all boards, even after a restart.",
      "`objects`, exports and JSON events still include the hidden objects.",
    ],
    .target("PEER", "the author")
  ) { (runner, _, target) async throws(CommandError) in
    try await runner.board.setAuthor(target, isHidden: true)
  }

  static let unhide = CommandSpec(
    .unhide,
    rules: .reading,
    "show the objects, pointer and chat of a hidden member again",
    .target("PEER", "the author")
  ) { (runner, _, target) async throws(CommandError) in
    try await runner.board.setAuthor(target, isHidden: false)
  }

  static let role = CommandSpec(
    .role,
    rules: ruling,
    "set whether a peer can edit a board that you own",
    notes: [
      "Only for boards created with --owned. If an editor becomes a viewer, its changes that have reached you",
      "stay on the board. Later changes by this member are rejected.",
    ],
    .target("PEER", "the peer"),
    .role
  ) { (runner, _, target, role) async throws(CommandError) in
    .done(try runner.board.roles.change(target, to: role))
  }

  static let invite = CommandSpec(
    .invite,
    rules: local,
    "create an additional code, or a browser link",
    notes: [
      "`web` creates a browser link; see `help web`. With `view`, people who join with the code or link can only",
      "view the board. TIME is a number and s, m, h or d, at most 30d. A code is valid only while the board is open.",
      "The same applies to a browser link without TIME, unless a relay keeps the board open. A browser link with TIME",
      "stays valid if the board is closed and opened again before the link expires. With `web once`, the link admits",
      "one person, and the address that this person's browser stores admits no other person.",
    ],
    .invitationTerms
  ) { (runner, request, terms) async throws(CommandError) in
    let board = try runner.board
    let invited =
      terms.isForBrowsers
      ? try await board.browsers.invite(terms)
      : try await board.admission.invite(terms)
    return .done(runner.runtime.emit(.invited(invited), answering: request.request))
  }

  static let web = CommandSpec(
    .web,
    rules: local,
    "let people join from a browser, or end their access",
    notes: [
      "`on` shows a link that opens the board in any browser on this network, for example on a phone.",
      "`off` disconnects everyone who joined from a browser. Their links work again after `on`.",
      "`revoke` revokes all browser links, and removes everyone who joined with them.",
      "Links without a time limit stop working when the board closes, unless a relay keeps it open. For a link with a",
      "time limit, use `invite web expires=TIME`.",
    ],
    .webAccess
  ) { (runner, request, access) async throws(CommandError) in
    let browsers = try runner.board.browsers
    switch access {
    case .on: return .done(try await browsers.turnOn(request: request.request))
    case .off: return .done(await browsers.turnOff(request: request.request))
    case .revoke: return .done(await browsers.revokeAll())
    }
  }

  static let broadcast = CommandSpec(
    .broadcast,
    rules: local,
    usage: "start|pause|resume|finish [fps=N] [size=WxH] [codec=jpeg|png|raw] [region=X,Y,W,H|follow=PEER|frames]",
    "show the board as pictures to programs that run `whiteboard-peer watch`",
    notes: [
      "The pictures show all objects, a region, the part that a member sees, or, with `frames`, the frame of the board in",
      "which something changed last. The default is 1920x1080 with at most 15 pictures per second. Pictures are drawn only",
      "when something changes, and only while there are viewers.",
    ],
    .broadcastOrder
  ) { (runner, _, order) async throws(CommandError) in
    _ = try runner.board
    try await runner.broadcasts.perform(order)
    return CommandOutcome()
  }

  static let profile = CommandSpec(
    .profile,
    rules: local,
    "set or show your name and icon (`help profile` lists the icons)",
    notes: ["ICON is none, or one of these, by name or as an emoji:", CommandParser.icons],
    .displayName,
    .icon
  ) { (runner, request, name, icon) async throws(CommandError) in
    .done(try await runner.board.profiles.changeOwn(name, icon, request: request.request))
  }
}

extension Command {
  /// Shows the local pointer to the other members, optionally as a laser; nil hides the pointer.
  public static func point(_ point: BoardPoint?, isLaser: Bool = false) -> Command {
    MemberCommands.point(point, isLaser)
  }

  /// Shares the local view of the board with the other members; nil stops sharing.
  public static func view(_ view: BoardView?) -> Command { MemberCommands.view(view) }

  /// Admits a peer, confirms that the verification words match (ADM-8), or accepts an offered file.
  ///
  /// If `isAlways` is true, the peer is admitted without asking in the future.
  public static func accept(target: String, isAlways: Bool = false) -> Command {
    MemberCommands.accept(target, isAlways)
  }

  /// Refuses a peer, reports that the verification words differ, or declines an offered file.
  public static func decline(target: String, reason: String?) -> Command { MemberCommands.decline(target, reason) }

  /// Disconnects a peer and does not admit it again.
  ///
  /// Only the host can run this command. If `withAdmitted` is true, every member that the peer admitted is removed too.
  /// A board with a join code gets a new code, unless `keepsCode` is true.
  public static func kick(target: String, reason: String?, withAdmitted: Bool = false, keepsCode: Bool = false)
    -> Command
  { MemberCommands.kick(target, reason, withAdmitted, keepsCode) }

  /// Hides the objects, pointer and chat of a member on the local screen, or shows them again.
  public static func hide(target: String, isHidden: Bool) -> Command {
    isHidden ? MemberCommands.hide(target) : MemberCommands.unhide(target)
  }

  /// Sets the role of a peer on an owned board.
  public static func role(target: String, _ role: BoardRole) -> Command { MemberCommands.role(target, role) }

  /// Creates an additional join code, or a browser link.
  public static func invite(_ terms: InvitationTerms) -> Command { MemberCommands.invite(terms) }

  /// Lets browsers join the board, or ends their access.
  public static func web(_ access: WebAccess) -> Command { MemberCommands.web(access) }

  /// Starts, pauses, continues or ends a broadcast of the board.
  public static func broadcast(_ order: BroadcastOrder) -> Command { MemberCommands.broadcast(order) }

  /// Changes the local display name and icon; if both arguments are nil, reports the current name and icon.
  public static func profile(name: String?, icon: IconChange?) -> Command { MemberCommands.profile(name, icon) }
}

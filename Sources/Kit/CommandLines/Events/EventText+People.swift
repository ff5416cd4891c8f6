import PeerCore
import Whiteboard
import WhiteboardKit
import WhiteboardRendering

extension EventText {
  package static func admittersLine(_ admitters: [SharedBoard.News.Admitter]) -> String {
    guard let first = admitters.first else {
      return "You cannot admit people to this board, and no member who can admit them is connected."
    }
    let names = admitters.prefix(4).map { person($0.name, $0.peer) }
    let all =
      admitters.count == 1
      ? person(first.name, first.peer) : names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
    return "You cannot admit people to this board. Ask \(all) to admit them."
  }

  static func admissionLine(_ admission: SharedBoard.News.Ready) -> String? {
    if let admitters = admission.admitters { return "- \(admittersLine(admitters))" }
    switch admission.admit {
    case "ask": return "- You can admit people to this board: they can join through you."
    case "code": return admission.code.map { "- Join code: \(UntrustedText($0).escaped())" }
    default: return nil
    }
  }

  static func removedLine(_ removed: SharedBoard.News.Removed) -> String {
    let advice =
      !removed.readOnly ? "You continue on your own copy." : removed.canContinue ? continueAdvice : ownedAdvice
    return "! \(removed.message)\n  \(advice)"
  }

  /// Converts a time in RFC 3339 format to text for users, without seconds.
  package static func time(_ text: String) -> String {
    let minutes = UntrustedText(String(text.prefix(16))).escaped()
    return minutes.replacing("T", with: " ") + " UTC"
  }

  static func invitedLine(_ invited: SharedBoard.News.Invited) -> String {
    let end = invited.expires.map { " (until \(time($0)))" } ?? ""
    let link = UntrustedText(invited.link).escaped()
    guard let code = invited.code else {
      let kind = invited.role == "viewer" ? "view-only browser link" : "browser link"
      return "\(kind)\(end): \(link)"
    }
    let kind = invited.role == "viewer" ? "view-only code" : "join code"
    return "\(kind)\(end): \(UntrustedText(code).escaped()); link: \(link)"
  }

  static func webLine(_ web: SharedBoard.News.Web) -> String {
    guard web.isOn else { return "browsers cannot join the board" }
    let fingerprint = web.isSelfMade == true ? web.fingerprint : nil
    return "people with a browser link can join the board\(certificateLines(fingerprint))"
  }

  /// Returns the lines after a line with a link. If browsers do not warn about the certificate, `fingerprint` is nil.
  static func certificateLines(_ fingerprint: String?) -> String {
    fingerprint.map { "\n  \(BrowserPage.warning)\n  \(UntrustedText($0).escaped())" } ?? ""
  }

  /// Returns a sentence about a member that left. `reason` is the word of the event `left`.
  package static func departure(_ reason: String, _ message: UntrustedText? = nil, of name: String) -> String {
    var line =
      switch reason {
      case "left": "\(name) left"
      case "kicked": "\(name) was removed"
      case "shutting-down": "\(name) left: the program there was closed"
      case "restarted": "\(name) disconnected: the program there was started again"
      case "lost": "\(name) disconnected and did not come back"
      case "disconnected": "\(name) disconnected"
      case "reset", "rerouted": "\(name) disconnected for a moment, to connect again"
      case "overrun": "\(name) disconnected for a moment: too much data was waiting"
      default: "\(name) disconnected"
      }
    if let message, !message.isEmpty {
      line += ": " + message.quoted(limit: wordsLimit)
    } else if line == "\(name) disconnected", reason != "disconnected" {
      line += ": \(UntrustedText(reason).escaped())"
    }
    return line
  }

  static func leftLine(_ left: SharedBoard.ChangeDetails.Departure, of name: String) -> String? {
    // If the member removed the local peer, another line reports the removal.
    guard !left.removedUs else { return nil }
    var line = departure(left.reason, left.message, of: name)
    if left.undelivered > 0 { line += "; \(left.undelivered) message\(left.undelivered == 1 ? "" : "s") not delivered" }
    return line
  }

  static func roleLine(_ role: SharedBoard.News.Role) -> String? {
    let name = role.isOwn ? "you" : person(role.name, role.peer)
    switch role.role {
    case "viewer": return "\(name) can only view this board"
    case "relay": return "\(name) is a relay of the board"
    default: return "\(name) can edit this board"
    }
  }

  static func profileLine(_ profile: SharedBoard.News.Profile) -> String {
    // Show the emoji of a known icon unchanged, since it may contain a joiner, which `displayed` would remove.
    let shown = profile.icon.map { ProfileIcon(rawValue: $0.raw)?.emoji ?? $0.displayed(width: 16) }
    let icon = shown.map { ", with the icon \($0)" } ?? ", without an icon"
    return "\(person(profile.name, profile.peer))\(icon)"
  }

  /// Describes the local user's own profile.
  package static func profile(named name: String, _ icon: ProfileIcon?) -> String {
    "\(UntrustedText(name).escaped()), \(icon.map { "with the icon \($0.emoji)" } ?? "without an icon")"
  }

  /// `name` is the current name of the local user.
  static func settingLine(_ change: SharedBoard.PersonalSettingChange, name: UntrustedText) -> String? {
    switch change.key {
    case "name":
      guard let new = change.new else { return nil }
      let old = change.old.map { " (before: \(UntrustedText($0).quoted()))" } ?? ""
      return "- In another program, you changed your name to \(UntrustedText(new).quoted())\(old). "
        + (change.isApplied
          ? "This program uses it too."
          : "This program keeps the name \(name.quoted()), which was chosen when it started.")
    case "icon":
      guard let icon = change.new.flatMap({ ProfileIcon(rawValue: $0) }) else {
        return "- In another program, you removed your icon."
      }
      return "- In another program, you changed your icon to \(icon.emoji)."
    case "hidden":
      let authors = change.new?.split(separator: " ").count ?? 0
      return "- In another program, you changed the hidden authors: now \(count(authors, "author"))."
    default: return nil
    }
  }

  static func readyLines(_ ready: SharedBoard.News.Ready) -> String {
    var lines = ["You are \(person(ready.name, ready.peer)) on the board " + ready.boardName.quoted() + "."]
    // Without a listener there is no link, and no peer can join.
    if let admitters = ready.admitters { return lines[0] + "\n" + admittersLine(admitters) }
    guard !ready.link.isEmpty else { return lines[0] }
    switch ready.admit {
    case "code": if let code = ready.code { lines.append("Join code: \(UntrustedText(code).escaped())") }
    case "ask": lines.append("You will be asked to admit each peer.")
    case "known": lines.append("Only peers you trusted before can join (`whiteboard-peer peers`).")
    default: lines.append("Anyone who finds the board can join.")
    }
    if ready.announced {
      let code = ready.code.map { " --code \(UntrustedText($0).escaped())" } ?? ""
      lines.append("On this network: whiteboard-peer join\(code)")
    }
    let isLocal = (try? BoardLink(ready.link))?.address.isLoopback ?? false
    let place = isLocal ? "On this computer" : "Anywhere else"
    lines.append("\(place): whiteboard-peer join '\(UntrustedText(ready.link).escaped())'")
    return lines.joined(separator: "\n")
  }

  static func foundLine(_ board: SharedBoard.News.FoundBoard) -> String {
    var line = person(board.name, board.peer)
    if let name = board.boardName {
      line = "\(name.quoted()) by \(line)"
    } else if board.role == "relay" {
      line = "the relay \(line)"
    }
    if let participants = board.participants { line += ", \(count(participants, "person", "people")) there" }
    if let address = board.addresses.first { line += ", at \(UntrustedText(address).escaped(limit: 128))" }
    return line
  }

  static func stateLine(_ change: SharedBoard.News.PeerState) -> String? {
    let name =
      change.peer.map { person(change.name, $0) } ?? UntrustedText(change.address ?? "a peer").escaped(limit: 128)
    return switch change.state {
    case .connecting: "connecting to \(name)"
    case .connected: "connected with \(name)"
    case .suspect: "\(name) has sent nothing for 2 seconds"
    case .reconnecting: "\(name) cannot be reached; trying again"
    case .lost: "\(name) is lost"
    }
  }

  static func invitationLine(_ invitation: SharedBoard.News.Invitation) -> String {
    let name = person(invitation.name, invitation.peer)
    let id = UntrustedText(invitation.id).escaped(limit: 64)
    var line: String
    switch invitation.direction {
    case .incoming: line = "\(name) asks to join."
    case .outgoing: line = "Asking \(name) to admit you."
    }
    let choice = "accept \(id)   or   decline \(id)"
    if invitation.direction == .incoming, invitation.known == true {
      line += " You already know this peer's key."
      if let words = invitation.words {
        line += " To compare words anyway: \(UntrustedText(words).escaped(limit: 128))."
      }
    } else if let words = invitation.words {
      line += " Both screens must show: \(UntrustedText(words).escaped(limit: 128))."
      if invitation.direction == .outgoing, invitation.mustAnswer { line += " Are they the same on both screens?" }
    }
    if let seconds = invitation.seconds {
      let time = seconds < 120 ? count(seconds, "second") : count(seconds / 60, "minute")
      line += invitation.mustAnswer ? " Answer within \(time)." : " Waiting for up to \(time)."
    }
    if let warning = invitation.warning { line += "\n! \(UntrustedText(warning).escaped())" }
    if invitation.mustAnswer {
      line += "\n  \(choice)"
      if invitation.direction == .incoming {
        let name = shortName(invitation.name, id)
        line += "   or   accept \(id) always   (never ask about \(name) again)"
      }
    }
    return line
  }

  static func peersLine(_ peers: [SharedBoard.PeerDescription], connected: Int) -> String {
    ([count(connected, "peer connected", "peers connected")]
      + peers.map { peer in
        let address = peer.address.map { ", \(UntrustedText($0).escaped(limit: 128))" } ?? ""
        let role = peer.role.map { ", \($0)" } ?? ""
        let admitter =
          peer.admittedBy.map { ", admitted by \(person(peer.admittedByName ?? UntrustedText(""), $0))" } ?? ""
        return "  \(person(peer.name, peer.peer)), \(peer.state.rawValue)"
          + "\(route(peer.through, peer.throughName))\(role)\(address)\(admitter)"
      }).joined(separator: "\n")
  }

  static func route(_ peer: String?, _ name: UntrustedText?) -> String {
    peer.map { ", through \(person(name ?? UntrustedText(""), $0))" } ?? ""
  }
}

extension EventText {
  static func joiningLine(_ joining: SharedBoard.News.Joining) -> String? {
    switch joining.step {
    case .searching:
      joining.boardName.map { "looking for \($0.quoted()) on this network" } ?? "looking for a board on this network"
    case .connecting:
      // If the peer is unknown, another line already shows the address.
      joining.peer == nil ? nil : "trying \(address(joining))"
    case .awaitingAnswer: "\(address(joining)) accepted the connection; waiting for an answer"
    case .provingCode: "proving the code"
    case .awaitingAcceptance: "waiting for \(name(joining)) to accept"
    }
  }

  private static func name(_ joining: SharedBoard.News.Joining) -> String {
    shortName(joining.name ?? UntrustedText(""), joining.peer ?? "the host")
  }

  private static func address(_ joining: SharedBoard.News.Joining) -> String {
    UntrustedText(joining.address ?? "").escaped(limit: 128)
  }
}

extension EventText {
  static func number(_ value: Double) -> String { abs(value) < 1e12 ? DecimalText.hundredths(value) : "\(value)" }
}

extension EventText {
  static func saveLine(_ state: SaveState) -> String {
    switch state {
    case .off: "- this board is not saved"
    case .saved: "- saved: everything is on disk"
    case .saving: "- saving: some changes are not on disk yet"
    case .notSaved(let problem): "! \(problem.sentence)"
    }
  }
}

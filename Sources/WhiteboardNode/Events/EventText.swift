import WhiteboardSync

/// Tells events in words, one line each, for people and screen readers.
package enum EventText {
  /// The most characters of somebody's words in one line.
  private static let wordsLimit = 2_048

  /// The event in words, or nil where a person has no use for it.
  ///
  /// What comes from others is cleaned: a line never holds anything a terminal would act on.
  package static func line(_ event: NodeEvent) -> String? {
    switch event {
    case .ready, .peerFound, .peerUpdated, .peerLost, .peerState, .invitation, .joined, .left:
      peopleLine(event)
    case .objectAdded, .objectChanged, .objectRemoved, .selected, .chat, .objects, .digest:
      boardLine(event)
    case .data, .resourceStarted, .resourceProgress, .resourceFinished, .streamOpened,
      .streamData, .streamClosed:
      transferLine(event)
    case .peers(let peers):
      peersLine(peers)
    case .done(let done):
      doneLine(done)
    case .error(let failure):
      "! \(failure.line.map { "line \($0): " } ?? "")\(TerminalText.cleaned(failure.message))"
    case .note(let remark) where remark.code == "help":
      // Our own words, of several lines.
      remark.message
    case .note(let remark):
      "- \(TerminalText.cleaned(remark.message))"
    case .warning(let remark):
      "! \(TerminalText.cleaned(remark.message))"
    }
  }

  /// A peer's name with the start of its id, since names can be borrowed.
  package static func person(_ name: String, _ peer: String) -> String {
    let short = TerminalText.cleaned(peer.prefix(8), limit: 8)
    let shown = TerminalText.cleaned(name, limit: 64)
    return shown.isEmpty ? short : "\(shown) (\(short))"
  }

  private static func peopleLine(_ event: NodeEvent) -> String? {
    switch event {
    case .ready(let ready):
      readyLines(ready)
    case .peerFound(let board):
      "nearby: \(foundLine(board))"
    case .peerUpdated(let board):
      "nearby, changed: \(foundLine(board))"
    case .peerLost(let board):
      "no longer nearby: \(person(board.name, board.peer))"
    case .peerState(let change):
      stateLine(change)
    case .invitation(let invitation):
      invitationLine(invitation)
    case .joined(let joined):
      "\(person(joined.name, joined.peer)) is here"
    case .left(let left):
      if let message = left.message, !message.isEmpty {
        "\(person(left.name, left.peer)) is gone: \(TerminalText.cleaned(left.reason)), "
          + TerminalText.quoted(message, limit: wordsLimit)
      } else {
        "\(person(left.name, left.peer)) is gone: \(TerminalText.cleaned(left.reason))"
      }
    default:
      nil
    }
  }

  private static func readyLines(_ ready: NodeEvent.Ready) -> String {
    var lines = [
      "You are \(person(ready.name, ready.peer)) on the board "
        + TerminalText.quoted(ready.boardName) + "."
    ]
    switch ready.admit {
    case "code":
      if let code = ready.code {
        lines.append("Who knows the code comes in: \(TerminalText.cleaned(code))")
      }
    case "ask": lines.append("You are asked before anybody comes in.")
    case "known": lines.append("Only peers you trusted before come in (`whiteboard-peer peers`).")
    default: lines.append("Anybody who finds the board comes in.")
    }
    if ready.announced {
      let code = ready.code.map { " --code \(TerminalText.cleaned($0))" } ?? ""
      lines.append("Nearby people can join: whiteboard-peer join\(code)")
    }
    lines.append("Elsewhere: whiteboard-peer join '\(TerminalText.cleaned(ready.link))'")
    return lines.joined(separator: "\n")
  }

  private static func foundLine(_ board: NodeEvent.FoundBoard) -> String {
    var line = person(board.name, board.peer)
    if let name = board.boardName {
      line = "\(TerminalText.quoted(name)) by \(line)"
    }
    if let participants = board.participants {
      line += ", \(count(participants, "person", "people")) there"
    }
    if let address = board.addresses.first {
      line += ", at \(TerminalText.cleaned(address, limit: 128))"
    }
    return line
  }

  private static func stateLine(_ change: NodeEvent.PeerState) -> String? {
    let who =
      change.peer.map { person(change.name, $0) }
      ?? TerminalText.cleaned(change.address ?? "somebody", limit: 128)
    return switch change.state {
    case .connecting: "connecting to \(who)"
    case .connected: "connected with \(who)"
    case .suspect: "\(who) has been silent for a moment"
    case .reconnecting: "\(who) cannot be reached, trying again; nothing is lost"
    case .lost: "\(who) is lost"
    }
  }

  private static func invitationLine(_ invitation: NodeEvent.Invitation) -> String {
    let who = person(invitation.name, invitation.peer)
    let id = TerminalText.cleaned(invitation.id, limit: 64)
    var line: String
    switch invitation.direction {
    case .incoming: line = "\(who) asks to join."
    case .outgoing: line = "Asking \(who) to let us in."
    }
    let choice = "accept \(id)   or   decline \(id)"
    if let words = invitation.words {
      line += " Both screens must show: \(TerminalText.cleaned(words, limit: 128))."
      if invitation.direction == .outgoing, invitation.mustAnswer {
        line += " The same on both?"
      }
    }
    if let warning = invitation.warning {
      line += "\n! \(TerminalText.cleaned(warning))"
    }
    if invitation.mustAnswer {
      line += "\n  \(choice)"
    }
    return line
  }

  private static func boardLine(_ event: NodeEvent) -> String? {
    switch event {
    case .objectAdded(let added):
      "+ \(object(added.object))"
    case .objectChanged(let change):
      "~ \(object(change.object)) (\(change.changed.map { TerminalText.cleaned($0) }.joined(separator: ", ")))"
    case .objectRemoved(let removed):
      "- \(TerminalText.cleaned(removed.id)) deleted"
    case .selected(let selected):
      if let peer = selected.peer {
        "\(person(selected.name ?? "", peer)) has \(TerminalText.cleaned(selected.id)) in hand"
      } else {
        "\(TerminalText.cleaned(selected.id)) is free"
      }
    case .chat(let chat):
      "<\(person(chat.name, chat.peer))> \(TerminalText.cleaned(chat.text, limit: wordsLimit))"
    case .objects(let list):
      (["\(count(list.count, "object"))"] + list.objects.map { "  \(object($0))" })
        .joined(separator: "\n")
    case .digest(let digest):
      "digest \(TerminalText.cleaned(digest.digest)), \(count(digest.objects, "object"))"
    default:
      nil
    }
  }

  private static func object(_ object: NodeEvent.ObjectDescription) -> String {
    var line = "\(TerminalText.cleaned(object.type)) \(TerminalText.cleaned(object.id))"
    if let text = object.text {
      line += " \(TerminalText.quoted(text, limit: 80))"
    }
    if let points = object.points {
      line += ", \(count(points.count, "point"))"
    }
    if let isHere = object.isAssetAvailable {
      line += isHere ? ", with its photo" : ", its photo not here yet"
    }
    line += " at \(object.centerPosition.map(number).joined(separator: ","))"
    if object.scale != 1 {
      line += ", scale \(number(object.scale))"
    }
    if object.angle != 0 {
      line += ", turned \(number((object.angle * 180 / .pi).rounded()))°"
    }
    if let holder = object.selectedBy {
      line += ", in the hand of \(TerminalText.cleaned(holder.prefix(8)))"
    }
    return line
  }

  private static func transferLine(_ event: NodeEvent) -> String? {
    switch event {
    case .data(let data):
      if let text = data.text {
        "\(person(data.name, data.from)) sent \(TerminalText.quoted(text, limit: wordsLimit))"
      } else {
        "\(person(data.name, data.from)) sent \(count(data.size, "byte"))"
      }
    case .resourceStarted(let start):
      "\(start.direction == .incoming ? "receiving" : "sending") "
        + "\(resource(start.name)), \(start.size) bytes, transfer "
        + TerminalText.cleaned(start.transfer)
    case .resourceFinished(let end):
      resourceLine(end)
    case .streamOpened(let stream):
      "stream \(TerminalText.quoted(stream.name, limit: 80)) is open"
    case .streamClosed(let stream):
      "stream \(TerminalText.quoted(stream.name, limit: 80)) is over after \(stream.size) bytes"
        + (stream.outcome == .delivered ? "" : ": \(TerminalText.cleaned(stream.message ?? ""))")
    default:
      // Progress and the bytes of streams are for programs.
      nil
    }
  }

  private static func resourceLine(_ end: NodeEvent.ResourceFinished) -> String {
    let name = resource(end.name)
    switch end.outcome {
    case .delivered:
      guard end.direction == .incoming, let path = end.path else { return "\(name) has arrived" }
      return "\(name) is here: \(TerminalText.cleaned(path))"
    case .cancelled:
      let why = TerminalText.cleaned(end.message ?? "")
      return why.isEmpty ? "\(name) was stopped" : "\(name) was stopped: \(why)"
    case .failed: return "\(name) failed: \(TerminalText.cleaned(end.message ?? ""))"
    }
  }

  /// What to call a resource: what its name says, where it is one of this product's.
  private static func resource(_ name: String) -> String {
    guard let known = try? ResourceDTO(name: name) else {
      return TerminalText.quoted(name, limit: 80)
    }
    let kind = known.type == .imageData ? "the photo of" : known.type.rawValue
    return "\(kind) \(TerminalText.cleaned(known.id, limit: 64))"
  }

  private static func peersLine(_ peers: NodeEvent.Peers) -> String {
    ([count(peers.count, "peer connected", "peers connected")]
      + peers.peers.map { peer in
        let address = peer.address.map { ", \(TerminalText.cleaned($0, limit: 128))" } ?? ""
        return "  \(person(peer.name, peer.peer)), \(peer.state.rawValue)\(address)"
      }).joined(separator: "\n")
  }

  /// An answer is worth a line where it names something; otherwise what happened tells it.
  private static func doneLine(_ done: NodeEvent.Done) -> String? {
    switch (done.verb, done.id) {
    case ("text", let id?), ("stroke", let id?), ("photo", let id?):
      "ok: \(TerminalText.cleaned(id))"
    case ("wait", _), ("leave", _), ("send", _), ("accept", _), ("decline", _), ("kick", _),
      ("cancel", _), ("deselect", _):
      "ok: \(done.verb)"
    case (_, let id?) where !done.hasChanged:
      "ok: \(TerminalText.cleaned(id)) was so already"
    default:
      nil
    }
  }

  private static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    number == 1 ? "1 \(one)" : "\(number) \(many ?? one + "s")"
  }

  private static func number(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
  }
}

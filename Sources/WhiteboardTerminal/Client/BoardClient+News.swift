import Whiteboard
import WhiteboardNode
import WhiteboardRendering
import WhiteboardSync

/// What the node tells.
extension BoardClient {
  /// Something on the board shows in another way.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - time: The time on the client's clock; the time of the last event if it is not known.
  package mutating func take(_ change: BoardChange, now time: Duration? = nil) {
    if let time { now = time }
    defer { settleTyping() }
    switch change {
    case .shown(let snapshot, let game):
      announceTurn(in: game, of: snapshot.id)
      canvas.set(BoardCanvas.Item(snapshot, game: game))
      let isOurs = snapshot.selectedBy.map { $0.description == own } ?? false
      if isOurs { selection.insert(snapshot.id) } else { selection.remove(snapshot.id) }
      if snapshot.selectedBy != nil { held.insert(snapshot.id) } else { held.remove(snapshot.id) }
      if isOurs, let cell = menuCell {
        menuCell = nil
        openMenu(at: cell)
      }
      showOwnStroke()
    case .removed(let id):
      canvas.remove(id)
      ourTurns.remove(id)
      selection.remove(id)
      held.remove(id)
      if typing?.id == id {
        typing = nil
        say("the text was deleted")
      }
    case .preview(let preview):
      canvas.preview(preview.points, from: preview.first, of: preview.stroke)
    case .presence(let member, let presence):
      if people[member.description] == nil { earlyPresences[member.description] = presence }
      people[member.description]?.show(presence, now: now)
    case .photo: break
    case .saving(let state): saveState = state
    }
  }

  /// What has been drawn shows at once, however much of it is committed.
  mutating func showOwnStroke() {
    guard case .stroke(_, let id?, let points)? = gesture,
      let count = canvas.item(id)?.snapshot.ink?.count, points.count > count
    else { return }
    let rest = points[count...].compactMap { try? InkPoint($0) }
    canvas.preview(rest, from: count, of: id)
  }

  /// Something happened.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - time: The time on the client's clock; the time of the last event if it is not known.
  /// - Returns: What must be done.
  package mutating func take(_ event: NodeEvent, now time: Duration? = nil) -> [Action] {
    if let time { now = time }
    showAnswer(event)
    switch event {
    case .ready(let ready):
      own = ready.peer
      plainName = ready.boardName
      boardName = plainName
      boardID = ready.board
      connecting = nil
      link = ready.link
      isAnnounced = ready.announced
      code = ready.code
      return [Command.settings, .chat].map { .command(CommandRequest($0)) }
    case .joining(let joining): take(joining)
    case .caughtUp: lacksBoard = false
    case .peerFound(let board), .peerUpdated(let board): found(board)
    case .peerLost(let board): lost(board)
    case .joined(let peer):
      people[peer.peer] = Person(name: peer.name, state: .connected)
      if let presence = earlyPresences.removeValue(forKey: peer.peer) {
        people[peer.peer]?.show(presence, now: now)
      }
      // The host admitted us again.
      if peer.peer == removal?.peer { (removal, removalShown) = (nil, nil) }
      if rerouted.remove(peer.peer) == nil { remark("\(shown(peer.name)) is here") }
    case .left(let peer):
      people[peer.peer] = nil
      earlyPresences[peer.peer] = nil
      if peer.removedUs == true {
        // The removal says it.
        break
      } else if peer.reason == "rerouted" {
        // It comes back at once, by another way.
        rerouted.insert(peer.peer)
      } else {
        remark("\(shown(peer.name)) has gone: \(shown(peer.reason))")
      }
    case .removed(let removed): take(removed)
    case .carried(let relay):
      let name = relay.name.isEmpty ? "a relay" : "the relay \(shown(relay.name))"
      remark("\(name) keeps the board open when you leave")
    case .peerState(let news):
      guard let peer = news.peer else { break }
      people[peer]?.state = news.state
      let since = people[peer]?.silentSince ?? now
      people[peer]?.silentSince = news.state == .connected ? nil : since
      if news.state == .connected { people[peer]?.waitingChanges = 0 }
      if news.state == .lost { people[peer] = nil }
    case .profile(let profile):
      people[profile.peer]?.name = profile.name
      people[profile.peer]?.icon = profile.icon
    case .role(let role):
      if let line = EventText.line(.role(role)) { remark(line) }
    case .chat(let line):
      append(Remark(who: line.name, key: line.peer, text: line.text))
      announce(line)
    case .chatHistory(let history):
      // The chat as the person asked for it is in the panel.
      guard history.request == nil else { break }
      remarks = []
      for line in history.lines {
        append(Remark(who: line.name, key: line.peer, text: line.text))
      }
    case .invitation(let invitation) where invitation.mustAnswer:
      invitations.append(invitation)
      showQuestion()
    case .resourceOffered(let offer):
      fileOffers.append(offer)
      offeredFiles.insert(offer.transfer)
      showQuestion()
    case .resourceFinished(let end) where end.direction == .incoming:
      fileOffers.removeAll { $0.transfer == end.transfer }
      guard offeredFiles.remove(end.transfer) != nil else { break }
      if let line = EventText.line(.resourceFinished(end)) { say(line) }
    case .selected(let selected) where selected.lostByUs == true:
      say("\(shown(selected.name ?? "somebody")) has it in hand")
    case .done(let done):
      finished(done)
    case .error(let failure):
      if let mark = failure.request?.number {
        requests.finish(mark)
        typing?.inFlight.remove(mark)
        menuCell = nil
        settleTyping()
      }
      complain(failure.message)
    case .settings(let answer): take(answer.settings)
    case .settingChanged(let change): take(change.settings)
    // The screen shows this problem for as long as it lasts.
    case .warning(let warning) where warning.code == NodeEvent.Remark.notSaved: break
    case .warning(let warning):
      if warning.code == NodeEvent.Remark.discoveryUnavailable { isDiscoveryMissing = true }
      complain(warning.message)
    case .note(let note) where note.code == "help": break
    case .note(let note) where note.code == NodeEvent.Remark.invitationEnded:
      invitations.removeAll { $0.id == note.invitation }
      say(note.message)
    case .note(let note):
      if note.code == NodeEvent.Remark.discoveryAvailable { isDiscoveryMissing = false }
      say(Notice.causeFirst(note.message))
    default: break
    }
    canvas.names = names
    return []
  }

  /// Closes what only informs, so that it does not cover a question.
  private mutating func showQuestion() {
    switch box {
    case .invite, .panel: box = nil
    default: break
    }
  }

  private mutating func take(_ settings: NodeEvent.SettingsDescription) {
    grid = settings.grid
    // Without a title, as after the undo of one, the board has its own name again.
    boardName = settings.title.flatMap { $0.isEmpty ? nil : $0 } ?? plainName
  }

  private mutating func finished(_ done: NodeEvent.Done) {
    guard let mark = done.request?.number else { return }
    requests.finish(mark)
    if CommandName(rawValue: done.verb)?.changesBoard == true {
      for (key, person) in people where person.silentSince != nil {
        people[key]?.waitingChanges += 1
      }
    }
    if typing?.inFlight.remove(mark) != nil {
      if typing?.id == nil, let id = done.id { typing?.id = ObjectID(id) }
      settleTyping()
    }
    if case .stroke(mark, nil, let points)? = gesture,
      let id = done.id.flatMap({ ObjectID($0) })
    {
      gesture = .stroke(mark: mark, id: id, points: points)
      showOwnStroke()
    }
    switch done.verb {
    case "undo":
      say(EventText.steps(done, hint: keys.key(for: .redo).map { "Press \($0) to redo." }))
    case "redo":
      say(EventText.steps(done, hint: keys.key(for: .undo).map { "Press \($0) to undo." }))
    case "play": say("played")
    case "copy":
      say(
        "copied \(done.ids?.count ?? 1); \(keys.key(for: .paste) ?? ":paste") puts it on any board"
      )
    case "export":
      let count = done.objects.map { $0 == 1 ? "1 object" : "\($0) objects" } ?? "the board"
      say("Exported \(count): \(done.file ?? "")")
    case "save-as": say("the copy is written")
    case "wait", "import":
      if let line = EventText.line(.done(done)) { say(Self.withoutMark(line)) }
    default: break
    }
  }

  /// What members are called, ourselves too.
  private var names: [MemberID: String] {
    var names: [MemberID: String] = [:]
    for (key, person) in people {
      if let member = MemberID(key) { names[member] = person.name }
    }
    if let member = MemberID(own) { names[member] = "you" }
    return names
  }

  mutating func remark(_ text: String) {
    append(Remark(who: "", key: "", text: text))
  }

  private mutating func append(_ remark: Remark) {
    remarks.append(remark)
    remarkCount += 1
    if remarks.count > Self.remarkLimit { remarks.removeFirst() }
  }

  /// A name as messages have it.
  func shown(_ name: String) -> String { TerminalText.cleaned(name, limit: 64) }
}

extension BoardClient.Person {
  /// How many places of a laser are shown behind it.
  private static let trailLength = 12

  /// It points somewhere else, or looks at another part of the board.
  mutating func show(_ next: Presence, now: Duration) {
    let isElsewhere = next.cursor != presence.cursor
    if isElsewhere { movedAt = now }
    presence = next
    guard next.isLaser, let cursor = next.cursor else {
      trail = []
      return
    }
    // Presence is told again while nothing moves, and then the trail has had its time.
    trail = isElsewhere ? (trail + [cursor]).suffix(Self.trailLength) : [cursor]
  }
}

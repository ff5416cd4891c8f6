import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

extension CommandRunner {
  /// Runs one command; returns nil if the command is answered elsewhere, or later; throws if the command failed.
  nonisolated(nonsending) func outcome(of request: CommandRequest) async throws(CommandError) -> CommandOutcome? {
    defer { checkIsolation(#isolation) }
    switch request.command {
    // New objects
    case .text(let at, let words, let color, let alias):
      return try await withEditor { (editor) throws(CommandError) in
        try editor.addText(words, at: Point(at), color: color, alias)
      }
    case .stroke(let points, let pen, let seconds, let alias):
      return try await withEditor { (editor) async throws(CommandError) in
        try editor.check(alias)
        return try await editor.draw(points, pen, seconds: seconds, alias)
      }
    case .pen(let points, let pen, let alias):
      return try await withEditor(endsStroke: false) { (editor) throws(CommandError) in
        try editor.drawWithPen(points, pen, alias)
      }
    case .lift: return try await withEditor(endsStroke: false) { (editor) throws(CommandError) in try editor.liftPen() }
    case .photo(let at, let file, let alias):
      return try await withEditor { (editor) async throws(CommandError) in
        try await editor.addPhoto(file, at: Point(at), alias)
      }
    case .game(let game, let at, let opponent, let alias):
      return try await withEditor { (editor) throws(CommandError) in
        try editor.addGame(game, at: Point(at), opponent: opponent, alias)
      }
    case .duplicate(let references, let distance, let alias):
      return try await withEditor { (editor) throws(CommandError) in
        try editor.duplicate(references, by: Point(distance), alias)
      }
    // Changes
    case .select(let references):
      return try await withEditor { (editor) throws(CommandError) in try editor.select(references) }
    case .take(let references):
      return try await withEditor { (editor) throws(CommandError) in try editor.select(references, isTaking: true) }
    case .deselect: return try await withEditor { (editor) throws(CommandError) in try editor.deselectAll() }
    case .move(let references, let movement):
      return try await withEditor { (editor) throws(CommandError) in try editor.moveObjects(references, movement) }
    case .scale(let references, let factor, let about, let keepsLineWidth):
      return try await withEditor { (editor) throws(CommandError) in
        try editor.scaleObjects(
          references,
          factor: factor,
          about: about.map { Point($0) },
          keepsLineWidth: keepsLineWidth
        )
      }
    case .rotate(let references, let degrees):
      return try await withEditor { (editor) throws(CommandError) in
        try editor.rotateObjects(references, degrees: degrees)
      }
    case .color(let references, let color):
      return try await withEditor { (editor) throws(CommandError) in try editor.setColor(color, of: references) }
    case .width(let references, let width):
      return try await withEditor { (editor) throws(CommandError) in try editor.setLineWidth(width, of: references) }
    case .order(let references, let place):
      return try await withEditor { (editor) throws(CommandError) in try editor.reorder(references, place) }
    case .group(let references, let alias):
      return try await withEditor { (editor) throws(CommandError) in try editor.group(references, alias) }
    case .ungroup(let reference):
      return try await withEditor { (editor) throws(CommandError) in try editor.ungroup(reference) }
    case .lock(let references):
      return try await withEditor { (editor) throws(CommandError) in try editor.setLocked(true, references) }
    case .unlock(let references):
      return try await withEditor { (editor) throws(CommandError) in try editor.setLocked(false, references) }
    case .edit(let reference, let words):
      return try await withEditor { (editor) throws(CommandError) in try editor.replaceText(of: reference, with: words)
      }
    case .insert(let reference, let offset, let words, let count, let base):
      return try await withEditor { (editor) throws(CommandError) in
        try editor.insert(into: reference, at: offset, replacing: count, words, base: base)
      }
    case .erase(let points, let radius):
      return try await withEditor { (editor) throws(CommandError) in try editor.erase(along: points, radius: radius) }
    case .delete(let references):
      return try await withEditor { (editor) throws(CommandError) in try editor.delete(references) }
    case .undelete(let reference):
      return try await withEditor { (editor) throws(CommandError) in try editor.undelete(reference) }
    case .purge(let reference):
      return try await withEditor { (editor) throws(CommandError) in try editor.purge(reference) }
    case .purgeAuthor(let target):
      return try await withEditor { (editor) async throws(CommandError) in
        try await self.purge(author: try self.board.authors.find(target), editor)
      }
    case .play(let reference, let move):
      return try await withEditor { (editor) throws(CommandError) in try editor.play(reference, move) }
    case .undo: return try await withEditor { (editor) throws(CommandError) in try editor.undo() }
    case .redo: return try await withEditor { (editor) throws(CommandError) in try editor.redo() }
    case .set(let setting): return try await withEditor { (editor) throws(CommandError) in try editor.set(setting) }
    case .say(let words):
      return try await withEditor(endsStroke: false) { (editor) throws(CommandError) in try editor.say(words) }
    case .restore(let name):
      return try await withEditor { (_) async throws(CommandError) in try await self.board.versions.restore(name) }
    case .import(let file, let place):
      return try await withEditor { (_) async throws(CommandError) in
        try await self.board.files.importFile(file, at: place)
      }
    case .paste(let place):
      return try await withEditor { (_) async throws(CommandError) in try await self.board.files.paste(at: place) }
    // Presence
    case .point(let place, let isLaser): try board.editor.point(at: place, isLaser: isLaser)
    case .view(let view): try board.editor.show(view)
    // Members
    case .accept(let target, let isAlways): try await accept(target, isAlways: isAlways)
    case .decline(let target, let reason): try await decline(target, reason: reason ?? "")
    case .kick(let target, let reason, let withAdmitted, let keepsCode):
      let invited = try await board.admission.kick(
        target,
        reason: reason ?? "",
        withAdmitted: withAdmitted,
        keepsCode: keepsCode,
        request: request.request
      )
      if let invited { runtime.emit(.invited(invited)) }
    case .role(let target, let role): try board.roles.change(target, to: role)
    case .hide(let target, let isHidden): return try await board.setAuthor(target, isHidden: isHidden)
    case .invite(let terms):
      let invited =
        terms.isForBrowsers
        ? try await board.browsers.invite(terms, request: request.request)
        : try await board.admission.invite(terms, request: request.request)
      runtime.emit(.invited(invited))
    case .web(.on): try await board.browsers.turnOn(request: request.request)
    case .web(.off): try await board.browsers.turnOff(request: request.request)
    case .web(.revoke): try await board.browsers.revokeAll()
    case .profile(let name, let icon): try await board.profiles.changeOwn(name, icon, request: request.request)
    case .continue: try await localRemoval.continueAlone()
    case .leave: await leave()
    // Messages, resources and streams
    case .send(let bytes, let to, let isUnreliable):
      guard !isUnreliable else {
        try board.messages.sendDatagram(bytes, to: to)
        break
      }
      try await board.messages.send(bytes, to: to, answering: request)
      return nil
    case .resource(let file, let name, let to):
      let peers = try board.messages.recipients(to)
      runConcurrently(request) { sharedBoard throws(CommandError) in
        try await sharedBoard.transfers.sendResource(file, named: name, to: peers)
      }
      return nil
    case .files(let files, let to):
      let peers = try board.messages.recipients(to)
      runConcurrently(request) { sharedBoard throws(CommandError) in
        try await sharedBoard.transfers.sendFiles(files, to: peers)
      }
      return nil
    case .stream(let name, let file, let to):
      let peers = try board.messages.recipients(to)
      runConcurrently(request) { sharedBoard throws(CommandError) in
        try await sharedBoard.transfers.sendStream(file, named: name, to: peers)
      }
      return nil
    case .cancel(let target, let reason): try transfers.cancel(target, reason: reason ?? "")
    // Queries
    case .objects: try board.queries.emitObjects(request: request.request)
    case .show(let reference): try board.queries.emitObject(reference, request: request.request)
    case .find(let area): try board.queries.emitObjects(in: area, request: request.request)
    case .chat: try board.reports.emitChat(request: request.request)
    case .settings: try board.queries.emitSettings(request: request.request)
    case .peers: try await board.queries.emitPeers(request: request.request)
    case .digest: try board.queries.emitDigest(request: request.request)
    case .help(let text): runtime.emit(.note(.init(code: "help", message: text)))
    // Files and versions
    case .checkpoint(let name): try await board.versions.checkpoint(name)
    case .checkpoints: try await board.versions.emitCheckpoints(request: request.request)
    case .diff(let from, let to): try await board.versions.emitDifference(from: from, to: to, request: request.request)
    case .saveAs(let file): try await persistence.saveCopy(to: BoardFile.absolute(file), photos: board.photos)
    case .save: try await persistence.save(request: request.request)
    case .export(let file, let region, let scale, let isReplacing):
      return try await board.files.export(to: file, region: region, scale: scale, isReplacing: isReplacing)
    case .copy(let references): return try await board.files.copy(references)
    // Scripts
    case .wait(let condition, let timeout): return try await wait(for: condition, timeout: timeout.map { .seconds($0) })
    case .quit:
      try await checkQuit()
      await quit(request)
      return nil
    case .quitAnyway:
      await quit(request)
      return nil
    }
    return CommandOutcome()
  }

  /// Runs a command that changes the board, and adds to its result whether the board changed.
  ///
  /// If `endsStroke` is true, the current stroke ends first, since its undo step must contain no other change.
  private nonisolated(nonsending) func withEditor(
    endsStroke: Bool = true,
    _ body: nonisolated(nonsending) (BoardEditor) async throws(CommandError) -> CommandOutcome
  ) async throws(CommandError) -> CommandOutcome {
    defer { checkIsolation(#isolation) }
    try localRemoval.checkMayChange()
    let editor = try board.editor
    let before = editor.board.written
    if endsStroke { try editor.liftPen() }
    var outcome = try await body(editor)
    outcome.hasChanged = editor.board.written != before
    return outcome
  }

  /// Permanently removes all objects that an author created, except settings.
  ///
  /// Other commands and changes can run in between.
  private nonisolated(nonsending) func purge(author: MemberID, _ editor: BoardEditor) async throws(CommandError)
    -> CommandOutcome
  {
    defer { checkIsolation(#isolation) }
    let batch = 1000
    var count = 0
    while true {
      let removed = try editor.edit { (board) throws(BoardError) in try board.purge(madeBy: author, atMost: batch) }
      count += removed
      guard removed == batch else { return CommandOutcome(count: count) }
      await runtime.room()
      await persistence.room()
      await Task.yield()
    }
  }

  /// Accepts a file, a peer that asks to join, or the verification words (ADM-8).
  ///
  /// If `isAlways` is true, the peer is admitted without asking from now on.
  private nonisolated(nonsending) func accept(_ target: String, isAlways: Bool) async throws(CommandError) {
    defer { checkIsolation(#isolation) }
    if let file = fileOffer(target) { return try transfers.answerOffer(file, isAccepted: true, isAlways: isAlways) }
    try transfers.checkNotEnded(target)
    try await invitations.answer(target, with: .accept, isAlways: isAlways)
  }

  /// Declines a file, a peer that asks to join, or the verification words.
  private nonisolated(nonsending) func decline(_ target: String, reason: String) async throws(CommandError) {
    defer { checkIsolation(#isolation) }
    if let file = fileOffer(target) { return try transfers.answerOffer(file, isAccepted: false) }
    try transfers.checkNotEnded(target)
    try await invitations.answer(target, with: .decline(reason: reason))
  }
}

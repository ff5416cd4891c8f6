import PeerSession
import Whiteboard
import WhiteboardSync

/// The functions of the commands.
extension Node {
  /// Runs one command and answers it.
  func run(_ request: CommandRequest) async {
    do throws(CommandError) {
      switch request.command {
      // New objects
      case .text(let at, let words, let color, let alias):
        try await change(request) { (editor) throws(CommandError) in
          try editor.addText(words, at: Point(at), color: color, alias)
        }
      case .stroke(let points, let pen, let seconds, let alias):
        try await change(request) { (editor) async throws(CommandError) in
          try editor.check(alias)
          return try await editor.draw(points, pen, seconds: seconds, alias)
        }
      case .pen(let points, let pen, let alias):
        try await change(request, endsStroke: false) { (editor) throws(CommandError) in
          try editor.extendStroke(with: points, pen, alias)
        }
      case .lift:
        try await change(request, endsStroke: false) { (editor) throws(CommandError) in
          try editor.endStroke()
        }
      case .photo(let at, let file, let alias):
        try await change(request) { (editor) async throws(CommandError) in
          try await editor.addPhoto(file, at: Point(at), alias)
        }
      case .game(let game, let at, let opponent, let alias):
        try await change(request) { (editor) throws(CommandError) in
          try editor.addGame(game, at: Point(at), opponent: opponent, alias)
        }
      case .duplicate(let references, let distance, let alias):
        try await change(request) { (editor) throws(CommandError) in
          try editor.duplicate(references, by: Point(distance), alias)
        }
      // Changes
      case .select(let references):
        try await change(request) { (editor) throws(CommandError) in
          try editor.select(references)
        }
      case .deselect:
        try await change(request) { (editor) throws(CommandError) in try editor.deselectAll() }
      case .move(let references, let movement):
        try await change(request) { (editor) throws(CommandError) in
          try editor.move(references, movement)
        }
      case .scale(let references, let factor, let about, let keepsLineWidth):
        try await change(request) { (editor) throws(CommandError) in
          try editor.scale(
            references,
            factor: factor,
            about: about.map { Point($0) },
            keepsLineWidth: keepsLineWidth
          )
        }
      case .rotate(let references, let degrees):
        try await change(request) { (editor) throws(CommandError) in
          try editor.rotate(references, degrees: degrees)
        }
      case .color(let references, let color):
        try await change(request) { (editor) throws(CommandError) in
          try editor.setColor(color, of: references)
        }
      case .width(let references, let width):
        try await change(request) { (editor) throws(CommandError) in
          try editor.setLineWidth(width, of: references)
        }
      case .order(let references, let place):
        try await change(request) { (editor) throws(CommandError) in
          try editor.reorder(references, place)
        }
      case .group(let references, let alias):
        try await change(request) { (editor) throws(CommandError) in
          try editor.group(references, alias)
        }
      case .ungroup(let reference):
        try await change(request) { (editor) throws(CommandError) in
          try editor.ungroup(reference)
        }
      case .lock(let references):
        try await change(request) { (editor) throws(CommandError) in
          try editor.setLocked(true, references)
        }
      case .unlock(let references):
        try await change(request) { (editor) throws(CommandError) in
          try editor.setLocked(false, references)
        }
      case .edit(let reference, let words):
        try await change(request) { (editor) throws(CommandError) in
          try editor.replaceText(of: reference, with: words)
        }
      case .insert(let reference, let offset, let words, let count, let base):
        try await change(request) { (editor) throws(CommandError) in
          try editor.insert(into: reference, at: offset, replacing: count, words, base: base)
        }
      case .erase(let points, let radius):
        try await change(request) { (editor) throws(CommandError) in
          try editor.erase(along: points, radius: radius)
        }
      case .delete(let references):
        try await change(request) { (editor) throws(CommandError) in
          try editor.delete(references)
        }
      case .undelete(let reference):
        try await change(request) { (editor) throws(CommandError) in
          try editor.undelete(reference)
        }
      case .purge(let reference):
        try await change(request) { (editor) throws(CommandError) in try editor.purge(reference) }
      case .purgeAuthor(let target):
        try await change(request) { (_) async throws(CommandError) in
          try await self.purge(author: target)
        }
      case .play(let reference, let move):
        try await change(request) { (editor) throws(CommandError) in
          try editor.play(reference, move)
        }
      case .undo: try await change(request) { (editor) throws(CommandError) in try editor.undo() }
      case .redo: try await change(request) { (editor) throws(CommandError) in try editor.redo() }
      case .set(let setting):
        try await change(request) { (editor) throws(CommandError) in try editor.set(setting) }
      case .say(let words):
        try await change(request, endsStroke: false) { (editor) throws(CommandError) in
          try editor.say(words)
        }
      case .restore(let name):
        try await change(request) { (_) async throws(CommandError) in try await self.restore(name) }
      case .import(let file, let place):
        try await change(request) { (_) async throws(CommandError) in
          try await self.takeIn(file, at: place)
        }
      case .paste(let place):
        try await change(request) { (_) async throws(CommandError) in
          try await self.paste(at: place)
        }
      // Presence
      case .point(let place, let isLaser):
        try openEditor().point(at: place, isLaser: isLaser)
        done(request)
      case .view(let view):
        try openEditor().show(view)
        done(request)
      // Members
      case .accept(let target, let isAlways):
        try await accept(target, isAlways: isAlways)
        done(request)
      case .decline(let target, let reason):
        try await decline(target, reason: reason ?? "")
        done(request)
      case .kick(let target, let reason, let withAdmitted, let keepsCode):
        let invited = try await kick(
          target,
          reason: reason ?? "",
          withAdmitted: withAdmitted,
          keepsCode: keepsCode,
          request: request.request
        )
        if let invited { emit(.invited(invited)) }
        done(request)
      case .role(let target, let role):
        try changeRole(of: target, to: role)
        done(request)
      case .hide(let target, let isHidden):
        done(request, try await hide(author: target, isHidden))
      case .invite(let terms):
        emit(.invited(try await invite(terms, request: request.request)))
        done(request)
      case .profile(let name, let icon):
        try await changeProfile(name, icon, request)
        done(request)
      case .continue:
        try await continueAlone()
        done(request)
      case .leave:
        await leave()
        done(request)
      // Messages, resources and streams
      case .send(let bytes, let to, let isUnreliable):
        if isUnreliable {
          try sendDatagram(bytes, to: to)
          done(request)
        } else {
          try await send(bytes, to: to, answering: request)
        }
      case .resource(let file, let name, let to):
        let peers = try recipients(to)
        runConcurrently(request) { node throws(CommandError) in
          try await node.transfers.sendResource(file, named: name, to: peers)
        }
      case .stream(let name, let file, let to):
        let peers = try recipients(to)
        runConcurrently(request) { node throws(CommandError) in
          try await node.transfers.sendStream(file, named: name, to: peers)
        }
      case .cancel(let target, let reason):
        try transfers.cancel(target, reason: reason ?? "")
        done(request)
      // Queries
      case .objects:
        tellObjects(request)
        done(request)
      case .show(let reference):
        try tellObject(reference, request)
        done(request)
      case .find(let area):
        tellFound(area, request)
        done(request)
      case .chat:
        tellChat(request: request.request)
        done(request)
      case .settings:
        tellSettings(request)
        done(request)
      case .peers:
        await tellPeers(request)
        done(request)
      case .digest:
        tellDigest(request)
        done(request)
      case .help(let text):
        emit(.note(.init(code: "help", message: text)))
        done(request)
      // Files and versions
      case .checkpoint(let name):
        try await checkpoint(name)
        done(request)
      case .checkpoints:
        try await tellCheckpoints(request)
        done(request)
      case .diff(let from, let to):
        try await tellDifference(from: from, to: to, request)
        done(request)
      case .saveAs(let file):
        try await saveCopy(to: BoardFile.absolute(file))
        done(request)
      case .save:
        try await save(request)
        done(request)
      case .export(let file, let region, let scale, let isReplacing):
        done(
          request,
          try await export(to: file, region: region, scale: scale, isReplacing: isReplacing)
        )
      case .copy(let references):
        done(request, try await copy(references))
      // Scripts
      case .wait(let condition, let timeout):
        done(request, try await wait(for: condition, timeout: timeout.map { .seconds($0) }))
      case .quit:
        try await checkQuit()
        await quit(request)
      case .quitAnyway:
        await quit(request)
      }
    } catch {
      fail(error, answering: request)
    }
    changed()
  }

  /// Returns the editor of the board.
  ///
  /// - Throws: ``CommandError`` if the board is not open.
  func openEditor() throws(CommandError) -> BoardEditor {
    guard let editor else { throw CommandError(.ending, "the board is closed") }
    return editor
  }

  /// Runs a command that changes the board, and answers whether it did.
  ///
  /// If `endsStroke`, the stroke that is being drawn ends first, since nothing else belongs to its undo step.
  private func change(
    _ request: CommandRequest,
    endsStroke: Bool = true,
    _ body: nonisolated(nonsending) (BoardEditor) async throws(CommandError) -> CommandOutcome
  ) async throws(CommandError) {
    try checkMayChange()
    let editor = try openEditor()
    let before = editor.board.written
    if endsStroke { try editor.endStroke() }
    var outcome = try await body(editor)
    outcome.hasChanged = editor.board.written != before
    done(request, outcome)
  }

  private func leave() async {
    guard let session else {
      // Without a session, there is no reason to continue.
      return end(.asked)
    }
    await finishDeliveries(before: runtime.limitOfGoodbye())
    await session.leave()
  }

  private func quit(_ request: CommandRequest) async {
    // The answer to `quit` is the last one, after the answers to messages.
    await finishDeliveries(before: runtime.limitOfGoodbye())
    done(request)
    end(firstFailure.map { .failed($0) } ?? .asked)
  }

  /// Runs a command concurrently with later ones, and answers it when it returns.
  private func runConcurrently(
    _ request: CommandRequest,
    _ body: @escaping @Sendable (isolated Node) async throws(CommandError) -> [String]
  ) {
    concurrentCommands += 1
    spawn { node in
      do throws(CommandError) {
        let transfers = try await body(node)
        node.done(request, CommandOutcome(transfers: transfers))
      } catch {
        node.fail(error, answering: request)
      }
      node.concurrentCommands -= 1
      node.changed()
    }
  }
}

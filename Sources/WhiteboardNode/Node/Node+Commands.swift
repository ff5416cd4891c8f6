import PeerSession
import Whiteboard
import WhiteboardSync

extension Node {
  /// Carries out one verb and answers it.
  func carryOut(_ request: CommandRequest) async {
    do throws(CommandError) {
      switch request.command {
      case .text, .stroke, .pen, .lift, .photo, .game, .duplicate, .select, .deselect, .move,
        .scale, .rotate,
        .color, .width, .order, .group, .ungroup, .lock, .unlock, .edit, .insert, .erase, .delete,
        .undelete, .purge, .purgeAuthor, .play, .undo, .redo, .set, .restore, .import, .paste,
        .say:
        try checkMayChange()
        let before = replica?.board.written
        var outcome = try await edit(request.command)
        outcome.hasChanged = replica?.board.written != before
        done(request, outcome)
      case .point(let place, let isLaser):
        try point(at: place, isLaser: isLaser)
        done(request)
      case .view(let view):
        try look(at: view)
        done(request)
      case .accept, .decline, .kick, .role, .cancel, .leave, .continue, .profile:
        try await decide(request)
        done(request)
      case .hide(let target, let isHidden):
        done(request, try await hide(author: target, isHidden))
      case .invite(let terms):
        emit(.invited(try await invite(terms, request: request.request)))
        done(request)
      case .send(let bytes, let to, let isUnreliable):
        if isUnreliable {
          try sendDatagram(bytes, to: to)
          done(request)
        } else {
          try await send(bytes, to: to, answering: request)
        }
      case .resource(let file, let name, let to):
        let peers = try recipients(to)
        beside(request) { node throws(CommandError) in
          try await node.transfers.sendResource(file, named: name, to: peers)
        }
      case .stream(let name, let file, let to):
        let peers = try recipients(to)
        beside(request) { node throws(CommandError) in
          try await node.transfers.sendStream(file, named: name, to: peers)
        }
      case .peers:
        await tellPeers(request)
        done(request)
      case .objects, .show, .find, .chat, .settings, .digest, .help:
        try tell(request)
        done(request)
      case .diff(let from, let to):
        try await tellDifference(from: from, to: to, request)
        done(request)
      case .export(let file, let region, let scale, let isReplacing):
        done(
          request,
          try await export(to: file, region: region, scale: scale, isReplacing: isReplacing)
        )
      case .copy(let references):
        done(request, try await copy(references))
      case .checkpoint, .checkpoints, .saveAs:
        try await keep(request)
        done(request)
      case .wait(let condition, let timeout):
        done(request, try await wait(for: condition, timeout: timeout.map { .seconds($0) }))
      case .save:
        try await save(request)
        done(request)
      case .quit, .quitAnyway:
        if request.command == .quit { try await checkQuit() }
        // The answers to messages come before that of `quit`, which is the last one.
        await finishDeliveries(before: runtime.limitOfGoodbye())
        done(request)
        end(firstFailure.map { .failed($0) } ?? .asked)
      }
    } catch {
      fail(error, answering: request)
    }
    changed()
  }

  /// Runs a verb beside those that follow; its answer comes when it is over.
  private func beside(
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

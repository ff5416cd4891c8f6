import PeerSession
import WhiteboardKit

/// Maintenance tasks of a running relay.
extension Relay {
  /// Performs maintenance periodically until the relay ends.
  ///
  /// Metrics are updated every 10 seconds; all other tasks run every minute.
  func upkeep() async {
    let clock = ContinuousClock()
    var rounds = 0
    while !isEnding {
      do { try await clock.sleep(for: .seconds(10)) } catch { return }
      await count()
      rounds += 1
      guard rounds % 6 == 0 else { continue }
      noteVisits()
      await removeForgotten(now: BoardFile.now)
      await boundSizes()
    }
  }

  /// Applies new limits, for example after the settings are reloaded.
  ///
  /// Existing boards remain even if they exceed the new limits, except for boards whose files are too large.
  package func reload(_ limits: RelayConfiguration.Limits) async {
    self.limits = limits
    logger.notice("Settings reloaded.")
    for entry in register.entries {
      // A board that failed because it was too large may be within the new limits.
      if let id = entry.id, case .failed? = boards[id]?.state {
        boards[id] = nil
        open(entry)
      }
    }
    await boundSizes()
  }

  /// Updates the metrics with the number of messages that were refused or relayed since the last call.
  func count() async {
    for (id, board) in boards {
      let now = await board.sharedBoard.refusals
      let passed = await board.sharedBoard.relayTally()
      guard let before = boards[id] else { continue }
      metrics.refused(viewer: now.viewer - before.refused.viewer, revoked: now.revoked - before.refused.revoked)
      metrics.passed(since: before.passed, passed)
      boards[id]?.refused = (now.viewer, now.revoked)
      boards[id]?.passed = passed
    }
  }

  /// Saves, for each board, the time at which a member was last present.
  func noteVisits() {
    let now = BoardFile.now
    var changed: [BoardRegister.Entry] = []
    for entry in register.entries {
      guard let id = entry.id, let board = boards[id] else { continue }
      let visited = board.people.isEmpty ? board.visited : now
      guard let visited, visited > entry.visited else { continue }
      var entry = entry
      entry.visited = visited
      changed.append(entry)
    }
    guard !changed.isEmpty else { return }
    do throws(WhiteboardError) { try register.set(changed) } catch { logger.error("\(error.message)") }
  }

  /// Removes the boards that no peer has visited for longer than the limits allow.
  ///
  /// - Parameter now: The current time, in milliseconds since 1970.
  func removeForgotten(now: Int64) async {
    for entry in register.entries {
      guard let days = limits.retention(of: entry), let id = entry.id, boards[id]?.people.isEmpty ?? true,
        now - entry.visited > Int64(days) * 86_400_000
      else { continue }
      logger.notice("Board removed because no peer visited it.", metadata: ["board": "\(id.short)", "days": "\(days)"])
      do throws(WhiteboardError) { try await delete(entry) } catch {
        logger.error("\(error.message)", metadata: ["board": "\(id.short)"])
      }
    }
  }

  /// Compacts the boards whose files are too large, and stops serving boards that remain too large.
  func boundSizes() async {
    let limit = limits.maximumBoardMegabytes << 20
    for (id, board) in boards {
      guard case .serving = board.state, let size = await board.sharedBoard.documentSize, size > limit else { continue }
      // If compaction fails, the file remains too large. The code below handles this case.
      try? await board.sharedBoard.compactDocument(keeping: 0)
      let left = await board.sharedBoard.documentSize ?? 0
      logger.warning(
        "Board was too large; its history was deleted.",
        metadata: ["board": "\(id.short)", "before": "\(size)", "after": "\(left)"]
      )
      guard left > limit else { continue }
      boards[id]?.problem = WhiteboardError(
        .notAllowed,
        "its file has \(left >> 20) MB, and max-board-mb allows \(limit >> 20): raise max-board-mb, or "
          + "export and delete the board"
      )
      // The board opens again when the limit is raised, so its browser links stay valid.
      await board.sharedBoard.requestEnd(untilNextStart: true)
    }
  }
}

import PeerSession
import WhiteboardNode

/// The relay's automatic maintenance, every minute.
extension Relay {
  /// Looks after the boards for as long as the relay runs.
  func upkeep() async {
    let clock = ContinuousClock()
    var rounds = 0
    while !isEnding {
      do {
        try await clock.sleep(for: .seconds(10))
      } catch {
        return
      }
      await count()
      rounds += 1
      guard rounds % 6 == 0 else { continue }
      noteVisits()
      await removeForgotten(now: BoardFile.now)
      await boundSizes()
    }
  }

  /// Takes new limits, as when the settings were read again.
  ///
  /// What is here stays, also where it is more than would be taken now, but for boards that are too large.
  package func reload(_ limits: RelayConfiguration.Limits) async {
    self.limits = limits
    logger.notice("the settings were read again")
    for entry in register.entries {
      // One that was too large may be served again.
      if let id = entry.id, case .failed? = boards[id]?.state {
        boards[id] = nil
        open(entry)
      }
    }
    await boundSizes()
  }

  /// Counts what was refused and passed on on the boards since the last time.
  func count() async {
    for (id, board) in boards {
      let now = await board.node.refusals
      let passed = await board.node.relayTally()
      guard let before = boards[id] else { continue }
      metrics.refused(
        viewer: now.viewer - before.refused.viewer,
        revoked: now.revoked - before.refused.revoked
      )
      metrics.passed(since: before.passed, passed)
      boards[id]?.refused = (now.viewer, now.revoked)
      boards[id]?.passed = passed
    }
  }

  /// Keeps when somebody was on each board last.
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
    do throws(NodeError) {
      try register.set(changed)
    } catch {
      logger.error("\(error.message)")
    }
  }

  /// Removes the boards that nobody visited for as long as the limits say.
  ///
  /// - Parameter now: Milliseconds since 1970.
  func removeForgotten(now: Int64) async {
    for entry in register.entries {
      guard let days = limits.retention(of: entry), let id = entry.id,
        boards[id]?.people.isEmpty ?? true, now - entry.visited > Int64(days) * 86_400_000
      else { continue }
      logger.notice(
        "nobody visited a board for so long that it is removed",
        metadata: ["board": "\(id.short)", "days": "\(days)"]
      )
      do throws(NodeError) {
        try await delete(entry)
      } catch {
        logger.error("\(error.message)", metadata: ["board": "\(id.short)"])
      }
    }
  }

  /// Compacts the boards whose files are too large, and serves those no more that stay so.
  func boundSizes() async {
    let limit = limits.maximumBoardMegabytes << 20
    for (id, board) in boards {
      guard case .serving = board.state, let size = await board.node.documentSize, size > limit
      else { continue }
      // Where that fails, the size says so.
      try? await board.node.compactDocument(keeping: 0)
      let left = await board.node.documentSize ?? 0
      logger.warning(
        "a board was larger than the limit and has lost its history",
        metadata: ["board": "\(id.short)", "before": "\(size)", "after": "\(left)"]
      )
      guard left > limit else { continue }
      boards[id]?.problem = NodeError(
        .notAllowed,
        "its file has \(left >> 20) MB, and max-board-mb allows \(limit >> 20): allow more, or export "
          + "and delete it"
      )
      await board.node.requestEnd()
    }
  }
}

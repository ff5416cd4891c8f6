import Whiteboard

extension BoardDocument {
  /// Stores entries in order, and returns when they would survive a crash of this process.
  ///
  /// Calls during a transaction, or within the group interval after it, share the next transaction. The order of
  /// concurrent calls from different tasks is not defined.
  /// - Throws: `full`, `quota`, `readOnly`, `tooLarge`, `closed` or `inputOutput` if none of these entries was stored.
  ///   Entries that were acknowledged before are safe, and later calls try again. `removed` if the file is no longer at
  ///   its path; ``reinstate()`` restores the file.
  public func append(_ entries: [DocumentEntry]) async throws(DocumentError) {
    try checkWritable()
    for case .marker(let name, _) in entries { try DocumentName.check(name) }
    guard !entries.isEmpty else { return }
    if let error = await enqueue([.entries(entries)]) { throw error }
  }

  /// Stores the whole state, so that the document can be opened from this state and the entries after it.
  ///
  /// The document keeps the two newest keyframes, since a keyframe may be damaged. The document also keeps enough older
  /// keyframes that seeking applies at most about 16,384 entries, or entries with a quarter of the size of a keyframe.
  /// - Parameters:
  ///   - bytes: The state.
  ///   - digest: The digest that a board in this state must have.
  ///   - time: Milliseconds since 1970.
  ///   - lost: The time from which entries are missing in the log because they could not be appended; nil if none are
  ///     missing. The state contains the changes of these entries. A gap is stored in their place, since the entries
  ///     cannot be replayed from an earlier keyframe.
  ///   - position: The position of the state in the log. Entries may have been appended since then, but no other
  ///     keyframe may have been stored. If `position` is nil, the state contains all entries appended so far.
  /// - Throws: The errors of ``append(_:)``.
  public func writeKeyframe(
    _ bytes: [UInt8],
    digest: [UInt8],
    time: Int64,
    lostSince lost: Int64? = nil,
    at position: LogPosition? = nil
  ) async throws(DocumentError) {
    try checkWritable()
    let body = try await keyframeBody(bytes, at: position)
    try checkWritable()
    let gap: [LogWriter.Step] = lost.map { [.entries([.gap(from: min($0, time), to: time)])] } ?? []
    let step = LogWriter.Step.keyframe(body, digest: digest, name: nil, time: time, position: position)
    if let error = await enqueue(gap + [step]) { throw error }
    guard !isClosed else { return }
    // Another transaction, because entries wait for each. If it fails, the old keyframe only takes space.
    _ = await enqueue([.thinning])
  }

  /// Prepares the state of a keyframe. If the position is known, entries can be appended at the same time.
  func keyframeBody(_ bytes: [UInt8], at position: LogPosition?) async throws(DocumentError) -> KeyframeBody {
    guard position != nil else { return KeyframeBody(bytes) }
    return try await Blocking.run(path) { KeyframeBody(bytes) }
  }

  /// The time from which a keyframe is due, in milliseconds since 1970; nil if more entries must be appended first.
  ///
  /// A keyframe is due 30 s after the last keyframe, or as soon as 4,096 entries were appended since then. The entries
  /// must have at least a quarter of the keyframe's size, so that the bytes written are proportional to the edits.
  public var keyframeDue: Int64? { tail.keyframeDue }

  /// Whether entries were appended since the last keyframe.
  public var hasEntriesSinceKeyframe: Bool { tail.entriesSince > 0 }

  /// The position after all entries appended so far.
  public var position: LogPosition { LogPosition(tail: tail) }

  /// Waits for the transaction that runs `steps`, and returns the error if the transaction failed. If there are no
  /// steps, waits for all steps that were enqueued before.
  func enqueue(_ steps: [LogWriter.Step]) async -> DocumentError? {
    if !queue.isRunning, steps.isEmpty || nextGroup <= .now {
      // Waiting for a group would take longer than the transaction.
      defer { nextGroup = .now + groupInterval }
      return commit(steps)
    }
    return await withCheckedContinuation { done in
      guard queue.add(StepQueue.Caller(steps: steps, done: done)) else { return }
      // Each caller waits for its own steps, and `close` waits for all of them.
      Task { await self.storeSteps() }
    }
  }

  private func storeSteps() async {
    while true {
      await gatherSteps()
      guard let group = queue.next() else { return }
      let failure = commit(group.flatMap(\.steps))
      if failure != nil, group.count > 1 {
        // A transaction failed, perhaps because of the entries of one caller. Commit each caller's steps separately.
        for caller in group { caller.done.resume(returning: commit(caller.steps)) }
      } else {
        for caller in group { caller.done.resume(returning: failure) }
      }
      nextGroup = .now + groupInterval
    }
  }

  /// If the last transaction was less than `groupInterval` ago, waits for the rest of this interval, so that more steps
  /// share the next transaction. Steps that arrive rarely are stored immediately. Closing the document does not wait.
  private func gatherSteps() async {
    guard !queue.isEmpty, !queue.hasBarrier, nextGroup > .now else { return }
    try? await Task.sleep(until: nextGroup, clock: .continuous)
  }

  private func commit(_ steps: [LogWriter.Step]) -> DocumentError? {
    guard !steps.isEmpty else { return nil }
    if let injectedFailure { return injectedFailure }
    let result = connection.commit(steps, after: tail)
    guard case .success(let (after, isThere)) = result else { return result.failure }
    tail = after
    groupsCommitted += 1
    // SQLite continues to write to a removed file, but no program can open that file again.
    return isThere ? nil : .removed(path)
  }
}

/// A position in the log of a document, for a keyframe that is written later.
public struct LogPosition: Sendable { let tail: LogTail }

/// The steps that wait for the next transaction of a document, by caller. The owner runs a loop that stores the steps
/// group by group. The loop starts when the first steps arrive, and ends when no steps are left.
struct StepQueue: Sendable {
  struct Caller: Sendable {
    let steps: [LogWriter.Step]
    /// A continuation that is resumed with nil when the steps are stored, or with the error.
    let done: CheckedContinuation<DocumentError?, Never>
  }

  private var callers: [Caller] = []
  /// Whether steps are waiting or being stored.
  private(set) var isRunning = false

  var isEmpty: Bool { callers.isEmpty }

  /// A caller without steps only waits for the steps before it.
  var hasBarrier: Bool { callers.contains(where: \.steps.isEmpty) }

  /// Adds a caller. Returns whether the owner must start its loop.
  mutating func add(_ caller: Caller) -> Bool {
    callers.append(caller)
    defer { isRunning = true }
    return !isRunning
  }

  /// If the result is nil, no callers are waiting, and the loop must end.
  mutating func next() -> [Caller]? {
    guard !callers.isEmpty else {
      isRunning = false
      return nil
    }
    defer { callers = [] }
    return callers
  }
}

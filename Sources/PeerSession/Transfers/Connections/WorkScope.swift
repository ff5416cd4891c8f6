/// The work runs in child tasks of the task that called ``run()``.
///
/// All submitted work runs, even if it is already canceled.
final class WorkScope: Sendable {
  typealias Work = @Sendable () async -> Void

  private let work: AsyncStream<Work>
  private let source: AsyncStream<Work>.Continuation

  init() { (work, source) = AsyncStream.makeStream() }

  /// Submits `work`, which starts soon; returns `false` if the scope is closed, so that `work` never runs.
  func submit(_ work: @escaping Work) -> Bool {
    if case .terminated = source.yield(work) { false } else { true }
  }

  func close() { source.finish() }

  /// Runs the submitted work until ``close()`` is called or the task is canceled, and waits for all work to end.
  ///
  /// Both end the stream only after the work that was submitted before.
  func run() async {
    await withDiscardingTaskGroup { group in
      for await work in work { group.addTask { await work() } }
      group.cancelAll()
    }
  }
}

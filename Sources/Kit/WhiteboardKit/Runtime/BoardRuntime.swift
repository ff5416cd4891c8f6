import PeerSession
import Whiteboard
import WhiteboardSync

/// The services that the components of a board share: events, conditions, tasks, time and termination. Confined to the
/// actor of its board; each component holds a reference to it.
final class BoardRuntime {
  /// A function that runs on the board's actor, concurrently with the other jobs.
  typealias Job = @Sendable (isolated SharedBoard) async -> Void

  enum Ending: Equatable {
    case asked
    case failed(WhiteboardError)
  }

  private struct Condition {
    let holds: () -> Bool
    let continuation: CheckedContinuation<Bool, Never>
    let timer: Task<Void, Never>?

    func resume(_ result: Bool) {
      timer?.cancel()
      continuation.resume(returning: result)
    }
  }

  let clock = ContinuousClock()
  let start: ContinuousClock.Instant
  let sink: any EventSink
  /// The jobs to run; the board adds them to its task group.
  let jobs: AsyncStream<Job>

  private(set) var ending: Ending?

  /// The reference is unowned because the board owns the runtime.
  unowned let sharedBoard: SharedBoard
  private let jobSource: AsyncStream<Job>.Continuation
  private var pump = EventPump()
  private var conditions: [Int: Condition] = [:]
  private var nextCondition = 0
  private var isWatching = false
  private var endWaiter: CheckedContinuation<Void, Never>?
  private var wakeTimer = WakeTimer()
  /// Whether work without a deadline is pending.
  private var isWorkDue = false
  private var goodbyeLimit: ContinuousClock.Instant?

  init(_ sharedBoard: SharedBoard, sink: any EventSink) {
    self.sharedBoard = sharedBoard
    self.sink = sink
    start = clock.now
    (jobs, jobSource) = AsyncStream.makeStream()
  }

  /// The components already run on the board's actor. They use this function because a closure that captures the board
  /// would keep the board alive.
  func call<Result: Sendable>(_ body: (isolated SharedBoard) -> Result) -> Result { sharedBoard.assumeIsolated(body) }

  // MARK: - Jobs

  /// Runs a job, which is canceled when the board closes.
  func spawn(_ job: @escaping Job) { jobSource.yield(job) }

  func finishJobs() { jobSource.finish() }

  /// Lets the links and the other tasks of the board run before the caller continues.
  nonisolated(nonsending) func yield() async {
    defer { checkIsolation(#isolation) }
    if let thread = sharedBoard.linkThread { await thread.serveLinks() } else { await Task.yield() }
  }

  // MARK: - The end

  func end(_ reason: Ending) {
    guard ending == nil else { return }
    ending = reason
    finish()
  }

  func replaceEnding(_ reason: Ending) { if ending != nil { ending = reason } }

  /// Resumes every waiter of the runtime and the board; can be called more than once.
  func finish() {
    guard ending != nil else { return }
    endWaiter?.resume()
    endWaiter = nil
    for condition in conditions.values { condition.resume(false) }
    conditions = [:]
    call { $0.finishWaiters() }
    wakeNow()
  }

  nonisolated(nonsending) func untilEnding() async {
    defer { checkIsolation(#isolation) }
    guard ending == nil else { return }
    await withCheckedContinuation { endWaiter = $0 }
  }

  /// The time until which the board may delay closing to send pending messages. The first call sets this time. The
  /// delay is as long as a user would wait for a program to exit.
  func limitOfGoodbye() -> ContinuousClock.Instant {
    let limit = goodbyeLimit ?? clock.now + .seconds(2)
    goodbyeLimit = limit
    return limit
  }

  // MARK: - Changes and events

  /// Reports a change without a line to the readers of ``SharedBoard/changes`` and, unless the user hid its author, to
  /// the sink.
  func report(_ change: SharedBoard.Change, isHidden: Bool = false) {
    sharedBoard.readers.publish(change)
    if !isHidden { sink.boardChanged(change) }
  }

  /// Reports a change with a line that follows all earlier lines.
  func report(_ change: SharedBoard.Change, _ details: SharedBoard.ChangeDetails) {
    report(change, isHidden: details.isHidden)
    emit(.change(change, details))
  }

  func emit(_ news: SharedBoard.News, answering request: RequestMark? = nil) {
    emit(request == nil ? .news(news) : .answer(.news(news), to: request))
  }

  func answer(_ answer: SharedBoard.Answer, to request: RequestMark?) { emit(.answer(answer, to: request)) }

  private func emit(_ event: SharedBoard.Output) {
    sharedBoard.preconditionIsolated()
    pump.append(event)
    deliver()
  }

  /// The approximate number of bytes of all events so far, without events that were merged into a pending event.
  var emittedBytes: Int { pump.appendedBytes }

  private func deliver() {
    guard let events = pump.begin() else { return }
    let sink = sink
    let sharedBoard = sharedBoard
    // While the events are written, the links may wait only briefly.
    let executor =
      sink.isBrief && pump.tellingBytes <= EventPump.byteBacklog ? sharedBoard.linkThread?.executor : nil
    // This task ends when the sink has accepted the events or failed; `flush` waits for the end of the task.
    Task(executorPreference: executor) {
      var failure: OutputError?
      do throws(OutputError) { try await sink.write(events) } catch { failure = error }
      await sharedBoard.delivered(failure)
    }
  }

  /// Continues after the sink has accepted events, or failed.
  func delivered(_ failure: OutputError?) {
    for waiter in pump.end(failure) { waiter.resume() }
    if let failure {
      end(failure.isReaderGone ? .asked : .failed(WhiteboardError(.inputOutput, "the output cannot be written")))
    }
    deliver()
  }

  nonisolated(nonsending) func room() async {
    defer { checkIsolation(#isolation) }
    while !pump.hasRoom { await withCheckedContinuation { pump.wait($0) } }
  }

  nonisolated(nonsending) func flush() async {
    defer { checkIsolation(#isolation) }
    while !pump.isIdle { await withCheckedContinuation { pump.wait($0) } }
  }

  // MARK: - Conditions

  /// Checks the conditions of all waiters. Call this after each change of state; if a call is missing, the waiters
  /// still continue within a second.
  func changed() {
    sharedBoard.preconditionIsolated()
    for (key, condition) in conditions where condition.holds() {
      conditions[key] = nil
      condition.resume(true)
    }
  }

  /// Reports a change of state from any thread.
  var wake: @Sendable () -> Void { { [jobSource] in jobSource.yield { $0.runtime.changed() } } }

  /// Waits until a condition holds. The condition is checked now and after each ``changed()``. Returns false if the
  /// wait timed out or was canceled, or if the board closes.
  nonisolated(nonsending) func wait(
    timeout: Duration? = nil,
    endsWhenCanceled: Bool = false,
    until holds: @escaping () -> Bool
  ) async -> Bool {
    defer { checkIsolation(#isolation) }
    guard ending == nil else { return false }
    guard !holds() else { return true }
    if endsWhenCanceled, Task.isCancelled { return false }
    let key = nextCondition
    nextCondition += 1
    // This task is canceled when the wait ends, so no code awaits it.
    let timer = timeout.map { limit in
      Task { [clock, jobSource] in
        guard (try? await clock.sleep(for: limit)) != nil else { return }
        jobSource.yield { $0.runtime.giveUp(key) }
      }
    }
    watch()
    return await withCancellation {
      await withCheckedContinuation {
        sharedBoard.preconditionIsolated()
        conditions[key] = Condition(holds: holds, continuation: $0, timer: timer)
      }
    } onCancel: { [jobSource] in
      if endsWhenCanceled { jobSource.yield { $0.runtime.giveUp(key) } }
    }
  }

  /// Checks the conditions every second while there are waiters. A change of state without ``changed()`` then delays a
  /// waiter, but does not block it forever.
  private func watch() {
    guard !isWatching else { return }
    isWatching = true
    spawn { [clock] sharedBoard in
      let runtime = sharedBoard.runtime
      while !runtime.conditions.isEmpty, (try? await clock.sleep(for: .seconds(1))) != nil { runtime.changed() }
      runtime.isWatching = false
    }
  }

  private func giveUp(_ condition: Int) { conditions.removeValue(forKey: condition)?.resume(false) }

  // MARK: - Time

  var now: Moment { Moment(wall: SystemTime.milliseconds, uptime: milliseconds(uptime) + 1) }

  var uptime: Duration { clock.now - start }

  private func milliseconds(_ duration: Duration) -> UInt64 { UInt64(duration / .milliseconds(1)) }

  /// Returns the first instant at which the uptime of ``now`` reaches a value in milliseconds.
  func instant(_ uptime: UInt64) -> ContinuousClock.Instant { start + .milliseconds(Int64(clamping: uptime) - 1) }

  /// Sleeps until `due`, unless ``wake(by:)`` or ``wakeNow()`` ends the sleep earlier.
  nonisolated(nonsending) func sleep(until due: ContinuousClock.Instant) async {
    guard ending == nil, !isWorkDue else {
      isWorkDue = false
      return
    }
    // Sleep for at least 1 ms, since the clock of replicas counts milliseconds.
    await wakeTimer.begin(until: max(due, clock.now + .milliseconds(1)), on: sharedBoard.linkThread).wait()
    wakeTimer.end()
    isWorkDue = false
  }

  func wake(by due: ContinuousClock.Instant) { wakeTimer.wake(by: due) }

  /// Ends the current ``sleep(until:)``; if no task sleeps, the next call returns immediately.
  func wakeNow() {
    isWorkDue = true
    wakeTimer.wake(by: clock.now)
  }
}

/// A timer for a task that sleeps until its next deadline. An earlier deadline wakes the task. Confined to the board's
/// actor.
struct WakeTimer {
  private var alarm: Alarm?

  /// Returns the alarm for which the task must wait.
  mutating func begin(until due: ContinuousClock.Instant, on thread: LinkThread?) -> Alarm {
    let alarm = Alarm(at: due, on: thread)
    self.alarm = alarm
    return alarm
  }

  mutating func end() { alarm = nil }

  /// Returns whether a task sleeps and was woken.
  @discardableResult func wake(by due: ContinuousClock.Instant) -> Bool {
    guard let alarm, due < alarm.due else { return false }
    alarm.ring()
    return true
  }
}

/// Returns the result of `body`; after a timeout, cancels `body`, waits for it, and returns nil.
package func firstOf<Success: Sendable>(within limit: Duration, _ body: @escaping @Sendable () async -> Success?) async
  -> Success?
{
  await withTaskGroup(of: Success?.self) { group in
    group.addTask(operation: body)
    group.addTask {
      try? await ContinuousClock().sleep(for: limit)
      return nil
    }
    let first = await group.next() ?? nil
    group.cancelAll()
    return first
  }
}

/// Checks that the code runs on an actor.
///
/// The check also keeps the function on the actor until it returns.
///
/// With optimization, Swift 6.3 omits the switch back to the caller's actor after the last `await` of a
/// `nonisolated(nonsending)` function, so that the caller would continue on another thread. Call this function in a
/// `defer` of a function that can return or throw right after such an `await`: `defer { checkIsolation(#isolation) }`.
/// `Tests/check-isolation` finds the functions that lack this call.
///
/// - Parameter actor: The actor; nil for none.
func checkIsolation(_ actor: (any Actor)?) { actor?.preconditionIsolated() }

/// Calls an operation on the caller's actor, with a handler for the cancellation of the task.
///
/// Use this function instead of `withTaskCancellationHandler`. In a `nonisolated(nonsending)` function, an operation
/// passed to `withTaskCancellationHandler` runs on no actor. If the operation uses state of the caller's actor, the
/// compiler of Swift 6.3 does not report this error.
///
/// - Parameters:
///   - isolation: The caller's actor; nil for none.
///   - operation: The operation.
///   - cancel: The handler. If the task is canceled, the handler is called immediately, on any thread.
/// - Returns: The result of the operation.
func withCancellation<Result>(
  isolation: isolated (any Actor)? = #isolation,
  _ operation: nonisolated(nonsending) () async -> Result,
  onCancel cancel: @Sendable () -> Void
) async -> Result {
  defer { checkIsolation(isolation) }
  return await withTaskCancellationHandler {
    // A closure is isolated only to an actor that it captures.
    defer { checkIsolation(isolation) }
    return await operation()
  } onCancel: {
    cancel()
  }
}

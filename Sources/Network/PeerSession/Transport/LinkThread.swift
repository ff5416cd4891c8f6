import NIOCore
import NIOPosix
import PeerCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Lets the system prefer other threads to the current thread, because links and users must not wait for files.
package func preferOtherThreads() {
  // On Linux, this call concerns only the current thread. C libraries declare the constant with different types.
  let prioProcess: Int32 = 0
  setpriority(prioProcess, 0, 5)
}

/// A thread that serves links and runs tasks, and that exists as long as the process.
package struct LinkThread: Sendable {
  let eventLoop: any EventLoop
  /// Runs tasks on the thread. The tasks must not block. While a task computes, the links wait.
  package let executor: any TaskExecutor

  package init() {
    eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    executor = EventLoopTasks(eventLoop)
  }

  /// Lets the links send and receive before the caller continues. `Task.yield()` does not do this: an event loop runs
  /// all its tasks, including new tasks, before it serves the links.
  package func serveLinks() async {
    await withCheckedContinuation { continuation in
      _ = eventLoop.scheduleTask(in: .microseconds(1)) { continuation.resume() }
    }
  }
}

/// Wakes one task at the time ``due``, or earlier. The alarm runs on an event loop, because a sleeping `Task` would
/// wake two other threads.
package final class Alarm: Sendable {
  private struct State {
    var hasRung = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  package let due: ContinuousClock.Instant
  private let eventLoop: any EventLoop
  private let state = Locked(State())

  package init(at due: ContinuousClock.Instant, on thread: LinkThread?) {
    self.due = due
    eventLoop = thread?.eventLoop ?? MultiThreadedEventLoopGroup.singleton.any()
  }

  /// Wakes the waiting task, or lets the next ``wait()`` return immediately.
  package func ring() {
    let waiter = state.withLock { state in
      state.hasRung = true
      return state.waiter.take()
    }
    waiter?.resume()
  }

  /// Waits until the alarm rings, or the task is canceled. Only one task can wait.
  package func wait() async {
    let timer = eventLoop.scheduleTask(in: TimeAmount(ContinuousClock.now.duration(to: due))) { self.ring() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let hasRung = state.withLock { state in
          if !state.hasRung { state.waiter = continuation }
          return state.hasRung
        }
        if hasRung { continuation.resume() }
      }
    } onCancel: {
      ring()
    }
    timer.cancel()
  }
}

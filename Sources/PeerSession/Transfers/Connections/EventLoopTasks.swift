import NIOCore

/// Runs tasks on an event loop, so that serving a link costs no changes of thread.
///
/// Only for work that never blocks; a file is read and hashed on a thread pool.
final class EventLoopTasks: TaskExecutor {
  private let eventLoop: any EventLoop

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    eventLoop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}

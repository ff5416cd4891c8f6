import NIOCore

/// A task executor that runs tasks on an event loop, so that serving a link needs no thread switch.
///
/// Its tasks must never block; files are read and hashed on a thread pool.
final class EventLoopTasks: TaskExecutor {
  private let eventLoop: any EventLoop

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    eventLoop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}

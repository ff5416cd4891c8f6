import Foundation

/// Ticks when something in a directory was made, written, renamed or removed.
///
/// Ticks that nobody took yet are one. It asks the kernel (inotify); where that is refused, or the
/// directory is not there yet, it ticks every second instead.
final class DirectoryWatch: Sendable {
  private let stream: AsyncStream<Void>
  // Set once; cancelling, which alone is done with it, may be done on any thread.
  nonisolated(unsafe) private let source: any DispatchSourceProtocol
  private let turn = TurnTaker()

  /// Watches `directory` until it is deinitialised.
  init(_ directory: String) {
    let (stream, outlet) = AsyncStream.makeStream(
      of: Void.self,
      bufferingPolicy: .bufferingNewest(1)
    )
    self.stream = stream
    let queue = DispatchQueue(label: "whiteboard directory watch")
    let descriptor = inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
    let mask =
      IN_CREATE | IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE
      | IN_DELETE_SELF | IN_MOVE_SELF
    guard descriptor >= 0, inotify_add_watch(descriptor, directory, UInt32(mask)) >= 0 else {
      if descriptor >= 0 { close(descriptor) }
      let timer = DispatchSource.makeTimerSource(queue: queue)
      timer.schedule(deadline: .now() + 1, repeating: 1)
      timer.setEventHandler { outlet.yield() }
      timer.setCancelHandler { outlet.finish() }
      timer.activate()
      source = timer
      return
    }
    let reading = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    reading.setEventHandler {
      // What happened is found out by looking; here the events are only drained.
      var buffer = [UInt8](repeating: 0, count: 16384)
      while read(descriptor, &buffer, buffer.count) > 0 {}
      outlet.yield()
    }
    reading.setCancelHandler {
      close(descriptor)
      outlet.finish()
    }
    reading.activate()
    source = reading
  }

  deinit { source.cancel() }

  /// Waits for the next tick; false where the task was cancelled.
  func tick() async -> Bool { await turn.next(stream) }

  /// One reader at a time, as an `AsyncStream` wants it.
  private actor TurnTaker {
    func next(_ stream: AsyncStream<Void>) async -> Bool {
      var iterator = stream.makeAsyncIterator()
      return await iterator.next(isolation: self) != nil
    }
  }
}

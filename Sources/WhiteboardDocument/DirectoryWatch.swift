import Foundation

/// Ticks when something in a directory was made, written, renamed or removed.
///
/// Ticks that nobody took yet are one. It asks the kernel (inotify); where that is refused, or while
/// the directory is not there, it ticks every second instead.
package final class DirectoryWatch: Sendable {
  private let stream: AsyncStream<Void>
  // Set once; cancelling, which alone is done with them, may be done on any thread.
  nonisolated(unsafe) private let sources: [any DispatchSourceProtocol]
  private let turn = TurnTaker()

  /// Watches `directory` until it is deinitialised.
  package init(_ directory: String) {
    let (stream, outlet) = AsyncStream.makeStream(
      of: Void.self,
      bufferingPolicy: .bufferingNewest(1)
    )
    self.stream = stream
    let queue = DispatchQueue(label: "whiteboard directory watch")
    let descriptor = inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
    let aim = Aim(directory, descriptor)
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + 1, repeating: 1)
    timer.setEventHandler {
      if aim.isOff() { outlet.yield() }
    }
    timer.setCancelHandler { outlet.finish() }
    guard descriptor >= 0 else {
      sources = [timer]
      timer.activate()
      return
    }
    let reading = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    reading.setEventHandler {
      // The events are only drained here; the caller inspects the directory to find the changes.
      var buffer = [UInt8](repeating: 0, count: 16384)
      while read(descriptor, &buffer, buffer.count) > 0 {}
      outlet.yield()
    }
    reading.setCancelHandler { close(descriptor) }
    sources = [timer, reading]
    timer.activate()
    reading.activate()
  }

  deinit {
    // In this order, and handled on one queue: the timer uses what the other closes.
    for source in sources { source.cancel() }
  }

  /// Waits for the next tick; false if the task was cancelled.
  package func tick() async -> Bool { await turn.next(stream) }

  /// The directory that the kernel watches; if it is removed and recreated, that is another
  /// directory.
  private final class Aim: @unchecked Sendable {
    private let directory: String
    private let descriptor: CInt
    // Touched by `init` and then only on the watch's queue.
    private var watched: CInt

    init(_ directory: String, _ descriptor: CInt) {
      self.directory = directory
      self.descriptor = descriptor
      watched = Self.aim(directory, descriptor)
    }

    /// Looks whether the directory is still the one that is watched, and watches the one that is.
    ///
    /// - Returns: Whether it is another one, or none is watched.
    func isOff() -> Bool {
      let now = Self.aim(directory, descriptor)
      guard now < 0 || now != watched else { return false }
      watched = now
      return true
    }

    /// The number of the watch, which stays the same for the same directory.
    private static func aim(_ directory: String, _ descriptor: CInt) -> CInt {
      let mask =
        IN_CREATE | IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE
        | IN_DELETE_SELF | IN_MOVE_SELF
      return inotify_add_watch(descriptor, directory, UInt32(mask))
    }
  }

  /// One reader at a time, as an `AsyncStream` wants it.
  private actor TurnTaker {
    func next(_ stream: AsyncStream<Void>) async -> Bool {
      var iterator = stream.makeAsyncIterator()
      return await iterator.next(isolation: self) != nil
    }
  }
}

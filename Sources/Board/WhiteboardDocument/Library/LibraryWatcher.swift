import Foundation

/// A change in a library: a document that was added, changed or removed.
public enum LibraryChange: Hashable, Sendable {
  case added(DocumentSummary)
  /// The document was written, or another file replaced it.
  case changed(DocumentSummary)
  /// The value is the path of the removed document.
  case removed(String)
}

actor LibraryWatcher {
  private typealias Mark = [FileStamp?]

  private let directory: String
  private let interval: Duration
  private let watch: DirectoryWatch
  private var known: [String: Mark] = [:]
  private var waiting: [LibraryChange] = []
  private var hasLooked = false

  init(_ directory: String, _ interval: Duration) {
    self.directory = directory
    self.interval = interval
    watch = DirectoryWatch(directory)
  }

  func next() async -> LibraryChange? {
    while waiting.isEmpty {
      if hasLooked {
        guard await watch.tick() else { return nil }
        // A document can be written many times a second, so scan less often.
        guard (try? await Task.sleep(for: interval)) != nil else { return nil }
      }
      hasLooked = true
      await look()
    }
    return waiting.removeFirst()
  }

  private func look() async {
    let directory = directory
    let known = known
    let looked = await Blocking.result(directory) { () -> ([String: Mark], [LibraryChange]) in
      var now: [String: Mark] = [:]
      var changes: [LibraryChange] = []
      for path in try BoardLibrary.paths(in: directory).sorted() {
        let mark = [FileStamp(path), FileStamp(path + "-wal")]
        now[path] = mark
        if known[path] == nil {
          changes.append(.added(BoardLibrary.summary(path)))
        } else if known[path] != mark {
          changes.append(.changed(BoardLibrary.summary(path)))
        }
      }
      for path in known.keys.sorted() where now[path] == nil { changes.append(.removed(path)) }
      return (now, changes)
    }
    // If the directory cannot be read now, the next event in the directory causes another scan.
    guard case .success(let (now, changes)) = looked else { return }
    self.known = now
    waiting += changes
  }
}

/// A watch that ticks when something in a directory is created, written, renamed or removed. Ticks that were not
/// received yet are merged into one. The watch uses inotify. If inotify is not available, or while the directory does
/// not exist, the watch ticks every second instead. If the directory is replaced by another, the watch needs up to 10 s
/// to notice.
package final class DirectoryWatch: Sendable {
  private let stream: AsyncStream<Void>
  // `nonisolated(unsafe)` is safe because the property is set once. After that, the sources are only canceled, and any
  // thread may cancel them.
  nonisolated(unsafe) private let sources: [any DispatchSourceProtocol]
  private let turn = TurnTaker()

  package init(_ directory: String) {
    let (stream, outlet) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.stream = stream
    let queue = DispatchQueue(label: "whiteboard directory watch")
    let descriptor = inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
    let aim = Aim(directory, descriptor)
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + 1)
    timer.setEventHandler {
      if aim.isOff() { outlet.yield() }
      timer.schedule(deadline: .now() + (aim.isWatching ? 10 : 1))
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
      // The directory may have been moved or removed.
      if aim.isOff(), !aim.isWatching { timer.schedule(deadline: .now() + 1) }
      outlet.yield()
    }
    reading.setCancelHandler { close(descriptor) }
    sources = [timer, reading]
    timer.activate()
    reading.activate()
  }

  deinit {
    // Both sources are canceled in this order, on one queue: the timer uses the descriptor that the other source
    // closes.
    for source in sources { source.cancel() }
  }

  package func tick() async -> Bool { await turn.next(stream) }

  /// If the directory is removed and recreated, the new directory is a different directory for the kernel.
  private final class Aim: @unchecked Sendable {
    private let directory: String
    private let descriptor: CInt
    // `@unchecked Sendable` is safe because only `init`, and after that the watch's queue, uses this property.
    private var watched: CInt
    private(set) var isWatching = false

    init(_ directory: String, _ descriptor: CInt) {
      self.directory = directory
      self.descriptor = descriptor
      watched = Self.aim(directory, descriptor)
    }

    /// Watches the directory that is currently at the path. Returns whether the directory is not the same as before, or
    /// cannot be watched.
    func isOff() -> Bool {
      let now = Self.aim(directory, descriptor)
      isWatching = now >= 0
      guard now < 0 || now != watched else { return false }
      watched = now
      return true
    }

    /// Watches the directory, and returns the number of the watch; negative if the directory cannot be watched.
    /// Watching the same directory again returns the same number.
    private static func aim(_ directory: String, _ descriptor: CInt) -> CInt {
      let mask =
        IN_CREATE | IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF
      return inotify_add_watch(descriptor, directory, UInt32(mask))
    }
  }

  /// An actor that lets one caller at a time read an `AsyncStream`, which supports only one iterator.
  private actor TurnTaker {
    func next(_ stream: AsyncStream<Void>) async -> Bool {
      var iterator = stream.makeAsyncIterator()
      return await iterator.next(isolation: self) != nil
    }
  }
}

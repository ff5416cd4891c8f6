import Foundation

/// A change in a library: a document that was added, changed or removed.
public enum LibraryChange: Hashable, Sendable {
  /// The document was added.
  case added(DocumentSummary)
  /// The document was written, or another file replaced it.
  case changed(DocumentSummary)
  /// The document was removed; the value is its path.
  case removed(String)
}

actor LibraryWatcher {
  private struct Mark: Hashable, Sendable {
    var file: Stamp
    var log: Stamp
  }

  private struct Stamp: Hashable, Sendable {
    var number: UInt64 = 0
    var size: Int64 = 0
    var seconds: Int = 0
    var nanoseconds: Int = 0

    init(_ path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return }
      number = UInt64(status.st_ino)
      size = Int64(status.st_size)
      seconds = Int(status.st_mtim.tv_sec)
      nanoseconds = Int(status.st_mtim.tv_nsec)
    }
  }

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
        let mark = Mark(file: Stamp(path), log: Stamp(path + "-wal"))
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
    // If the directory cannot be read now, the next event in it causes another scan.
    guard case .success(let (now, changes)) = looked else { return }
    self.known = now
    waiting += changes
  }
}

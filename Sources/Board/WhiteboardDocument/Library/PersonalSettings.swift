import Foundation

/// The settings of a user on this machine: a small JSON object in a separate file.
///
/// Values are strings. Values of other types, written by other programs, are not changed. Every write replaces the file
/// atomically. A damaged file is never overwritten.
public actor PersonalSettings {
  /// The maximum size of the settings file, in bytes.
  public static let maximumSize = 65_536

  private let link: String

  /// The path of the settings file itself, after following symbolic links as they are now.
  public nonisolated var path: String {
    guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: link) else { return link }
    let file = URL(fileURLWithPath: target, relativeTo: URL(fileURLWithPath: link).deletingLastPathComponent())
    return file.resolvingSymlinksInPath().path
  }

  fileprivate nonisolated var directory: String {
    let path = path
    return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }

  /// The values that the reader of ``changes()`` knows.
  private var known: [String: String] = [:]

  /// Creates an accessor for the settings file at `path`.
  ///
  /// The file may be missing, but its directory must exist.
  public init(path: String) { link = path }

  /// Returns all settings whose values are strings.
  /// - Throws: `damaged`, with the remedy in the message; `tooLarge`, `inputOutput`.
  public func values() throws(DocumentError) -> [String: String] {
    try Self.read(path).compactMapValues { $0 as? String }
  }

  /// Returns the value of one setting; nil if it is not set.
  /// - Throws: The errors of ``values()``.
  public func value(_ key: String) throws(DocumentError) -> String? { try values()[key] }

  /// A setting that was set, changed or removed.
  public struct Change: Hashable, Sendable {
    /// The name of the setting.
    public let key: String
    /// The value before the change; nil if the setting was not set.
    public let old: String?
    /// The value after the change; nil if the setting was removed.
    public let new: String?

    /// Creates the description of a change.
    public init(key: String, old: String?, new: String?) {
      self.key = key
      self.old = old
      self.new = new
    }
  }

  /// Returns a stream of the changes that other programs and other accessors make from now on, until the task is
  /// canceled. Changes made through this accessor are not reported.
  ///
  /// The changes of one write come in the order of their keys. If a setting changes several times before the next
  /// element is read, the stream reports one change. The file is read when the kernel reports a change in its
  /// directory. While the file is unreadable, nothing is reported; the next readable file is compared with the last
  /// one.
  /// - Returns: The stream, which supports only one reader and buffers no changes. Call this method only once.
  /// - Throws: The errors of ``values()``.
  public func changes() throws(DocumentError) -> AsyncStream<Change> {
    // Watch the directory first, so that a change after the values were read is noticed.
    let watcher = SettingsWatcher(self)
    known = try values()
    return AsyncStream { await watcher.next() }
  }

  fileprivate func takeChanges() -> [Change] {
    guard let now = try? values() else { return [] }
    defer { known = now }
    return Set(known.keys).union(now.keys).sorted().filter { known[$0] != now[$0] }.map { key in
      Change(key: key, old: known[key], new: now[key])
    }
  }

  /// The part of ``maximumSize`` that the file uses, from 0 to 1.
  public nonisolated var usedPart: Double {
    var status = stat()
    return stat(path, &status) == 0 ? Double(status.st_size) / Double(Self.maximumSize) : 0
  }

  /// Sets one setting, or removes it if `value` is nil.
  /// - Throws: The errors of ``set(_:)``.
  public func set(_ key: String, to value: String?) throws(DocumentError) { try set([key: value]) }

  /// Sets settings, and removes the settings whose value is nil, in one write.
  /// - Throws: `tooLarge` if the file would exceed ``maximumSize``; `full`, `readOnly`; the errors of ``values()``. If
  ///   the method throws, the file is unchanged.
  public func set(_ changes: [String: String?]) throws(DocumentError) {
    try edit { object in for (key, value) in changes { object[key] = value } }
  }

  /// Replaces the value of one setting by the result of `change`, which receives the stored value. No other program
  /// writes in between.
  /// - Throws: The errors of ``set(_:)``.
  package func update(_ key: String, _ change: @Sendable (String?) -> String?) throws(DocumentError) {
    try edit { object in object[key] = change(object[key] as? String) }
  }

  private func edit(_ change: (inout [String: Any]) -> Void) throws(DocumentError) {
    let path = path
    let lock = try Self.lock(path)
    defer { close(lock) }
    let before = try Self.read(path)
    var object = before
    change(&object)
    try Self.write(object, path)
    for key in Set(before.keys).union(object.keys) where before[key] as? String != object[key] as? String {
      known[key] = object[key] as? String
    }
  }

  private static func read(_ path: String) throws(DocumentError) -> [String: Any] {
    var status = stat()
    guard stat(path, &status) == 0 else {
      if errno == ENOENT { return [:] }
      throw DocumentError(.inputOutput, "\(path): \(systemMessage())")
    }
    guard status.st_size <= maximumSize else {
      throw DocumentError(
        .tooLarge,
        "\(path): the file may have at most \(maximumSize) bytes; it was not changed; shorten it"
      )
    }
    let data: Data
    do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
      throw DocumentError(.inputOutput, "\(path): it cannot be read", cause: error)
    }
    do {
      guard let object = try JSONSerialization.jsonObject(with: data) as? [String: Any] else {
        throw DocumentError(.damaged, "it is not a JSON object")
      }
      return object
    } catch {
      throw DocumentError(
        .damaged,
        "\(path): it is not a JSON object and was not changed; fix it with an editor, or "
          + "move it somewhere else to start with default settings",
        cause: error
      )
    }
  }

  private static func write(_ object: [String: Any], _ path: String) throws(DocumentError) {
    let data: Data
    do {
      data = try JSONSerialization.data(
        withJSONObject: object,
        options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      )
    } catch { throw DocumentError(.inputOutput, "\(path): \(error)", cause: error) }
    guard data.count <= maximumSize else {
      throw DocumentError(
        .tooLarge,
        "\(path): the file may have at most \(maximumSize) bytes, and nothing was changed; remove settings that you "
          + "do not need from the file, or show some hidden authors again with `unhide`"
      )
    }
    let temporary = "\(path).\(UUID().uuidString).part"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw DocumentError.creating(path, "nothing was changed") }
    let bytes = Array(data)
    var written = 0
    while written < bytes.count {
      let count = Glibc.write(descriptor, Array(bytes[written...]), bytes.count - written)
      guard count > 0 else { break }
      written += count
    }
    let isWhole = written == bytes.count && fsync(descriptor) == 0
    let reason = errno
    close(descriptor)
    guard isWhole, rename(temporary, path) == 0 else {
      unlink(temporary)
      throw DocumentError(
        !isWhole && reason == ENOSPC ? .full : .inputOutput,
        "\(path): it could not be written; nothing was changed"
      )
    }
  }

  /// Locks the settings, so that no other process changes them between a read and a write; closing the descriptor
  /// unlocks them.
  private static func lock(_ path: String) throws(DocumentError) -> CInt {
    let descriptor = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw DocumentError.creating(path, "nothing was changed") }
    // Waiting is short, because another process holds the lock only while it rewrites a small file.
    while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
    return descriptor
  }
}

private actor SettingsWatcher {
  private let settings: PersonalSettings
  private var directory: String
  private var watch: DirectoryWatch
  private var waiting: [PersonalSettings.Change] = []

  init(_ settings: PersonalSettings) {
    self.settings = settings
    directory = settings.directory
    watch = DirectoryWatch(directory)
  }

  func next() async -> PersonalSettings.Change? {
    while waiting.isEmpty {
      guard await watch.tick() else { return nil }
      if directory != settings.directory {
        // The file was replaced by a symbolic link.
        directory = settings.directory
        watch = DirectoryWatch(directory)
      }
      waiting = await settings.takeChanges()
    }
    return waiting.removeFirst()
  }
}

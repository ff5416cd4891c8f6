import Foundation

enum DamagedCopies {
  static let limit = 8

  private static let companions = ["-wal", "-shm", "-journal"]

  static func all(of path: String) -> [String] {
    (1...limit).map { "\(path).damaged-\($0)" }.filter { access($0, F_OK) == 0 }
  }

  /// Copies a file and its `-wal`, `-shm` and `-journal` files, and waits until the copies are on the disk. Returns the
  /// path of the copy. If the newest copy has the same content, no new copy is made. Throws `full`, `readOnly`,
  /// `inputOutput`, or `exists` if there are ``limit`` copies already. If the method throws, the file must not be
  /// changed.
  static func make(of path: String) throws(DocumentError) -> String {
    let copies = all(of: path)
    if let last = copies.last, isSame(last, as: path) { return last }
    let names = (1...limit).map { "\(path).damaged-\($0)" }
    guard let copy = names.first(where: isFree) else {
      throw DocumentError(
        .exists,
        "\(path): the file is damaged, and there are \(limit) copies of it already; run 'whiteboard-peer "
          + "boards recover', then move the files that end in damaged-1 to damaged-\(limit) somewhere else; "
          + "nothing was changed"
      )
    }
    var made: [String] = []
    do throws(DocumentError) {
      // Copy the file itself last. If its copy exists, the copies of the other files are complete too.
      for end in companions + [""] where access(path + end, F_OK) == 0 {
        made.append(copy + end)
        try Self.copy(path + end, to: copy + end)
      }
      try FileSync.synchronize((path as NSString).deletingLastPathComponent)
    } catch {
      for file in made { unlink(file) }
      throw DocumentError(
        error.code,
        "\(path): the file is damaged, and was not opened, since it cannot be copied: \(error.message)"
      )
    }
    return copy
  }

  /// Copies one file to an unused path, and returns when the copy is on the disk. Throws `full`, `readOnly`,
  /// `inputOutput`. The incomplete copy is not removed.
  static func copy(_ source: String, to target: String, orEmpty mayBeMissing: Bool = false) throws(DocumentError) {
    let isEmpty = mayBeMissing && access(source, F_OK) != 0
    let input = open(isEmpty ? "/dev/null" : source, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard input >= 0 else { throw .writing(source) }
    defer { close(input) }
    let output = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard output >= 0 else { throw .writing(target) }
    defer { close(output) }
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let count = read(input, &buffer, buffer.count)
      guard count >= 0 else { throw .writing(source) }
      guard count > 0 else { break }
      var written = 0
      while written < count {
        let more = buffer[written..<count].withUnsafeBytes { bytes in write(output, bytes.baseAddress, bytes.count) }
        guard more > 0 else { throw .writing(target) }
        written += more
      }
    }
    guard fsync(output) == 0 else { throw .writing(target) }
  }

  /// Returns whether no file of the copy exists; an interrupted attempt may have left some files.
  private static func isFree(_ copy: String) -> Bool { (companions + [""]).allSatisfy { access(copy + $0, F_OK) != 0 } }

  private static func isSame(_ copy: String, as path: String) -> Bool {
    // The WAL index (`-shm`) contains no data that is not in the other files too.
    ["", "-wal", "-journal"].allSatisfy { end in
      FileManager.default.contentsEqual(atPath: copy + end, andPath: path + end)
        || (access(copy + end, F_OK) != 0 && isEmpty(path + end))
    }
  }

  private static func isEmpty(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) != 0 || status.st_size == 0
  }
}

enum FileSync {
  static func synchronize(_ path: String) throws(DocumentError) {
    let descriptor = open(path.isEmpty ? "." : path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .writing(path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .writing(path) }
  }
}

extension DocumentError {
  static func writing(_ path: String) -> DocumentError {
    let number = errno
    return DocumentError(
      DiskCondition.code(number) ?? .inputOutput,
      "\(path): \(DiskCondition.words(number) ?? String(cString: strerror(number)))"
    )
  }
}

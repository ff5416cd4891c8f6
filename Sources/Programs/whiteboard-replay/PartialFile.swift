import PeerCore
import WhiteboardKit

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// A file that is written in pieces. It gets its final name when it is complete. An incomplete file is deleted.
final class PartialFile {
  private let path: String
  private let name: String
  private let isReplacing: Bool
  /// The path of the incomplete file, in the same folder.
  private let partPath: String
  let descriptor: Int32

  /// The paths of the incomplete files. They are deleted even if a second signal ends the program.
  private static let incomplete: Locked<Set<String>> = {
    atexit { for path in PartialFile.incomplete.withLock({ $0 }) { unlink(path) } }
    return Locked([])
  }()

  init(_ name: String, isReplacing: Bool) throws(WhiteboardError) {
    try Self.check(name, isReplacing: isReplacing)
    (self.name, path, self.isReplacing) = (name, OutputFile.resolved(BoardFile.absolute(name)), isReplacing)
    let partPath = "\(path).\(UInt64.random(in: 0...UInt64.max)).part"
    self.partPath = partPath
    Self.incomplete.withLock { _ = $0.insert(partPath) }
    descriptor = open(partPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw Self.refused(name, errno) }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
    if Self.incomplete.withLock({ $0.remove(partPath) }) != nil { unlink(partPath) }
  }

  func write(_ bytes: [UInt8]) throws(WhiteboardError) {
    if let number = FileWriting.writeAll(bytes, to: descriptor) { throw Self.refused(name, number) }
  }

  /// Changes bytes that were written before.
  func replace(_ bytes: [UInt8], at offset: Int) throws(WhiteboardError) {
    guard pwrite(descriptor, bytes, bytes.count, off_t(offset)) == bytes.count else { throw Self.refused(name, errno) }
  }

  /// Gives the file its name.
  func complete() throws(WhiteboardError) {
    if let number = OutputFile.name(partPath, path, isReplacing: isReplacing) {
      if number == EEXIST { try Self.check(name, isReplacing: isReplacing) }
      throw Self.refused(name, number)
    }
    Self.incomplete.withLock { _ = $0.remove(partPath) }
  }

  private static func check(_ name: String, isReplacing: Bool) throws(WhiteboardError) {
    do throws(OutputFile.WriteError) {
      try OutputFile.check(BoardFile.absolute(name), isReplacing: isReplacing)
    } catch {
      let advice = if case .exists = error { "; add --force to replace it" } else { "" }
      throw WhiteboardError(.cannotCreate, UntrustedText("\(name): \(error.message)\(advice)").escaped())
    }
  }

  static func refused(_ name: String, _ number: Int32) -> WhiteboardError {
    WhiteboardError(
      .cannotCreate,
      UntrustedText("\(name) cannot be written: \(SystemError.words(for: number))").escaped()
    )
  }
}

import FoundationEssentials
import PeerCore
import PeerSession
import Whiteboard
import WhiteboardSync

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension Transfers {
  /// Returns whether the replica requested this answer from the peer.
  func wantsAnswer(_ name: ResourceDTO, _ info: ResourceInfo) -> Bool {
    guard name.byteCount == info.size else { return false }
    return active?.replica.expectsAnswer(name, from: MemberID(info.peer)) ?? false
  }

  /// Passes a received answer to the replica, or reports the failure of its transfer.
  func answerFinished(request: UInt64, from peer: PeerID, _ result: Result<ReceivedResource, SessionError>) {
    guard let active else { return }
    let member = MemberID(peer)
    var bytes: [UInt8]?
    if case .success(let resource) = result, let path = resource.path {
      bytes = try? FileReading.whole(path, limit: resource.size)
      try? FileManager.default.removeItem(atPath: path)
    }
    let replica = active.replica
    if let bytes {
      active.perform(replica.receivedAnswer(bytes, request: request, from: member, now: runtime.now))
    } else {
      active.perform(replica.answerFailed(request: request, from: member, now: runtime.now))
    }
  }

  func sendAnswer(_ bytes: [UInt8], _ name: ResourceDTO, to member: MemberID) {
    guard let request = name.request else { return }
    guard let active else { return }
    guard let file = AnswerFile(bytes, inDirectory: configuration.answersDirectory) else {
      active.perform(active.replica.answerSent(request: request, to: member, now: runtime.now))
      return
    }
    let session = active.session
    runtime.spawn { sharedBoard in
      do throws(SessionError) {
        _ = try await session.sendResource(atPath: file.path, named: name.name, to: PeerID(member), isRequested: true)
          .result()
      } catch {
        // The member requests the answer again, from this peer or another.
        sharedBoard.configuration.logger.debug(
          "A catch-up answer was not delivered.",
          metadata: ["peer": "\(member.short)", "code": "\(error.code)"]
        )
      }
      withExtendedLifetime(file) {}
      guard let board = sharedBoard.board else { return }
      board.perform(board.replica.answerSent(request: request, to: member, now: sharedBoard.now))
    }
  }

  /// Removes the files of answers that an earlier process was sending when it was killed.
  func removeOldAnswers() {
    let directory = configuration.answersDirectory
    for file in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] {
      AnswerFile.removeAbandoned(atPath: "\(directory)/\(file)")
    }
  }
}

/// A private file from which a transfer sends a catch-up answer.
///
/// The file is locked while the transfer needs it, and then removed. If the process dies, the system releases the lock,
/// so the next process can remove the file.
final class AnswerFile: Sendable {
  let path: String
  private let descriptor: Int32

  /// Writes an answer to a new file; returns nil if that fails.
  init?(_ bytes: [UInt8], inDirectory directory: String) {
    path = "\(directory)/\(TransferID.random().text)"
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return nil }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, FileWriting.writeAll(bytes, to: descriptor) == nil else {
      return nil
    }
  }

  deinit {
    guard descriptor >= 0 else { return }
    unlink(path)
    close(descriptor)
  }

  static func removeAbandoned(atPath path: String) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
  }
}

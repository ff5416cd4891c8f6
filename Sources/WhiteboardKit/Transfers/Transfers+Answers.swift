import FoundationEssentials
import PeerCore
import PeerSession
import Whiteboard
import WhiteboardSync

/// Catch-up answers, which are sent as resources (SYN-13).
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

  /// Sends an answer from a temporary file.
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

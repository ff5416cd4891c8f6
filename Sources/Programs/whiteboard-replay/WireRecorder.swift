import CommandLines
import FoundationEssentials
import Logging
import PeerCore
import PeerSession
import SessionReplay
import WhiteboardDocument
import WhiteboardKit
import WhiteboardPrograms

/// A recorder that joins the session of any program and records the traffic, but sends nothing.
actor WireRecorder {
  private let request: JoinRequest
  private let name: String
  private let file: String
  private let directory: String
  private let duration: Duration?
  private var session: Session?
  private var isStopped = false
  private var isDiscarded = false
  private var names: [PeerID: UntrustedText] = [:]

  init(_ request: JoinRequest, name: String, file: String, directory: String, duration: Duration?) {
    self.request = request
    self.name = name
    self.file = file
    self.directory = directory
    self.duration = duration
  }

  func stop() async {
    isStopped = true
    await session?.leave()
  }

  /// Records until the user stops the recording or the session ends. Returns whether to keep the recording. Throws if
  /// the session cannot be joined, or the end of the recording cannot be written.
  nonisolated func run() async throws -> Bool {
    var logger = Logger(label: "whiteboard-replay") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = .error
    let configuration = TransportConfiguration(
      identity: .ephemeral(),
      displayName: name,
      inboxDirectory: directory + "/inbox",
      logger: logger
    )
    do {
      return try await PeerTransport.withTransport(configuration) { transport in
        try await record(transport.joinFromTerminal(request))
      }
    } catch let error as SessionError { throw WhiteboardError(error) } catch let error as DocumentError {
      throw WhiteboardError(error)
    }
  }

  private func record(_ session: Session) async throws -> Bool {
    self.session = session
    let recorder = try await SessionRecorder.start(session, as: name, to: file) { error in
      Console.complain("whiteboard-replay: \(UntrustedText(error.message).escaped())")
    }
    if isStopped { await session.leave() }
    try Console.tell("recording the session of \(session.hostPeer.short); `stop` saves the recording\n")
    let helpers = [
      Task { await RecorderLine.read { line in await self.take(line, recorder) } },
      Task {
        guard let duration = self.duration else { return }
        do { try await Task.sleep(for: duration) } catch { return }
        await self.stop()
      },
    ]
    defer { for helper in helpers { helper.cancel() } }
    await withDiscardingTaskGroup { group in
      for await event in session.events {
        switch event {
        case .peerJoined(let peer):
          names[peer.id] = peer.name
          try? Console.tell("\(name(of: peer.id)) joined\n")
        case .peerLeft(let peer, let reason, _):
          try? Console.tell(EventText.departure(reason.word, of: name(of: peer)) + "\n")
        case .invitation(let invitation):
          _ = try? await session.respond(to: invitation.id, .decline(reason: "A recorder admits no peers."))
        case .streamOpened(let stream):
          // Reading the stream records it. The task finishes at the end of the stream.
          group.addTask { await Self.read(stream) }
        case .resourceFinished(_, .success(let resource)):
          // The recording needs only the name and the size of a resource, so the file is deleted.
          if let path = resource.path { try? FileManager.default.removeItem(atPath: path) }
        default: break
        }
      }
      group.cancelAll()
    }
    do throws(DocumentError) { try await recorder.stop() } catch { if !isDiscarded { throw WhiteboardError(error) } }
    if let end = session.endReason, !isStopped {
      Console.complain("whiteboard-replay: \(UntrustedText(end.message).escaped())")
    }
    return !isDiscarded
  }

  private func name(of peer: PeerID) -> String { EventText.person(names[peer] ?? UntrustedText(""), peer.description) }

  private static func read(_ stream: PeerStream) async {
    do {
      for try await _ in stream.inbound {}
      try await stream.finish()
    } catch {
      // The recording already contains the failure of the stream.
    }
  }

  private func take(_ line: RecorderLine, _ recorder: SessionRecorder) async {
    guard !isStopped else { return }
    switch line {
    case .pause: await recorder.pause()
    case .resume: await recorder.resume()
    case .mark(let name):
      do throws(DocumentError) { try await recorder.mark(name) } catch {
        Console.complain("whiteboard-replay: \(UntrustedText(error.message).escaped())")
        return
      }
    case .status: break
    case .stop: return await stop()
    case .discard:
      isDiscarded = true
      return await stop()
    }
    let count = await recorder.count
    let present = session?.peers().map(\.peer.name) ?? []
    let problem = await recorder.failure.map { "\(SaveProblem($0).headline); " } ?? ""
    try? Console.tell("\(problem)\(EventText.count(count, "entry", "entries")); \(RecorderLine.present(present))")
  }
}

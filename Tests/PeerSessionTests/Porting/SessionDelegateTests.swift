import Foundation
import PeerCore
import PeerDiscovery
import Testing

@testable import PeerSession

@Suite(.timeLimit(.minutes(5))) struct SessionDelegateTests {
  /// Records its callbacks, and leaves when its only peer has left.
  private actor Recorder: SessionDelegate {
    private(set) var calls: [String] = []
    private(set) var resource: [UInt8]?
    private(set) var reasons: [DepartureReason] = []
    private(set) var progress: IncomingResource?

    func session(_ session: Session, peer: PeerID, didChange state: Session.MemberState) async {
      calls.append("\(state)")
      if state == .notConnected { await session.leave() }
    }

    func session(_ session: Session, didReceive data: [UInt8], fromPeer peer: PeerID) {
      calls.append("data \(String(decoding: data, as: UTF8.self))")
    }

    func session(
      _ session: Session,
      didReceive stream: PeerStream,
      withName streamName: UntrustedText,
      fromPeer peer: PeerID
    ) async {
      var bytes: [UInt8] = []
      do {
        for try await piece in stream.inbound { bytes += piece }
        try await stream.finish()
        calls.append("stream \(streamName.raw) \(String(decoding: bytes, as: UTF8.self))")
      } catch { calls.append("stream \(streamName.raw) \(error)") }
    }

    func session(
      _ session: Session,
      didStartReceivingResourceWithName resourceName: UntrustedText,
      fromPeer peer: PeerID,
      with progress: IncomingResource
    ) {
      self.progress = progress
      calls.append("started \(resourceName.raw) \(progress.info.size)")
    }

    func session(
      _ session: Session,
      didFinishReceivingResourceWithName resourceName: UntrustedText,
      fromPeer peer: PeerID,
      at path: String?,
      withError error: SessionError?
    ) {
      resource = path.flatMap { FileManager.default.contents(atPath: $0) }.map(Array.init)
      calls.append("finished \(resourceName.raw) \(error.map(\.code.rawValue) ?? "whole")")
    }

    func session(_ session: Session, didObserve event: SessionEvent) {
      if case .peerLeft(_, let reason, undelivered: _) = event { reasons.append(reason) }
    }
  }

  /// Uses the default implementation of every method.
  private final class Deaf: SessionDelegate {}

  @Test("a delegate receives all callbacks of the old framework, in order") func order() async throws {
    try await withPeer("alice") { alice in
      try await withPeer("bob") { bob in
        let id = SessionID.random()
        let hosted = try await alice.host(id, admission: .anyone)
        let joined = try await bob.join(id, of: alice)
        let recorder = Recorder()
        try await withScratchDirectory { directory in
          try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
          let file = directory + "/photo"
          let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
          try Data(content).write(to: URL(fileURLWithPath: file))
          try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await joined.run(delegate: recorder) }
            group.addTask { await hosted.run(delegate: Deaf()) }
            try await hosted.sendConfirmed(Array("one".utf8))
            let transfer = try hosted.sendResource(atPath: file, named: "a photo", to: bob.peerID)
            _ = try await transfer.result()
            let stream = try await hosted.openStream(named: "ink", to: bob.peerID)
            try await stream.write(Array("drawn".utf8))
            try await stream.finish()
            // The peer's direction ends after the recorder has read the local direction to its end.
            for try await _ in stream.inbound {}
            await hosted.leave()
          }
          #expect(await recorder.resource == content)
        }
        #expect(
          await recorder.calls == [
            "connected", "data one", "started a photo 200000", "finished a photo whole", "stream ink drawn",
            "notConnected",
          ]
        )
        #expect(await recorder.reasons == [.left])
        let progress = try #require(await recorder.progress)
        var last: ResourceProgress?
        for await update in progress.updates { last = update }
        #expect(last?.total == 200_000)
        #expect(last?.bytes == 200_000)
      }
    }
  }
}

import Foundation
import Logging
import PeerDiscovery
import PeerSession
import WhiteboardDocument

/// Acts the other peers of a recorded session against a program: real sessions send it what it was sent, and
/// compare what it answers with what it said.
///
/// For tests of programs that are built on `PeerSession`: record one of them with ``SessionRecorder``, have a new
/// one host a session on loopback, and play. Each peer of the recording joins it under a key of its own. Entries
/// are acted in their order, and an answer of the program is waited for before what came after it is said. Of
/// resources a recording has names and sizes alone: their bytes are zeros, unless ``resource`` gives a file.
/// Datagrams may be lost and are not compared.
public struct TrafficReplay: Sendable {
  /// How time passes.
  public enum Pace: Sendable {
    /// Each entry follows the previous one at once.
    case hurried
    /// As it was, so many times as fast.
    case recorded(speed: Double)
  }

  /// Something that the program did otherwise than it had.
  public struct Difference: Hashable, Sendable, CustomStringConvertible {
    /// Which entry of the recording's traffic, from 0.
    public let place: Int
    /// Which peer of the recording noticed.
    public let peer: PeerID
    /// The expected and the actual behavior of the program.
    public let description: String
    /// The bytes that it had sent.
    public let expected: [UInt8]
    /// The bytes that the program sent now; nil if it sent none.
    public let found: [UInt8]?
  }

  /// The result of a replay.
  public struct Outcome: Sendable {
    /// How many messages, datagrams, resources and pieces of streams the program was given.
    public internal(set) var given = 0
    /// How many of what it sent were compared.
    public internal(set) var compared = 0
    /// The differences from the recording; empty if there are none.
    public internal(set) var differences: [Difference] = []
  }

  /// The traffic that is replayed.
  public let traffic: [TrafficEntry]
  /// The peers that are acted, in the order in which they came.
  public let peers: [PeerID]
  /// How time passes.
  public var pace = Pace.hurried
  /// How long an answer of the program is waited for.
  public var patience = Duration.seconds(5)
  /// The keys under which peers come, by the peer of the recording; the others get new ones.
  public var identities: [PeerID: PeerIdentity] = [:]
  /// Whether a message or a stream of the program says what it said, where bytes differ and need not.
  public var isSame: @Sendable (_ expected: [UInt8], _ found: [UInt8]) -> Bool = { $0 == $1 }
  /// The file to send as a resource of a name; nil: zeros.
  public var resource: @Sendable (_ name: String, _ size: Int) -> String? = { _, _ in nil }

  /// The traffic of a recording.
  /// - Throws: `notFound` if none was recorded.
  public init(_ recording: Recording) throws(DocumentError) {
    let traffic = recording.history.traffic
    var peers: [PeerID] = []
    for entry in traffic where entry.kind != .began {
      for bytes in entry.peers {
        if let peer = PeerID(bytes: bytes), !peers.contains(peer) { peers.append(peer) }
      }
    }
    guard traffic.contains(where: { $0.kind != .began }), !peers.isEmpty else {
      throw DocumentError(
        .notFound,
        "nothing of a session was recorded; record with --wire, or with a SessionRecorder"
      )
    }
    self.traffic = traffic
    self.peers = peers
  }

  /// Acts the recording.
  ///
  /// - Parameters:
  ///   - request: Where the program hosts its session, and how to get in; it must admit every peer.
  ///   - logger: Where the peers' transports log.
  /// - Returns: What the program did otherwise.
  /// - Throws: `SessionError` if a peer cannot join, or the program does not stay; `CancellationError`.
  public func play(
    against request: JoinRequest,
    logger: Logger = Logger(label: "session-replay") { _ in SwiftLogNoOpLogHandler() }
  ) async throws -> Outcome {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("session-replay-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
      atPath: directory,
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
    defer { try? FileManager.default.removeItem(atPath: directory) }
    return try await TransportThreads.withThreads(1) { threads in
      try await withStandIns(request, directory, threads, logger, [:]) { standIns in
        try await act(standIns, directory)
      }
    }
  }

  /// One stand-in for each peer, each with a transport of its own.
  private func withStandIns(
    _ request: JoinRequest,
    _ directory: String,
    _ threads: TransportThreads,
    _ logger: Logger,
    _ made: [PeerID: ReplayedPeer],
    _ body: ([PeerID: ReplayedPeer]) async throws -> Outcome
  ) async throws -> Outcome {
    guard made.count < peers.count else { return try await body(made) }
    let peer = peers[made.count]
    let name = traffic.last { $0.kind == .joined && $0.peers == [peer.bytes] }?.text
    var configuration = TransportConfiguration(
      identity: identities[peer] ?? .ephemeral(),
      displayName: name ?? peer.short,
      inboxDirectory: "\(directory)/\(made.count)",
      logger: logger
    )
    configuration.listen = PeerAddress(host: "127.0.0.1", port: 0)
    configuration.threads = threads
    return try await PeerTransport.withTransport(configuration) { transport in
      let replayedPeer = ReplayedPeer(peer, transport, request, patience)
      let all = made.merging([peer: replayedPeer]) { $1 }
      return try await withStandIns(request, directory, threads, logger, all, body)
    }
  }

  private func act(_ standIns: [PeerID: ReplayedPeer], _ directory: String) async throws -> Outcome
  {
    var outcome = Outcome()
    let start = ContinuousClock.now
    let first = traffic.first?.time ?? 0
    do {
      for (place, entry) in traffic.enumerated() where entry.kind != .began {
        if case .recorded(let speed) = pace {
          let elapsed = Double(max(0, entry.time &- first)) / max(speed, 0.001)
          try await Task.sleep(until: start + .milliseconds(elapsed), clock: .continuous)
        }
        for bytes in entry.peers {
          guard let peer = PeerID(bytes: bytes), let replayedPeer = standIns[peer] else { continue }
          try await act(entry, at: place, peer, replayedPeer, directory, &outcome)
        }
      }
    } catch {
      for replayedPeer in standIns.values { await replayedPeer.leave() }
      throw error
    }
    for replayedPeer in standIns.values { await replayedPeer.leave() }
    return outcome
  }

  private func act(
    _ entry: TrafficEntry,
    at place: Int,
    _ peer: PeerID,
    _ replayedPeer: ReplayedPeer,
    _ directory: String,
    _ outcome: inout Outcome
  ) async throws {
    func compare(
      _ what: String,
      _ expected: [UInt8],
      _ found: [UInt8]?,
      _ words: ([UInt8]) -> String = TrafficEntry.content(of:)
    ) {
      outcome.compared += 1
      if let found, isSame(expected, found) { return }
      let now = found.map { "is now \(words($0))" } ?? "did not come"
      outcome.differences.append(
        Difference(
          place: place,
          peer: peer,
          description: "entry \(place + 1), for \(peer.short): \(what), \(words(expected)), \(now)",
          expected: expected,
          found: found
        )
      )
    }
    func name(_ bytes: [UInt8]) -> String { "\"\(UntrustedText(bytes: bytes))\"" }
    switch entry.kind {
    case .began, .state, .missed: break
    case .left: await replayedPeer.leave()
    case .joined: try await replayedPeer.join()
    case .message:
      try await replayedPeer.say(entry.bytes, .reliable)
      outcome.given += 1
    case .datagram:
      try await replayedPeer.say(entry.bytes, .unreliable)
      outcome.given += 1
    case .sentDatagram: break
    case .sentMessage:
      try await replayedPeer.join()
      compare("a message", entry.bytes, await replayedPeer.message())
    case .resource:
      try await replayedPeer.send(entry.text, try file(for: entry, directory))
      outcome.given += 1
    case .sentResource:
      try await replayedPeer.join()
      let expected = "\(entry.size) bytes, named \(entry.text)"
      let found = await replayedPeer.resource().map { "\($0.size) bytes, named \($0.name.raw)" }
      compare("a resource", Array(expected.utf8), found.map { Array($0.utf8) }) {
        UntrustedText(bytes: $0).displayed
      }
    case .resourceEnded: break
    case .stream:
      try await replayedPeer.open(entry.number, named: entry.text)
      outcome.given += 1
    case .openedStream:
      try await replayedPeer.join()
      let found = await replayedPeer.opened(entry.number)
      compare("a stream", Array(entry.text.utf8), found.map { Array($0.utf8) }, name)
    case .streamBytes:
      await replayedPeer.write(entry.bytes, to: entry.number)
      outcome.given += 1
    case .sentStreamBytes:
      let found = await replayedPeer.read(entry.bytes.count, of: entry.number)
      compare("a part of stream \(entry.number)", entry.bytes, found)
    case .streamFinished: await replayedPeer.finish(entry.number)
    case .finishedStream:
      let rest = await replayedPeer.readToEnd(of: entry.number)
      compare("the end of stream \(entry.number)", [], rest)
    case .streamBroke: await replayedPeer.reset(entry.number)
    }
  }

  /// The bytes of a resource that is to be sent.
  private func file(for entry: TrafficEntry, _ directory: String) throws -> String {
    let size = Int(clamping: entry.size)
    if let path = resource(entry.text, size) { return path }
    // As large as it was, and without a byte on the disk.
    let path = "\(directory)/resource-\(entry.number)"
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try handle.truncate(atOffset: UInt64(size))
    try handle.close()
    return path
  }
}

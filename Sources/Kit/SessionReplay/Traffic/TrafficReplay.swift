import Foundation
import Logging
import PeerCore
import PeerDiscovery
import PeerSession
import WhiteboardDocument

/// Replays the other peers of a recorded session against a program, and compares the program's answers with the
/// recorded answers.
///
/// A replay tests a program that is built on `PeerSession`. First, record the program with ``SessionRecorder``. Then
/// let a new process of the program host a session on loopback, and call ``play(against:logger:)``. Each peer of the
/// recording joins the session with its own key. The entries are replayed in order. The replay waits for each recorded
/// answer before it continues. A recording contains only the names and sizes of resources. Resources are therefore sent
/// as zeros, unless ``resource`` returns a file. Datagrams are not compared, because they may be lost.
public struct TrafficReplay: Sendable {
  /// The speed of a replay.
  public enum Pace: Sendable {
    /// Each entry immediately follows the previous entry.
    case hurried
    /// The entries follow each other at the recorded intervals, sped up by this factor.
    case recorded(speed: Double)
  }

  /// A difference between the behavior of the program and the recording.
  public struct Difference: Hashable, Sendable, CustomStringConvertible {
    /// The index of the entry in the recorded traffic, from 0.
    public let place: Int
    /// The recorded peer that the entry is about.
    public let peer: PeerID
    /// The expected and the actual behavior of the program.
    public let description: String
    /// The bytes that the program sent in the recording.
    public let expected: [UInt8]
    /// The bytes that the program sent in the replay; `nil` if the program sent no bytes.
    public let found: [UInt8]?
  }

  /// The result of a replay.
  public struct Outcome: Sendable {
    /// The number of messages, datagrams, resources, streams and parts of streams sent to the program.
    public internal(set) var given = 0
    /// The number of messages, resources, streams and parts of streams from the program that were compared.
    public internal(set) var compared = 0
    /// The differences from the recording; empty if there are none.
    public internal(set) var differences: [Difference] = []
  }

  /// The traffic that is replayed.
  public let traffic: [TrafficEntry]
  /// The recorded peers, in the order in which they first appear.
  public let peers: [PeerID]
  /// The speed of the replay.
  public var pace = Pace.hurried
  /// How long to wait for each answer from the program.
  public var patience = Duration.seconds(5)
  /// The keys of the replayed peers, by recorded peer.
  ///
  /// Peers without an entry get new keys.
  public var identities: [PeerID: PeerIdentity] = [:]
  /// A closure that returns whether bytes from the program are acceptable in place of the recorded bytes.
  public var isSame: @Sendable (_ expected: [UInt8], _ found: [UInt8]) -> Bool = { $0 == $1 }
  /// A closure that returns the path of the file to send as a resource; `nil` to send zeros.
  public var resource: @Sendable (_ name: String, _ size: Int) -> String? = { _, _ in nil }

  /// Creates a replay of the traffic in a recording.
  ///
  /// - Throws: `notFound` if the recording has no traffic.
  public init(_ recording: Recording) throws(DocumentError) {
    let traffic = recording.history.traffic
    var peers: [PeerID] = []
    for entry in traffic where entry.kind != .began {
      for bytes in entry.peers { if let peer = PeerID(bytes: bytes), !peers.contains(peer) { peers.append(peer) } }
    }
    guard traffic.contains(where: { $0.kind != .began }), !peers.isEmpty else {
      throw DocumentError(
        .notFound,
        "the recording has no traffic of a session; record with --wire, or with a SessionRecorder"
      )
    }
    self.traffic = traffic
    self.peers = peers
  }

  /// Replays the recording against a program.
  ///
  /// - Parameters:
  ///   - request: The request to join the program's session. The session must admit every peer.
  ///   - logger: The logger of the peers' transports.
  /// - Returns: The differences from the recording.
  /// - Throws: `SessionError` if a peer cannot join or loses its connection to the program; `CancellationError`.
  public func play(
    against request: JoinRequest,
    logger: Logger = Logger(label: "session-replay") { _ in SwiftLogNoOpLogHandler() }
  ) async throws -> Outcome {
    let people = peers.map { peer in
      let name = traffic.last { $0.kind == .joined && $0.peers == [peer.bytes] }?.text
      return (identity: identities[peer] ?? .ephemeral(), name: name ?? peer.short)
    }
    return try await withLoopbackTransports(people, threads: 1, logger: logger) { transports, directory in
      let standIns = zip(peers, transports).map { ($0, ReplayedPeer($0, $1, request, patience)) }
      return try await act(Dictionary(uniqueKeysWithValues: standIns), directory)
    }
  }

  private func act(_ standIns: [PeerID: ReplayedPeer], _ directory: String) async throws -> Outcome {
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
      let now = found.map { "is now \(words($0))" } ?? "did not arrive"
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
      compare("a resource", Array(expected.utf8), found.map { Array($0.utf8) }) { UntrustedText(bytes: $0).displayed }
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

  private func file(for entry: TrafficEntry, _ directory: String) throws -> String {
    let size = Int(clamping: entry.size)
    if let path = resource(entry.text, size) { return path }
    // A sparse file has the recorded size, but uses no space on disk.
    let path = "\(directory)/resource-\(entry.number)"
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try handle.truncate(atOffset: UInt64(size))
    try handle.close()
    return path
  }
}

import PeerCore
import Whiteboard

/// The result of replaying a part of a recording with simulated peers.
public struct ReplayOutcome: Sendable {
  /// The final digest of each peer's board, with the letter of the peer.
  public let digests: [(peer: String, digest: Bytes32)]
  /// The digest of the recorded board after the part.
  public let expected: Bytes32
  /// Whether all peers reported before the timeout that they have all changes.
  public let isSynced: Bool
  /// The protocol violations and the differences between boards that peers reported.
  public let complaints: [String]
  /// The number of messages, datagrams and answers that were sent.
  public let messages: Int
  /// The size of the sent messages, datagrams and answers in bytes.
  public let bytes: Int
  /// The number of network faults: lost packets, duplicated packets, and broken connections.
  public let disturbed: Int
  /// The duration in milliseconds, on the clock of the session.
  public let duration: Int64
  /// The SHA-256 of the trace; empty if there is no trace.
  ///
  /// The trace depends only on the seed.
  public let trace: [UInt8]

  /// Creates an outcome.
  public init(
    digests: [(peer: String, digest: Bytes32)],
    expected: Bytes32,
    isSynced: Bool,
    complaints: [String],
    messages: Int = 0,
    bytes: Int = 0,
    disturbed: Int = 0,
    duration: Int64,
    trace: [UInt8] = []
  ) {
    self.digests = digests
    self.expected = expected
    self.isSynced = isSynced
    self.complaints = complaints
    self.messages = messages
    self.bytes = bytes
    self.disturbed = disturbed
    self.duration = duration
    self.trace = trace
  }

  /// Whether all peers reached the recorded board without violations.
  public var isGood: Bool { isSynced && complaints.isEmpty && digests.allSatisfy { $0.digest == expected } }

  /// Descriptions of all problems; empty if the replay succeeded.
  public var faults: [String] {
    var faults = complaints
    if !isSynced { faults.append("some peers still lack changes, although the last change was long ago") }
    for (peer, digest) in digests where digest != expected {
      faults.append(
        "\(peer)'s board has the digest \(digest.hex.prefix(16)) at the end, not \(expected.hex.prefix(16))"
      )
    }
    return faults
  }
}

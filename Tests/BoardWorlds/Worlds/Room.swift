import PeerCore
import PeerTestKit
import Whiteboard
import WhiteboardSync

/// Many replicas that count their messages, with a link without delay between every two replicas.
///
/// Because a relay forwards a message to all members, ``Count/said`` counts the message once, and ``Count/heard``
/// counts each recipient.
public final class Room {
  /// The number of messages of one kind, and of their recipients.
  public struct Count: Hashable, Sendable {
    /// The number of sent messages or datagrams.
    public var said = 0
    /// The number of sent bytes.
    public var bytesSaid = 0
    /// The number of received messages or datagrams.
    public var heard = 0
    /// The number of received bytes.
    public var bytesHeard = 0

    mutating func add(_ bytes: Int, to listeners: Int) {
      said += 1
      bytesSaid += bytes
      heard += listeners
      bytesHeard += bytes * listeners
    }
  }

  /// The counted kinds of messages.
  public enum Kind: Int, CaseIterable, Sendable {
    case batch = 0x01
    case request, nothingLacking, report
    case author = 0x07
    case head, profile
    /// Datagrams of presence.
    case presence = 0x100
    /// Answers to requests.
    case answer
  }

  private struct Packet {
    let from: Int
    let to: Int
    let bytes: [UInt8]
    let isReliable: Bool
  }

  package let replicas: [Replica]
  /// The counts since the last ``takeCounts()``.
  private var counts: [Kind: Count] = [:]
  private let numbers: [MemberID: Int]
  private var packets: [Packet] = []
  private var uptime: UInt64 = 1_000_000

  /// Creates a room of replicas that are not connected yet.
  public init(_ count: Int) {
    let now = Self.moment(uptime)
    replicas = (0..<count).map { number in
      Replica(
        author: Author(
          board: ReplicaWorld.board,
          key: SimulatedKey(UInt64(number)),
          random: SeededGenerator(seed: UInt64(number))
        ),
        now: now,
        localVerifier: LocalVerifier(SimulatedVerifier())
      )
    }
    numbers = Dictionary(uniqueKeysWithValues: replicas.enumerated().map { ($1.board.member, $0) })
  }

  private static func moment(_ uptime: UInt64) -> Moment { Moment(wall: 1_700_000_000_000 + uptime, uptime: uptime) }

  /// The current reading of all clocks.
  package var now: Moment { Self.moment(uptime) }

  /// Connects all replicas.
  public func joinAll() {
    for one in replicas.indices {
      for other in replicas.indices where other != one {
        carryOut(replicas[one].peerJoined(replicas[other].board.member, now: now), one)
      }
    }
    deliver()
  }

  /// Disconnects a replica.
  package func leave(_ number: Int) {
    for other in replicas.indices where other != number {
      carryOut(replicas[other].peerLeft(replicas[number].board.member, now: now), other)
    }
    deliver()
  }

  /// Makes a small edit by a replica.
  public func write(_ number: Int) { write(number, { _ in true }) }

  private func write(_ number: Int, _ hears: (Int) -> Bool) {
    // The board cannot be full after a few minutes of small edits.
    let change = try? replicas[number].change(now: now) { (board) throws(BoardError) in
      try board.createText("x", at: Point(x: Double(number), y: 0))
    }
    carryOut(change?.actions ?? [], number)
    packets.removeAll { !hears($0.to) }
    deliver()
  }

  /// Makes a small edit by a replica, which only some others receive.
  package func write(_ number: Int, heardBy listeners: Range<Int>) { write(number, listeners.contains(_:)) }

  /// Advances the time.
  public func pass(_ milliseconds: UInt64) {
    let end = uptime + milliseconds
    while uptime < end {
      let due = replicas.compactMap { $0.nextDeadline }.min() ?? end
      uptime = min(max(due, uptime + 1), end)
      for number in replicas.indices where replicas[number].nextDeadline.map({ $0 <= uptime }) ?? false {
        carryOut(replicas[number].tick(now: now), number)
      }
      deliver()
    }
  }

  /// Whether every replica reports that it is synced.
  public var isSynced: Bool { replicas.allSatisfy { $0.isSynced(now: now) } }

  /// Returns and resets the counts.
  public func takeCounts() -> [Kind: Count] {
    defer { counts = [:] }
    return counts
  }

  private func carryOut(_ actions: [ReplicaAction], _ number: Int) {
    for action in actions {
      switch action {
      case .send(let bytes, let members):
        guard let kind = bytes.first.flatMap({ Kind(rawValue: Int($0)) }) else { continue }
        counts[kind, default: Count()].add(bytes.count, to: members.count)
        post(bytes, number, members, isReliable: true)
      case .sendDatagram(let bytes, let members):
        counts[.presence, default: Count()].add(bytes.count, to: members.count)
        post(bytes, number, members, isReliable: false)
      case .sendAnswer(let answer, let member):
        guard let (bytes, name) = answer.encoded() else { continue }
        counts[.answer, default: Count()].add(bytes.count, to: 1)
        guard let to = numbers[member], let request = name.request else { continue }
        carryOut(replicas[number].answerSent(request: request, to: member, now: now), number)
        let received = replicas[to].receivedAnswer(
          bytes,
          request: request,
          from: replicas[number].board.member,
          now: now
        )
        carryOut(received, to)
      default: break
      }
    }
  }

  private func post(_ bytes: [UInt8], _ from: Int, _ members: [MemberID], isReliable: Bool) {
    for to in members.compactMap({ numbers[$0] }) {
      packets.append(Packet(from: from, to: to, bytes: bytes, isReliable: isReliable))
    }
  }

  private func deliver() {
    while !packets.isEmpty {
      let arriving = packets
      packets = []
      for packet in arriving {
        let member = replicas[packet.from].board.member
        let actions =
          packet.isReliable
          ? replicas[packet.to].received(packet.bytes, from: member, now: now)
          : replicas[packet.to].receivedDatagram(packet.bytes, from: member, now: now)
        carryOut(actions, packet.to)
      }
    }
  }
}

extension Room {
  /// Returns lines of text with the messages of a room of `count` replicas in some minutes.
  public static func describe(_ count: Int) -> String {
    let room = Room(count)
    var lines: [String] = []
    func tell(_ what: String) {
      lines.append("\(what):")
      let counts = room.takeCounts()
      for kind in Kind.allCases {
        guard let count = counts[kind] else { continue }
        lines.append(
          "  \(kind): said \(count.said) (\(count.bytesSaid) bytes), "
            + "heard \(count.heard) (\(count.bytesHeard) bytes)"
        )
      }
    }
    room.joinAll()
    room.pass(30_000)
    tell("\(count) join each other, and 30 s after")
    room.pass(60_000)
    tell("60 s in which nothing happens")
    for _ in 0..<50 {
      room.write(0)
      room.pass(200)
    }
    tell("10 s in which one writes 5 times a second")
    room.pass(20_000)
    tell("20 s after")
    for _ in 0..<10 {
      for number in room.replicas.indices { room.write(number) }
      room.pass(200)
    }
    tell("2 s in which everyone writes 5 times a second")
    room.pass(20_000)
    tell("20 s after\(room.isSynced ? "" : ", and not synced")")
    return lines.joined(separator: "\n")
  }
}

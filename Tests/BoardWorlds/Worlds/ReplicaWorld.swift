import PeerCore
import PeerTestKit
import Whiteboard
import WhiteboardSync

/// A world of several replicas, their links, and time, determined by one seed.
///
/// A link delivers in order until it is cut. Messages on different links overtake each other, datagrams are lost,
/// answers fail, and programs crash and restart from their stored changes or from a backup.
public final class ReplicaWorld {
  /// The probabilities of faults.
  package struct Weather {
    /// The percentage of answers that fail.
    package var failures = 10
    /// The percentage of datagrams that are lost.
    package var loss = 30
    /// The percentage of steps in which a link is cut.
    package var cuts = 3
    /// The percentage of steps in which a link is restored.
    package var mends = 8
    /// The number of steps in a thousand in which a program crashes and restarts.
    package var crashes = 4
    /// The percentage of crashes that lose all stored changes.
    package var losses = 30
    /// The maximum difference of wall clocks in milliseconds.
    package var skew: UInt64 = 3_600_000
    /// The number of steps in a thousand in which a malicious member joins.
    package var lies = 0
    /// The number of steps in a thousand in which the network is partitioned for some time.
    package var partitions = 0
    /// The number of steps in a thousand in which a new member joins.
    package var newcomers = 0
    /// Whether the first member owns the board.
    package var isOwned = false
    /// The number of steps in a thousand in which a member's rights are revoked, or granted again.
    package var revocations = 0
    /// The longest time in milliseconds that a node takes to sign or to verify; nil if replicas do so immediately.
    package var signingTime: UInt64?

    /// Creates fault probabilities for a test; by default, most faults do not occur.
    package init(
      failures: Int = 10,
      loss: Int = 30,
      cuts: Int = 3,
      mends: Int = 8,
      crashes: Int = 4,
      losses: Int = 30,
      skew: UInt64 = 3_600_000
    ) {
      self.failures = failures
      self.loss = loss
      self.cuts = cuts
      self.mends = mends
      self.crashes = crashes
      self.losses = losses
      self.skew = skew
    }
  }

  package final class Node {
    package let key: WorldKey
    package let member: MemberID
    /// The number of milliseconds by which the node's wall clock is ahead.
    package var skew: Int64
    package var replica: Replica
    package var view = View()
    package var stored: Set<AssetID> = []
    package var deliveries: [AssetID: Int] = [:]
    package var strokes: [ObjectID] = []
    package var document: [StoredChange] = []
    package var divergences = 0
    package var clockReports: [ClockReport] = []
    package var role: Role?
    var signatures: [SlowSignature] = []
    var storedAuthors: Set<Incarnation> = []

    init(key: WorldKey, skew: Int64, replica: Replica) {
      self.key = key
      member = MemberID(publicKey: key.publicKey)
      self.skew = skew
      self.replica = replica
    }
  }

  /// The view of a user, built only from the actions of the replica.
  package struct View {
    package var objects: [ObjectID: ObjectSnapshot] = [:]
    package var holders: [ObjectID: MemberID] = [:]
    package var chat: [ObjectID: ChatLine] = [:]
  }

  struct Packet {
    let at: UInt64
    let bytes: [UInt8]
    let kind: Kind

    enum Kind {
      case message
      case datagram
      case answer(ResourceDTO)
    }
  }

  struct Link: Hashable {
    let from: Int
    let to: Int
  }

  /// The board of worlds without an owner.
  public static let board: BoardID = {
    guard let board = BoardID(bytes: 1...16) else { preconditionFailure("16 bytes") }
    return board
  }()

  package var board: BoardID { owner?.board ?? Self.board }
  /// The owner of the board, which is the first member; nil for none.
  package let owner: BoardOwner?

  var random: SeededGenerator
  /// The generator for clocks; it is separate so that the other events of a seed do not change.
  var clocks: SeededGenerator
  /// The generator for the time that signatures take.
  var signing: SeededGenerator
  /// The number of milliseconds since the beginning.
  package var uptime: UInt64 = 1_000_000
  package internal(set) var nodes: [Node] = []
  package internal(set) var violations: [ReplicaError] = []
  package internal(set) var delivered = 0
  package internal(set) var crashes = 0
  package internal(set) var cuts = 0
  /// The number of restarts from stored changes.
  package internal(set) var restores = 0
  var connected: Set<Link> = []
  var packets: [Link: [Packet]] = [:]
  let weather: Weather
  /// Whether signatures are real and not simulated; true in one of 64 worlds.
  let isReal: Bool

  /// The failed checks so far.
  package internal(set) var complaints: [String] = []
  /// The violations by malicious members, which are not nodes of the world.
  var caught: [ReplicaError] = []
  /// Whether rights were revoked. If so, writes may be lost, and boards may differ for some time.
  package internal(set) var isRevoked = false
  /// Whether a malicious member used a dot twice, or claimed dots of others.
  ///
  /// If so, writes may be lost.
  var isBetrayed = false
  var oracle = Oracle()
  var known: [Dot: [UInt8]] = [:]
  let topology: Topology
  /// The nodes on one side of the partition, and the time of its end.
  var partition: (members: Set<Int>, until: UInt64)?
  let seed: UInt64
  /// The number of events so far.
  package internal(set) var tally = BoardWorld.Tally()

  /// The allowed links.
  package enum Topology: Int, Sendable {
    /// Every pair of nodes.
    case mesh
    /// Each node and the node after it.
    case line
    /// The first node and every other node.
    case star
  }

  /// Creates a world of members without links.
  package init(
    seed: UInt64,
    nodes count: Int,
    weather: Weather = Weather(),
    topology: Topology = .mesh,
    hasRealKeys: Bool = true
  ) {
    random = SeededGenerator(seed: seed)
    clocks = SeededGenerator(seed: ~seed)
    signing = SeededGenerator(seed: seed ^ 0x5169)
    self.seed = seed
    self.weather = weather
    self.topology = topology
    isReal = hasRealKeys && seed % 64 == 63
    let first = WorldKey(0, isReal: isReal)
    owner = weather.isOwned ? BoardOwner(salt: [UInt8](repeating: 7, count: 8), key: first.publicKey) : nil
    for number in 0..<count { addNode(number) }
  }

  func addNode(_ number: Int) {
    let key = WorldKey(UInt64(number), isReal: isReal)
    let skew = newSkew(using: &random)
    let now = Moment(wall: wall(skew), uptime: uptime)
    nodes.append(Node(key: key, skew: skew, replica: replica(key, now)))
    // A new replica may request a signature.
    carryOut(nodes[number].replica.tick(now: now), number)
  }

  /// Returns a random clock error: ahead or behind, and none for one clock in four.
  func newSkew(using generator: inout SeededGenerator) -> Int64 {
    let drawn = Int64(UInt64.random(in: 0...weather.skew, using: &generator))
    return drawn % 4 == 0 ? 0 : drawn % 2 == 0 ? drawn : -drawn
  }

  private func wall(_ skew: Int64) -> UInt64 { UInt64(1_700_000_000_000 + skew + Int64(uptime)) }

  package func replica(_ key: WorldKey, _ now: Moment) -> Replica {
    let grant = owner.flatMap { $0.key == key.publicKey ? Grant(owner: $0) : nil }
    let seed = random.next()
    let random = SeededGenerator(seed: seed)
    let replica =
      if weather.signingTime != nil {
        Replica(
          author: Author(board: board, publicKey: key.publicKey, grant: grant, random: random),
          now: now,
          localVerifier: nil
        )
      } else {
        Replica(
          author: Author(board: board, key: key, grant: grant, random: random),
          now: now,
          localVerifier: LocalVerifier(verifier)
        )
      }
    // Some replicas report the changes of others in small parts.
    if seed % 3 == 0 { replica.reportsAtOnce = 1 + Int(seed / 3 % 3) }
    return replica
  }

  var verifier: WorldVerifier { WorldVerifier(isReal: isReal) }

  /// Returns the readings of both clocks of a node.
  package func now(_ number: Int) -> Moment { Moment(wall: wall(nodes[number].skew), uptime: uptime) }

  package func index(of member: MemberID) -> Int? { nodes.firstIndex { $0.member == member } }

  /// Whether there is a link between two nodes.
  package func isConnected(_ one: Int, _ other: Int) -> Bool { connected.contains(Link(from: one, to: other)) }
}

import PeerTestKit
import Whiteboard
import WhiteboardSync

/// Some replicas, the links between them, and time: one seed is one world.
///
/// What a link brings it brings in order, until it is cut; links overtake each other, datagrams are lost,
/// answers fail, programs die and come back from what they kept, or from a backup of it.
public final class ReplicaWorld {
  /// What may happen in it.
  package struct Weather {
    /// Percent of answers that fail on their way.
    package var failures = 10
    /// Percent of datagrams that are lost.
    package var loss = 30
    /// Percent of steps in which a link is cut.
    package var cuts = 3
    /// Percent of steps in which a link is mended.
    package var mends = 8
    /// Per thousand steps in which a program dies and starts anew.
    package var crashes = 4
    /// Percent of crashes after which nothing is left of what was kept.
    package var losses = 30
    /// The milliseconds by which wall clocks differ at most.
    package var skew: UInt64 = 3_600_000
    /// Per thousand steps in which somebody joins who lies, or tells two stories.
    package var lies = 0
    /// Per thousand steps in which the room falls apart for a while.
    package var partitions = 0
    /// Per thousand steps in which one more member comes.
    package var newcomers = 0
    /// Whether the first member owns the board.
    package var isOwned = false
    /// Per thousand steps in which somebody's rights are taken back, or given again.
    package var revocations = 0

    /// The weather of a test, calm but for what is said.
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
    /// Who it is.
    package let key: any AuthorKey
    /// Who it is to the others.
    package let member: MemberID
    /// By how many milliseconds its wall clock runs ahead.
    package var skew: Int64
    /// The program.
    package var replica: Replica
    /// What its person sees.
    package var view = View()
    /// The assets that it has.
    package var stored: Set<AssetID> = []
    /// How often each asset was brought.
    package var deliveries: [AssetID: Int] = [:]
    /// Its strokes that go on.
    package var strokes: [ObjectID] = []
    /// What a document would hold.
    package var document: [StoredChange] = []
    /// How often it was told that it differs from another.
    package var divergences = 0
    /// The clock reports that it received.
    package var clockReports: [ClockReport] = []
    /// What it was last told that it may do.
    package var role: Role?

    init(key: any AuthorKey, skew: Int64, replica: Replica) {
      self.key = key
      member = MemberID(publicKey: key.publicKey)
      self.skew = skew
      self.replica = replica
    }
  }

  /// What a person sees who knows nothing but the actions.
  package struct View {
    /// The objects.
    package var objects: [ObjectID: ObjectSnapshot] = [:]
    /// Who holds which.
    package var holders: [ObjectID: MemberID] = [:]
    /// The chat.
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

  /// The board that everyone here is on, where nobody owns it.
  public static let board: BoardID = {
    guard let board = BoardID(1...16) else { preconditionFailure("16 bytes") }
    return board
  }()

  /// The board that everyone here is on.
  package var board: BoardID { owner?.board ?? Self.board }
  /// Whose it is: the first member's.
  package let owner: BoardOwner?

  var random: SeededGenerator
  /// The generator for clocks; it is separate so that the other events of a seed do not change.
  var clocks: SeededGenerator
  /// Milliseconds since the beginning.
  package var uptime: UInt64 = 1_000_000
  /// The members.
  package internal(set) var nodes: [Node] = []
  /// What members were caught at.
  package internal(set) var violations: [ReplicaError] = []
  /// How much arrived.
  package internal(set) var delivered = 0
  /// How often a program died.
  package internal(set) var crashes = 0
  /// How often a link was cut.
  package internal(set) var cuts = 0
  /// How often a program came back with what it had kept.
  package internal(set) var restores = 0
  var connected: Set<Link> = []
  var packets: [Link: [Packet]] = [:]
  let weather: Weather
  /// Whether signatures are real ones: one world in 64.
  let isReal: Bool

  /// What should not have been seen.
  package internal(set) var complaints: [String] = []
  /// What members who are none of the nodes were caught at.
  var caught: [ReplicaError] = []
  /// Whether somebody's rights were taken back: then writes are lost, and boards differ for a while.
  package internal(set) var isRevoked = false
  /// Whether somebody told two stories, or claimed what others were to write: then writes are lost.
  var isBetrayed = false
  var oracle = Oracle()
  var known: [Dot: [UInt8]] = [:]
  let topology: Topology
  /// Those who hear only each other, and until when.
  var partition: (members: Set<Int>, until: UInt64)?
  let seed: UInt64
  /// What happened so far.
  package internal(set) var tally = BoardWorld.Tally()

  /// Who is connected with whom.
  package enum Topology: Int, Sendable {
    /// Everyone with everyone.
    case mesh
    /// Each with the next.
    case line
    /// All with the first.
    case star
  }

  /// A world of some members who are not connected yet.
  package init(
    seed: UInt64,
    nodes count: Int,
    weather: Weather = Weather(),
    topology: Topology = .mesh
  ) {
    random = SeededGenerator(seed: seed)
    clocks = SeededGenerator(seed: ~seed)
    self.seed = seed
    self.weather = weather
    self.topology = topology
    isReal = seed % 64 == 63
    let first: any AuthorKey = isReal ? RealKey(0) : SimulatedKey(0)
    owner =
      weather.isOwned
      ? BoardOwner(salt: [UInt8](repeating: 7, count: 8), key: first.publicKey) : nil
    for number in 0..<count { addNode(number) }
  }

  func addNode(_ number: Int) {
    let key: any AuthorKey =
      isReal ? RealKey(UInt8(number)) : SimulatedKey(UInt64(number))
    let skew = newSkew(using: &random)
    let now = Moment(wall: wall(skew), uptime: uptime)
    nodes.append(Node(key: key, skew: skew, replica: replica(key, now)))
  }

  /// Returns a random clock error: ahead or behind, and none for one clock in four.
  func newSkew(using generator: inout SeededGenerator) -> Int64 {
    let drawn = Int64(UInt64.random(in: 0...weather.skew, using: &generator))
    return drawn % 4 == 0 ? 0 : drawn % 2 == 0 ? drawn : -drawn
  }

  private func wall(_ skew: Int64) -> UInt64 {
    UInt64(1_700_000_000_000 + skew + Int64(uptime))
  }

  /// A replica under a new incarnation, with nothing on its board.
  package func replica(_ key: any AuthorKey, _ now: Moment) -> Replica {
    Replica(
      author: Author(
        board: board,
        key: key,
        grant: owner.flatMap { $0.key == key.publicKey ? Grant(owner: $0) : nil },
        random: SeededGenerator(seed: random.next())
      ),
      now: now,
      verifier: isReal ? P256SignatureVerifier() : SimulatedVerifier()
    )
  }

  /// Both clocks of a node.
  package func now(_ number: Int) -> Moment {
    Moment(wall: wall(nodes[number].skew), uptime: uptime)
  }

  /// The node that a member is.
  package func index(of member: MemberID) -> Int? { nodes.firstIndex { $0.member == member } }

  /// Whether there is a link between two nodes.
  package func isConnected(_ one: Int, _ other: Int) -> Bool {
    connected.contains(Link(from: one, to: other))
  }
}

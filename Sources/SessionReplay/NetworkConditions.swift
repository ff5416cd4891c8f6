/// The faults of a simulated network and its peers; implements the syntax of `--net`.
public struct NetworkConditions: Hashable, Sendable {
  /// The reason why a text is not valid network conditions.
  public struct ParseError: Error, Hashable, Sendable {
    /// The sentence.
    public let message: String
  }

  /// Some are cut off from the others for a time.
  public struct Partition: Hashable, Sendable {
    /// The groups; who is in none is in one of their own kind, with all such others.
    public let groups: [[String]]
    /// From when to when, in milliseconds from the beginning.
    public let time: Range<Int64>
  }

  /// A program is killed, and starts again.
  public struct Kill: Hashable, Sendable {
    /// Whose.
    public let peer: String
    /// From when to when, in milliseconds from the beginning.
    public let time: Range<Int64>
  }

  /// How many of a hundred packets are lost: what is reliable comes later, the rest not at all.
  public var loss = 0.0
  /// How many of a hundred unreliable packets come twice.
  public var duplicates = 0.0
  /// How many of a hundred unreliable packets are overtaken.
  public var reorder = 0.0
  /// How long a packet takes, in milliseconds.
  public var delay = 1.0
  /// By how much that varies, in milliseconds, to either side.
  public var jitter = 0.0
  /// The partitions, with their times.
  public var partitions: [Partition] = []
  /// The kills, with their times.
  public var kills: [Kill] = []

  /// A peer whose answers take much longer than this counts as silent (LIV-2).
  private static let longestDelay = 2000.0

  /// A network that is as good as it can be.
  public init() {}

  /// What the words say: `loss=5%,delay=20ms±10,reorder=1%,duplicate=1%,partition=A|B@10s..25s,kill=B@30s..40s`.
  ///
  /// Peers are called by their letters. In a partition `A+B|C` puts A and B on one side; others are on a side of
  /// their own. Who is killed without a second time starts again after two seconds. `+-` stands for `±`.
  public init(_ words: String) throws(ParseError) {
    for word in words.filter({ $0 != " " }).split(separator: ",") {
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { throw ParseError(message: "'\(word)' is not KEY=VALUE") }
      let value = parts[1]
      switch parts[0] {
      case "loss": loss = try Self.percent(value)
      case "duplicate": duplicates = try Self.percent(value)
      case "reorder": reorder = try Self.percent(value)
      case "delay":
        let sides = value.replacing("+-", with: "±").split(separator: "±", maxSplits: 1)
        delay = try Self.milliseconds(sides.first.map(String.init) ?? "", unit: 1)
        jitter = sides.count > 1 ? try Self.milliseconds(String(sides[1]), unit: 1) : 0
        guard jitter <= delay else {
          throw ParseError(message: "'\(value)': it cannot vary by more than it is")
        }
        guard delay + jitter <= Self.longestDelay else {
          throw ParseError(
            message: "'\(value)': sessions work with up to \(Int(Self.longestDelay)) ms"
          )
        }
      case "partition":
        let (who, time) = try Self.timed(value)
        let groups = who.split(separator: "|").map { $0.split(separator: "+").map(String.init) }
        guard let until = time.until, groups.count > 1 else {
          throw ParseError(message: "'\(value)' is not like A|B@10s..25s")
        }
        partitions.append(Partition(groups: groups, time: time.from..<until))
      case "kill":
        let (who, time) = try Self.timed(value)
        let kill = Kill(peer: who, time: time.from..<(time.until ?? time.from + 2000))
        guard !kills.contains(where: { $0.peer == who && $0.time.overlaps(kill.time) }) else {
          throw ParseError(message: "'\(value)': \(who) is killed while it is down")
        }
        kills.append(kill)
      default:
        throw ParseError(
          message: "'\(parts[0])' is none of loss, delay, reorder, duplicate, partition and kill"
        )
      }
    }
  }

  private static func percent(_ value: String) throws(ParseError) -> Double {
    guard value.hasSuffix("%"), let number = Double(value.dropLast()), (0...95).contains(number)
    else { throw ParseError(message: "'\(value)' is not a part from 0% to 95%") }
    return number
  }

  /// A time in milliseconds; a number without a unit is of so many.
  private static func milliseconds(
    _ value: String,
    unit: Double
  ) throws(ParseError) -> Double {
    var (number, factor) = (Substring(value), unit)
    if value.hasSuffix("ms") {
      (number, factor) = (value.dropLast(2), 1)
    } else if value.hasSuffix("s") {
      (number, factor) = (value.dropLast(), 1000)
    }
    guard let time = Double(number), (0...1e9).contains(time * factor) else {
      throw ParseError(message: "'\(value)' is no time, such as 20ms or 10s")
    }
    return time * factor
  }

  private static func timed(
    _ value: String
  ) throws(ParseError) -> (who: String, time: (from: Int64, until: Int64?)) {
    let parts = value.split(separator: "@", maxSplits: 1).map(String.init)
    guard parts.count == 2, !parts[0].isEmpty else {
      throw ParseError(message: "'\(value)' needs a peer and a time, like B@30s")
    }
    guard let dots = parts[1].firstRange(of: "..") else {
      return (parts[0], (Int64(try milliseconds(parts[1], unit: 1000)), nil))
    }
    let from = Int64(try milliseconds(String(parts[1][..<dots.lowerBound]), unit: 1000))
    let until = Int64(try milliseconds(String(parts[1][dots.upperBound...]), unit: 1000))
    guard from < until else { throw ParseError(message: "'\(value)' ends before it begins") }
    return (parts[0], (from, until))
  }

  /// Returns a peer that the conditions name and that is not one of `peers`.
  public func stranger(among peers: some Sequence<String>) -> String? {
    let known = Set(peers)
    let named = partitions.flatMap { $0.groups.joined() } + kills.map(\.peer)
    return named.first { !known.contains($0) }
  }
}

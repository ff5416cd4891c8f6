/// The rules of a firewall. Jumps between chains are not followed, so the answers may be wrong.
struct FirewallRules: Equatable, Sendable {
  struct Rule: Equatable, Sendable {
    var accepts: Bool
    var transport: String?
    var ports: [ClosedRange<Int>]?
    /// Whether the rule has other conditions, such as a source or a state.
    var isNarrow: Bool
  }

  private enum Chain {
    case input, elsewhere, jumped
  }

  var acceptsByDefault = true
  var rules: [Rule] = []

  /// Returns whether the rules accept packets to a port. The first rule that applies to every packet to the port
  /// decides.
  func accepts(_ transport: String, _ port: Int) -> Bool {
    for rule in rules {
      guard rule.transport.map({ $0 == transport }) ?? true,
        rule.ports.map({ $0.contains { $0.contains(port) } }) ?? true
      else { continue }
      // A rule with other conditions that accepts this port was probably made for this port. Other rules with
      // conditions apply only to some packets.
      if rule.isNarrow, rule.ports == nil || !rule.accepts { continue }
      return rule.accepts
    }
    return acceptsByDefault
  }

  /// Rules of a chain that is reached by a jump come before all other rules.
  private mutating func add(_ rule: Rule, in chain: Chain) {
    switch chain {
    case .input: rules.append(rule)
    case .jumped where rule.accepts && rule.ports != nil: rules.insert(rule, at: 0)
    case .jumped, .elsewhere: break
    }
  }

  init(nftables text: String) {
    var chain = Chain.elsewhere
    for row in text.split(separator: "\n") {
      let words = row.split(whereSeparator: \.isWhitespace).map(String.init)
      switch words.first {
      case "table", "set", "map", "elements": chain = .elsewhere
      case "chain": chain = .jumped
      case "type":
        chain = words.contains("input") && words.contains("filter") ? .input : .elsewhere
        if chain == .input, row.contains("policy drop") { acceptsByDefault = false }
      default: if let rule = Self.nftables(words) { add(rule, in: chain) }
      }
    }
  }

  private static func nftables(_ words: [String]) -> Rule? {
    guard let end = words.firstIndex(where: { ["accept", "drop", "reject"].contains($0) }) else { return nil }
    var rule = Rule(accepts: words[end] == "accept", isNarrow: false)
    var rest = words[..<end]
    while let word = rest.popFirst() {
      switch word {
      case "counter": break
      case "packets", "bytes": _ = rest.popFirst()
      case "udp", "tcp":
        rule.transport = word
        if rest.first == "dport" {
          rest.removeFirst()
          rule.ports = ports(&rest)
        } else {
          rule.isNarrow = true
        }
      case "th":
        if rest.first == "dport" { rest.removeFirst() }
        rule.ports = ports(&rest)
      case "224.0.0.251", "ff02::fb", "multicast": (rule.transport, rule.ports) = ("udp", [5353...5353])
      default: rule.isNarrow = true
      }
    }
    return rule
  }

  /// Parses `26273`, `1000-2000` or `{ 1, 2-3 }`; the only known service name is `mdns`.
  private static func ports(_ rest: inout ArraySlice<String>) -> [ClosedRange<Int>] {
    var found: [ClosedRange<Int>] = []
    guard let first = rest.popFirst() else { return found }
    guard first == "{" else { return range(first, "-").map { [$0] } ?? found }
    while let word = rest.popFirst(), word != "}" {
      if let range = range(word.hasSuffix(",") ? String(word.dropLast()) : word, "-") { found.append(range) }
    }
    return found
  }

  private static func range(_ text: String, _ separator: Character) -> ClosedRange<Int>? {
    if text == "mdns" || text == "5353" { return 5353...5353 }
    let ends = text.split(separator: separator).compactMap { Int($0) }
    guard let low = ends.first, let high = ends.last, ends.count <= 2, low <= high else { return nil }
    return low...high
  }

  init(iptables text: String) {
    var isFilter = false
    for row in text.split(separator: "\n") {
      if row.hasPrefix("*") { isFilter = row == "*filter" }
      guard isFilter else { continue }
      if row.hasPrefix(":INPUT ") { acceptsByDefault = !row.hasPrefix(":INPUT DROP") }
      guard row.hasPrefix("-A "), let rule = Self.iptables(row) else { continue }
      switch row.split(separator: " ")[1] {
      case "INPUT": add(rule, in: .input)
      case "FORWARD", "OUTPUT": add(rule, in: .elsewhere)
      default: add(rule, in: .jumped)
      }
    }
  }

  private static func iptables(_ row: Substring) -> Rule? {
    var words = row.split(separator: " ").map(String.init)[...].dropFirst(2)
    var rule = Rule(accepts: false, isNarrow: false)
    var isTerminal = false
    while let word = words.popFirst() {
      let value = words.first
      switch word {
      case "-j":
        isTerminal = ["ACCEPT", "DROP", "REJECT"].contains(value ?? "")
        rule.accepts = value == "ACCEPT"
        words.removeAll()
      case "-p":
        rule.transport = value
        _ = words.popFirst()
      case "-m":
        // The word after `-m` is the name of a match. Its options are parsed separately.
        if !["udp", "tcp", "multiport"].contains(value ?? "") { rule.isNarrow = true }
        _ = words.popFirst()
      case "--dport", "--dports":
        rule.ports = (value ?? "").split(separator: ",").compactMap { range(String($0), ":") }
        _ = words.popFirst()
      default: rule.isNarrow = true
      }
    }
    return isTerminal ? rule : nil
  }
}

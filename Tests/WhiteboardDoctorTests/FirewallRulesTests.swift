import Testing

@testable import WhiteboardDoctor

@Suite struct FirewallRulesTests {
  private let closed = """
    table inet filter {
    \tset friends {
    \t\ttype ipv4_addr
    \t\telements = { 192.0.2.1 }
    \t}
    \tchain input {
    \t\ttype filter hook input priority filter; policy drop;
    \t\tiif "lo" accept
    \t\tct state established,related accept
    \t\ticmp type echo-request accept
    \t\ttcp dport 22 accept
    \t}
    \tchain output {
    \t\ttype filter hook output priority filter; policy accept;
    \t\tudp dport 5353 accept
    \t}
    }
    """

  @Test("a chain with the policy `drop` closes each port without a rule, whatever goes out") func closedByPolicy() {
    let rules = FirewallRules(nftables: closed)
    #expect(!rules.accepts("udp", 5353))
    #expect(!rules.accepts("tcp", 26_273))
    #expect(rules.accepts("tcp", 22))
    #expect(!rules.accepts("udp", 22))
  }

  @Test(
    "ports are opened alone, in a range, in a set, and by a chain that is jumped to",
    arguments: [
      "udp dport 5353 accept", "udp dport { 5000-6000, 1 } accept", "udp dport mdns accept",
      "meta l4proto { tcp, udp } th dport { 5353, 26273 } accept", "accept",
      "ip saddr 192.168.0.0/16 udp dport 5353 counter packets 7 bytes 9 accept", "pkttype multicast accept",
      "jump friends\n}\nchain friends {\nudp dport 5353 accept",
    ]
  ) func open(_ rule: String) {
    let text = "chain input {\ntype filter hook input priority 0; policy accept;\n\(rule)\ndrop\n}"
    let rules = FirewallRules(nftables: text)
    #expect(rules.accepts("udp", 5353))
  }

  @Test("a rule that drops a port closes it even if all others are open") func closedByRule() {
    let rules = FirewallRules(
      nftables: "chain input {\ntype filter hook input priority 0; policy accept;\nudp dport 5353 drop\n}"
    )
    #expect(!rules.accepts("udp", 5353))
    #expect(rules.accepts("udp", 26_273))
  }

  @Test("without rules, all ports are open") func none() {
    #expect(FirewallRules(nftables: "").accepts("udp", 5353))
    #expect(FirewallRules(iptables: "").accepts("udp", 5353))
  }

  @Test("the output of iptables-save is parsed") func iptables() {
    let text = """
      *nat
      :INPUT DROP [0:0]
      COMMIT
      *filter
      :INPUT DROP [0:0]
      :FORWARD DROP [0:0]
      -A INPUT -i lo -j ACCEPT
      -A INPUT -m state --state RELATED,ESTABLISHED -j ACCEPT
      -A INPUT -p udp -m udp --dport 5353 -j ACCEPT
      -A FORWARD -p tcp -m tcp --dport 26273 -j ACCEPT
      -A ufw-user-input -p udp -m multiport --dports 26000:27000,80 -j ACCEPT
      COMMIT
      """
    let rules = FirewallRules(iptables: text)
    #expect(rules.accepts("udp", 5353))
    #expect(rules.accepts("udp", 26_273))
    #expect(!rules.accepts("tcp", 26_273))
  }

  @Test("malformed rules cause no crash") func hostile() {
    for text in ["-A", "*filter\n-A \n-A INPUT -p\n-A INPUT --dport", "chain\ntype\nudp dport accept", "{ } drop drop"]
    {
      _ = FirewallRules(nftables: text)
      _ = FirewallRules(iptables: text)
    }
  }
}

extension Doctor {
  func firewallFindings() -> [Finding] {
    var findings: [Finding] = managers.map { manager in
      .note(
        "firewall",
        "The firewall \(manager.name) is on; only root can read its rules.",
        "Open the ports: \(manager.command)"
      )
    }
    if let rules = firewallRules() {
      let closed = [("udp", 5353), ("udp", port), ("tcp", port)].filter { !rules.accepts($0.0, $0.1) }
      guard !closed.isEmpty else {
        return [.fine("firewall", "The rules accept UDP 5353 and port \(port), as far as they can be read.")]
      }
      let names = closed.map { "\($0.0.uppercased()) \($0.1)" }.joined(separator: ", ")
      let effect =
        closed.contains { $0 == ("tcp", port) }
        ? " Others cannot connect to this computer; a member or relay that both sides reach must forward all data." : ""
      return [
        .fault(
          "firewall",
          "The firewall does not accept \(names).\(effect)",
          "Open the ports: \(managers.first?.command ?? nftCommand)"
        )
      ]
    }
    guard findings.isEmpty else { return findings }
    // If these kernel modules are not loaded, there are no firewall rules. Kernels with a built-in packet filter are
    // rare.
    let modules = reading.file("/proc/modules") ?? ""
    let names = modules.split(separator: "\n").map { $0.prefix { $0 != " " } }
    guard names.contains(where: { ["nf_tables", "ip_tables", "iptable_filter"].contains($0) }) else {
      return [.fine("firewall", "Neither ufw nor firewalld is on, and the kernel has loaded no packet filter.")]
    }
    findings.append(
      .note(
        "firewall",
        "Neither ufw nor firewalld is on; other rules were not read, because only root can read them.",
        "Check that the rules accept UDP 5353 and port \(port): sudo nft list ruleset"
      )
    )
    return findings
  }

  private var managers: [(name: String, command: String)] {
    var found: [(String, String)] = []
    let ufw = reading.file("/etc/ufw/ufw.conf") ?? ""
    if ufw.split(separator: "\n").contains("ENABLED=yes") {
      found.append(("ufw", "sudo ufw allow \(port) && sudo ufw allow 5353/udp"))
    }
    if reading.exists("/run/firewalld") {
      found.append(
        (
          "firewalld",
          "sudo firewall-cmd --permanent --add-service=mdns --add-port=\(port)/tcp "
            + "--add-port=\(port)/udp && sudo firewall-cmd --reload"
        )
      )
    }
    return found
  }

  private var nftCommand: String {
    "sudo nft insert rule inet filter input udp dport { 5353, \(port) } accept && "
      + "sudo nft insert rule inet filter input tcp dport \(port) accept"
  }

  /// Returns the rules of the firewall; nil if the rules cannot be read. The list of nftables can include the rules of
  /// iptables.
  private func firewallRules() -> FirewallRules? {
    if let text = reading.output(.nftables), !text.isEmpty { return FirewallRules(nftables: text) }
    if let text = reading.output(.iptables) { return FirewallRules(iptables: text) }
    return reading.output(.nftables).map { FirewallRules(nftables: $0) }
  }
}

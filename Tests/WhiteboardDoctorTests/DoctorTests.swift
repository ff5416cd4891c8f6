import Foundation
import PeerDiscovery
import Testing
import WhiteboardKit

@testable import WhiteboardDoctor

@Suite struct DoctorTests {
  private func doctor(files: [String: String] = [:], output: [SystemReading.Command: String] = [:]) -> Doctor {
    let reading = SystemReading(
      file: { files[$0] },
      exists: { files[$0] != nil },
      output: { output[$0] },
      environment: { _ in nil }
    )
    return Doctor(port: 26_273, dataDirectory: "/nowhere", reading: reading)
  }

  private let route = """
    Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT
    eth0\t000210AC\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
    """
  private let igmp = """
    Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter
    1\tlo        :     1      V3
    \t\t\t\tFB0000E0     1 0:00000000\t\t0
    2\teth0      :     1      V3
    \t\t\t\t010000E0     1 0:00000000\t\t0
    """

  @Test("a firewall whose rules cannot be read is not a fault; the command that shows them is named") func unreadable()
  {
    let findings = doctor(files: ["/proc/modules": "nf_tables 311296 0 - Live 0x0\n"]).firewallFindings()
    #expect(findings.map(\.verdict) == [.note])
    #expect(findings[0].advice?.hasSuffix("sudo nft list ruleset") == true)
    #expect(doctor(files: ["/proc/modules": "snd 1 0"]).firewallFindings()[0].verdict == .fine)
  }

  @Test("ufw and firewalld have advice with their own commands") func managers() {
    let ufw = doctor(files: ["/etc/ufw/ufw.conf": "# x\nENABLED=yes\n"]).firewallFindings()
    #expect(ufw.map(\.verdict) == [.note])
    #expect(ufw[0].advice == "Open the ports: sudo ufw allow 26273 && sudo ufw allow 5353/udp")
    #expect(doctor(files: ["/etc/ufw/ufw.conf": "ENABLED=no"]).firewallFindings()[0].verdict == .fine)
    let firewalld = doctor(files: ["/run/firewalld": ""]).firewallFindings()
    #expect(firewalld[0].advice?.contains("--add-service=mdns") == true)
  }

  @Test("readable rules show which ports are closed, and the advice names the firewall's own tool") func rules() {
    let drop = "chain input {\ntype filter hook input priority 0; policy drop;\n"
    let closed = doctor(
      files: ["/etc/ufw/ufw.conf": "ENABLED=yes"],
      output: [.nftables: drop + "udp dport 5353 accept\n}"]
    ).firewallFindings()
    #expect(closed.map(\.verdict) == [.fault])
    #expect(closed[0].seen.hasPrefix("The firewall does not accept UDP 26273, TCP 26273. "))
    #expect(closed[0].seen.contains("Others cannot connect to this computer"))
    #expect(closed[0].advice?.contains("ufw allow") == true)
    let open = doctor(output: [.nftables: "", .iptables: "*filter\n:INPUT ACCEPT [0:0]\n"])
    #expect(open.firewallFindings().map(\.verdict) == [.fine])
  }

  @Test("a clock that is years off is a fault, and an unsynchronized clock is a note") func clock() {
    let now = Date(timeIntervalSince1970: 1_800_000_000)
    #expect(doctor().clockFinding(now).verdict == .fine)
    #expect(doctor(output: [.clock: "yes\n"]).clockFinding(now).verdict == .fine)
    #expect(doctor(output: [.clock: "no\n"]).clockFinding(now).verdict == .note)
    #expect(doctor().clockFinding(Date(timeIntervalSince1970: 0)).verdict == .fault)
    #expect(doctor().clockFinding(Date(timeIntervalSince1970: 9_000_000_000)).verdict == .fault)
  }

  @Test("an interface without an mDNS listener is named, and a missing multicast route too") func multicast() {
    let idle = doctor(files: ["/proc/net/igmp": igmp]).routesFinding(["eth0"])
    #expect(idle.verdict == .note)
    #expect(idle.seen == "No program listens to mDNS on eth0.")
    let heard = ["/proc/net/igmp": igmp, "/proc/net/route": route]
    #expect(doctor(files: heard).routesFinding(["lo"]).advice?.hasSuffix("dev lo") == true)
    let byDefault = route + "\neth0\t00000000\t010210AC\t0003\t0\t0\t0\t00000000\t0\t0\t0"
    #expect(doctor(files: ["/proc/net/route": byDefault]).routesFinding(["eth0"]).verdict == .fine)
    #expect(doctor().routesFinding(["eth0"]).verdict == .fine)
  }

  @Test("truncated kernel files cause no crash") func short() {
    for text in ["", "x", "Idx\n1", "Idx\n\tFB0000E0", "Iface\neth0\tzz\t0\t0\t0\t0\t0\tzz"] {
      _ = MulticastReading.listening(igmp: text)
      #expect(!MulticastReading.hasRoute(text))
    }
  }

  @Test("the likely cause is the first fault, or else the first finding with advice") func cause() {
    let note = Doctor.Finding(check: "a", verdict: .note, seen: "A.", advice: "Do A.")
    let fault = Doctor.Finding(check: "b", verdict: .fault, seen: "B.", advice: "Do B.")
    #expect(doctor().report([note, fault]).likelyCause == "B. Do B.")
    #expect(!doctor().report([note, fault]).isHealthy)
    #expect(doctor().report([note]).likelyCause == "A. Do A.")
  }

  @Test("the advice for D-Bus and Avahi works without systemd, and if D-Bus is not installed") func services() {
    func advice(_ files: [String]) -> [String?] {
      let doctor = doctor(files: Dictionary(uniqueKeysWithValues: files.map { ($0, "") }))
      let avahi = Doctor.Finding.fault("daemon", "It is silent.", DiscoveryProblem.notAnswering.advice)
      return doctor.report([doctor.busFinding(ENOENT), avahi]).findings.map { $0.advice.map { String($0.prefix(50)) } }
    }
    let bus = "/usr/bin/dbus-daemon"
    #expect(advice([bus, "/run/systemd/system"])[0] == "Start D-Bus: systemctl start dbus")
    #expect(advice([bus]) == ["Start D-Bus: service dbus start", "Restart it (avahi-daemon --kill; avahi-daemon --da"])
    #expect(advice([])[0]?.hasPrefix("Install Avahi") == true)
    #expect(doctor().busFinding(nil).verdict == .fine)
  }

  @Test("a directory that accepts no data is a fault, and the reason is named") func disk() throws {
    let path = NSTemporaryDirectory() + "doctor-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    #expect(DiskProbe.writeFailure(in: path) == nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [])
    #expect(DiskProbe.writeFailure(in: "/proc") != nil)
    #expect(DiskSurvey.words(for: EROFS) == "the disk is read-only")
    #expect(DiskSurvey.words(for: ENOSPC) == "the disk is full")
  }
}

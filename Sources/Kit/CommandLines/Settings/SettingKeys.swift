import Logging
import PeerCore
import PeerSession
import Whiteboard
import WhiteboardKit

extension SettingKey<String> {
  package static let dataDirectory = dataDirectory(standard: "$XDG_DATA_HOME/whiteboard or ~/.local/share/whiteboard")

  package static func dataDirectory(standard: String) -> SettingKey {
    SettingKey(
      "data-dir",
      "The directory for keys, boards and files",
      allowed: "a directory; in the configuration file, its path must begin with / or ~/",
      standard: .words(standard),
      parse: nonempty
    )
  }

  package static let interface = SettingKey(
    "interface",
    "Use only this network interface",
    allowed: "the name of a network interface",
    standard: .words("all"),
    parse: nonempty
  )
  package static let personName = SettingKey(
    "name",
    "The display name",
    allowed: "a name",
    standard: .words("the last name set with `profile`, or USER"),
    flag: "--as",
    parse: name
  )

  @Sendable package static func name(_ text: String) throws(SettingFault) -> String {
    let name = PlainText.line(text)
    guard !UntrustedText(name).displayed.isEmpty else { throw SettingFault() }
    return name
  }

  @Sendable package static func nonempty(_ text: String) throws(SettingFault) -> String {
    guard !text.isEmpty else { throw SettingFault() }
    return text
  }
}

extension SettingKey<PeerAddress> {
  package static let listen = SettingKey(
    "listen",
    "The address to listen on; port 0 means any free port",
    allowed: "ADDR:PORT, like 0.0.0.0:26273 or [::]:0",
    standard: .words("every address on \(HostPort.defaultPort) or the next free port")
  ) { text throws(SettingFault) in try PeerAddress(listening: text) }
}

extension PeerAddress {
  package init(listening text: String) throws(SettingFault) {
    let isAnyPort = text.hasSuffix(":0")
    guard let address = PeerAddress(isAnyPort ? text.dropLast() + "1" : text) else { throw SettingFault() }
    self = address
    if isAnyPort { port = 0 }
  }
}

extension SettingKey<Int> {
  package static let webPort = SettingKey(
    "web-port",
    "The port of the page for browsers",
    allowed: "a number from 0 to 65535; 0 means any free port",
    standard: .words("26443 or the next free port")
  ) { text throws(SettingFault) in
    guard let port = Int(text), (0...65_535).contains(port) else { throw SettingFault() }
    return port
  }
}

extension SettingKey<String> {
  package static let webCertificate = SettingKey(
    "web-certificate",
    "The file with the certificate for browsers and the certificates that signed it; requires --web-key",
    allowed: "a PEM file",
    standard: .words("a certificate that this program creates; browsers warn about it"),
    parse: nonempty
  )
  package static let webKey = SettingKey(
    "web-key",
    "The file with the private key of --web-certificate",
    allowed: "a PEM file without a password",
    standard: .words("none"),
    parse: nonempty
  )
}

extension SettingKey<Bool> {
  package static let web = SettingKey(
    "web",
    "Let people join a hosted board from a browser, for example on a phone",
    standard: false
  )
  package static let webInvite = SettingKey(
    "web-invite",
    "Whether people in a browser can invite others from the menu of the page; on a board with an owner, they can do "
      + "so only if this is set",
    standard: true
  )
  package static let announce = SettingKey("announce", "Whether to announce the board on the network", standard: true)
  package static let membersAdmit = SettingKey(
    "members-admit",
    "Whether members of a hosted board can admit people too if `admit` is `ask`; on a board with an "
      + "owner, they can do so only if this is set",
    standard: true
  )
  package static let acceptFiles = SettingKey(
    "accept-files",
    "Accept files from members without asking",
    standard: false
  )
  package static let accessible = SettingKey(
    "accessible",
    "Use lines of text instead of a full screen, for example for screen readers",
    standard: false,
    otherwise: .init("ACCESSIBLE", means: "true")
  )
}

extension SettingKey<BoardConfiguration.FileSenders> {
  package static let filesFrom = SettingKey(
    "files-from",
    "The peers whose files may be accepted; files from other peers are refused without asking",
    standard: .value("anyone")
  )
}

extension SettingKey<String> {
  package static let saveFiles = SettingKey(
    "save-files",
    "The folder in which received files are saved under their own names",
    allowed: "a directory; in the configuration file, its path must begin with / or ~/",
    standard: .words("the directory inbox in the data directory, with transfer ids as file names"),
    parse: nonempty
  )
}

extension SettingKey<Int> {
  package static let inboxQuota = SettingKey(
    "inbox-quota",
    "The maximum size of the received files in the inbox; one member may use a quarter of it",
    allowed: "a size like 500M, 40G or 2T",
    standard: .value("8G")
  ) { text throws(SettingFault) in
    let units: [Character: Int] = ["M": 1 << 20, "G": 1 << 30, "T": 1 << 40]
    guard let last = text.last, let unit = units[last], let count = Int(text.dropLast()),
      (1...1_000_000).contains(count)
    else { throw SettingFault() }
    return count * unit
  }
}

extension SettingKey<BoardConfiguration.Admission> {
  package static let admission = SettingKey(
    "admit",
    "How peers are admitted",
    standard: .words(
      "the host's earlier choice for the board; without one, `ask` on a terminal and `code` otherwise; a member "
        + "admits peers as the host does, if the host allows it"
    )
  )
}

extension SettingKey<JoinCode> {
  package static let code = SettingKey(
    "code",
    "The join code (four words)",
    allowed: "four words like river-maple-candy-frost",
    standard: .words("the board's previous code, or a new one for a new board"),
    isSecret: true
  ) { text throws(SettingFault) in
    do throws(JoinCodeError) { return try JoinCode(words: text) } catch { throw SettingFault("\(error)") }
  }
}

extension SettingKey<BoardConfiguration.Carrier?> {
  package static let relay = SettingKey(
    "relay",
    "The relay that keeps a hosted board open after the host leaves",
    allowed: "HOST:PORT, PEER-ID@HOST:PORT, auto for a relay nearby, or none",
    standard: .value("none")
  ) { text throws(SettingFault) in
    if text == "none" { return nil }
    if text == "auto" { return .nearby }
    let parts = text.split(separator: "@", maxSplits: 1)
    guard let place = parts.last.flatMap({ HostPort($0) }) else { throw SettingFault() }
    guard parts.count == 2 else { return .at(place, nil) }
    guard let peer = PeerID(text: String(parts[0])) else {
      throw SettingFault("give the relay's peer id (52 characters) before the @")
    }
    return .at(place, peer)
  }
}

extension SettingKey<SessionTopology> {
  package static let topology = SettingKey(
    "topology",
    "How the members of a hosted board are connected: each with all others, or each only with the relay or, without a "
      + "relay, with the host",
    standard: .words("the board's earlier topology; `mesh` for a new board")
  )
}

extension SettingKey<Duration> {
  package static let lostAfter = SettingKey(
    "lost-after",
    "The number of seconds after which an unreachable peer is considered lost",
    allowed: "a number of seconds from 7 to 86400",
    standard: .value("60")
  ) { text throws(SettingFault) in
    guard let seconds = Double(text), (7...86_400).contains(seconds) else { throw SettingFault() }
    return .seconds(seconds)
  }
}

extension SettingKey<Int> {
  package static let maximumPeers = SettingKey(
    "max-peers",
    "The maximum number of peers on a board that this peer hosts, including itself",
    allowed: "a number from 2 to 256",
    standard: .words("16, or 128 with the topology star")
  ) { text throws(SettingFault) in
    guard let count = Int(text), (2...256).contains(count) else { throw SettingFault() }
    return count
  }
}

extension SettingKey<Logger.Level> {
  package static let logLevel = SettingKey(
    "log-level",
    "The lowest level of messages to log",
    standard: .value("warning")
  )
}

extension SettingEntry {
  package static let ofBoard: [SettingEntry] = [
    SettingKey.personName.entry, SettingKey.dataDirectory.entry, SettingKey.listen.entry, SettingKey.interface.entry,
    SettingKey.announce.entry, SettingKey.admission.entry, SettingKey.membersAdmit.entry, SettingKey.code.entry,
    SettingKey.relay.entry, SettingKey.topology.entry, SettingKey.maximumPeers.entry, SettingKey.lostAfter.entry,
    SettingKey.acceptFiles.entry, SettingKey.filesFrom.entry, SettingKey.saveFiles.entry, SettingKey.inboxQuota.entry,
    SettingKey.web.entry,
    SettingKey.webInvite.entry, SettingKey.webPort.entry, SettingKey.webCertificate.entry, SettingKey.webKey.entry,
    SettingKey.logLevel.entry, SettingKey.accessible.entry,
  ]
}
